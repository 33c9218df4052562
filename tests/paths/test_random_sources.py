"""Random functions as source text, traced and compared with themselves at all sizes up to 3."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from paths.random_sources import KINDS, checked


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 10**6), st.sampled_from(list(KINDS)))
@example(2001, "plain")
def test_a_random_source_works_where_its_trace_says(seed, kind):
    text, report, found = checked(seed, sizes=range(4), kind=kind)
    assert not found.wrong, (text, report.reason)
