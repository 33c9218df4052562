"""The tables of the peers, printed at the end of the session."""

import pytest

from benchmarks.peers.table import Row, details, summary

_ROWS = pytest.StashKey[list[Row]]()
_RATIOS = pytest.StashKey[list[tuple[str, str, float, float]]]()
_SECONDS = pytest.StashKey[list[tuple[str, float]]]()


@pytest.fixture
def seconds(request):
    """The questions asked in processes of their own, with their CPU seconds, so far."""
    return request.config.stash.setdefault(_SECONDS, [])


@pytest.fixture
def rows(request):
    """The rows of the table so far."""
    return request.config.stash.setdefault(_ROWS, [])


@pytest.fixture
def ratios(request):
    """What was asked, of whom, its CPU seconds, and their ratio to NumPy's, so far."""
    return request.config.stash.setdefault(_RATIOS, [])


def ahead(ratios: list[tuple[str, str, float, float]]) -> list[str]:
    """Return, for each question that several were asked, who is fastest and by how much."""
    by_name: dict[str, list[tuple[float, str]]] = {}
    for name, contestant, _, ratio in ratios:
        by_name.setdefault(name, []).append((ratio, contestant))
    placed = {name: sorted(found) for name, found in by_name.items() if len(found) > 1}
    return [
        f"{name:46} ahead: {first[1]}, {second[0] / first[0]:.1f} times as fast as {second[1]}"
        for name, (first, second, *_) in placed.items()
    ]


def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash.get(_ROWS, [])
    if rows:
        ranks = {r.program: n for n, r in reversed(list(enumerate(rows)))}
        rows = sorted(rows, key=lambda r: ranks[r.program])
        terminalreporter.section("the same programs, answered by each")
        versions = {r.contestant: r.version for r in rows}
        terminalreporter.write_line(", ".join(f"{name} {version}" for name, version in versions.items()))
        terminalreporter.write_line(details(rows))
        terminalreporter.write_line("")
        terminalreporter.write_line(summary(rows))
    ratios = config.stash.get(_RATIOS, [])
    if ratios:
        terminalreporter.section("distinct questions in turn, beside numpy.broadcast_shapes")
        for name, contestant, seconds, ratio in sorted(ratios, key=lambda r: (r[0], r[1] != "symbcast")):
            terminalreporter.write_line(f"{name:46} {contestant:14} {seconds * 1e6:10.2f} µs {ratio:10.1f}x")
        for line in ahead(ratios):
            terminalreporter.write_line(line)
    for name, seconds in config.stash.get(_SECONDS, []):
        terminalreporter.write_line(f"{name:46} {seconds:8.3f} s of CPU time, in its own process")
