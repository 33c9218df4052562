"""Random functions as source text, traced and compared with themselves at all sizes up to 3."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from paths.random_sources import checked


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 10**6))
@example(2001)
def test_a_random_source_works_where_its_trace_says(seed):
    text, report, found = checked(seed, sizes=range(4))
    assert not found.wrong, (text, report.reason)
