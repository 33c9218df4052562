"""The tables of the peers, printed at the end of the session."""

import pytest

from benchmarks.peers.table import Row, details, summary

_ROWS = pytest.StashKey[list[Row]]()


@pytest.fixture
def rows(request):
    """The rows of the table so far."""
    return request.config.stash.setdefault(_ROWS, [])


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
