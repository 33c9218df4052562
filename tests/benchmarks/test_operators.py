"""How long an operation of a program of operators takes, beside `numpy.broadcast_shapes` and peers, in one run.

python -m pytest tests/benchmarks/test_operators.py --benchmark-enable

prints a table and who is ahead. The peers infer shapes alone; symbcast is also measured with its condition.
"""

from __future__ import annotations

import warnings

import pytest

import symbcast as sb
from benchmarks.operators import CASES, OPERATORS, program
from benchmarks.peers import operators as peers
from benchmarks.test_turns import measure


@pytest.mark.parametrize("name", CASES)
def test_symbcast(benchmark, ratios, name):
    measure(benchmark, ratios, name, "symbcast", CASES[name])


@pytest.mark.parametrize("peer", peers.PEERS)
@pytest.mark.parametrize("name", OPERATORS)
def test_peers(benchmark, ratios, name, peer):
    if not benchmark.enabled:
        pytest.skip("others are asked with --benchmark-enable")
    if (name, peer) in peers.REFUSED:
        pytest.skip("it gives up on this program")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measure(benchmark, ratios, f"program of {name}", peer, peers.case(name, peer))
    except ImportError as error:
        pytest.skip(f"not installed: {error}")


def test_the_programs_are_answered():
    """What the figures above are about."""
    for name, operator in OPERATORS.items():
        env = program(operator, are_new=False)()
        assert len(env.operations) == 100
        assert env.verdict is (sb.Verdict.SOMETIMES if name == "conv" else sb.Verdict.ALWAYS)
