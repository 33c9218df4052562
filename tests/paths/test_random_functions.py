"""Random functions traced, and held against NumPy at all sizes up to 3."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from paths.random_functions import checked


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
@example(2116)  # the product of two of NumPy's scalars, whose error is another than that of arrays without axes
def test_a_random_function_works_where_its_trace_says(seed):
    program, report, found = checked(seed, most=40)
    assert report.complete or "scalars" in report.reason, (program, report.reason)
    assert not found.wrong, program
