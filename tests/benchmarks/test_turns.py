"""How long distinct questions take one after another, beside `numpy.broadcast_shapes` and peers, in one run.

python -m pytest tests/benchmarks/test_turns.py --benchmark-enable

prints a table: CPU time, and its ratio to NumPy's in the same rounds (medians). Nothing here fails on time.
"""

from __future__ import annotations

import pytest

import symbcast as sb
from benchmarks.measuring import beside_numpy
from benchmarks.peers import turns as peers
from benchmarks.questions import CASES as QUESTIONS
from benchmarks.turns import CASES, Case, chain, thousand_names, transformer


def measure(benchmark, ratios, name: str, contestant: str, case: Case) -> None:
    benchmark.group = name
    if benchmark.enabled:
        seconds, ratio = beside_numpy(case)
        benchmark.extra_info.update(seconds=seconds, ratio=ratio)
        ratios.append((name, contestant, seconds, ratio))
    assert benchmark(case.ask) is not None


@pytest.mark.parametrize("name", CASES | QUESTIONS)
def test_symbcast(benchmark, ratios, name):
    measure(benchmark, ratios, name, "symbcast", (CASES | QUESTIONS)[name])


@pytest.mark.parametrize("name", peers.CASES)
def test_peers(benchmark, ratios, name):
    if not benchmark.enabled:
        pytest.skip("others are asked with --benchmark-enable")
    question, contestant = name.split(", ", 1)
    try:
        case = peers.CASES[name]()
    except ImportError as error:
        pytest.skip(f"not installed: {error}")
    measure(benchmark, ratios, question, contestant, case)


def test_the_questions_are_answered():
    """What the figures above are about."""
    found = {name: case.ask() for name, case in CASES.items()}
    assert found["integers: verdict and shape"].verdict is sb.Verdict.ALWAYS
    assert found["a pair over new names, text: verdict"].verdict is sb.Verdict.SOMETIMES
    assert len(found["four operands of rank 16: shape"].shape) == 16
    assert [transformer(as_text).verdict for as_text in (False, True)] == [sb.Verdict.ALWAYS] * 2
    assert len(chain().clauses) <= 4
    assert thousand_names().witness() is not None
