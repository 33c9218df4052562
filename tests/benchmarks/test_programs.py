"""How long whole programs take: their operations, then the verdict, the minimal condition and the witness.

python -m pytest tests/benchmarks/test_programs.py --benchmark-enable --benchmark-columns=median,rounds

Figures, not verdicts: nothing here fails on time. The long ones run with ``--benchmark-enable`` alone.
"""

from __future__ import annotations

import pytest

import symbcast as sb
from benchmarks.workloads import BLOCK, add_all, add_blocks, add_dependent, add_layers, axis, chain

CHAINS = [1_000, 10_000, 100_000]
MIXED = {"layers": add_layers, "blocks": add_blocks, "dependent": add_dependent}
ROUNDS = 3


def answers(env):
    """Return the questions that are asked of a program one after another, each of which builds on those before it."""
    return {
        "verdict": lambda: env.verdict,
        "condition": lambda: env.condition,
        "printed": lambda: str(env.condition),
        "witness": env.witness,
    }


def measure(benchmark, what, build):
    """Time the operations, or one answer of a program made anew each time with the answers before it given."""

    def setup():
        env = build()
        for name, ask in answers(env).items():
            if name == what:
                return (ask,), {}
            ask()
        raise AssertionError(what)

    if what == "operations":
        return benchmark.pedantic(build, rounds=ROUNDS)
    return benchmark.pedantic(lambda ask: ask(), setup=setup, rounds=ROUNDS)


def only_small(benchmark, length, small):
    if not benchmark.enabled and length > small:
        pytest.skip("long programs run with --benchmark-enable")


asked = pytest.mark.parametrize("what", ["operations", "verdict", "condition", "printed", "witness"])


@asked
@pytest.mark.parametrize("length", CHAINS)
def test_chain_of_rank_4_over_8_symbols(benchmark, length, what):
    only_small(benchmark, length, 1_000)
    benchmark.group = f"chain of {length} at rank 4 over 8 symbols"
    shapes = chain(length + 1)
    found = measure(benchmark, what, lambda: add_all(shapes))
    if what == "printed":
        assert sorted(found.removeprefix("compatible(").removesuffix(")").split(", ")) == [f"s{n}" for n in range(8)]


@asked
def test_1000_symbols_on_one_axis(benchmark, what):
    benchmark.group = "1,000 symbols on one axis"
    shapes = axis(1_000)
    found = measure(benchmark, what, lambda: add_all(shapes))
    if what == "printed":
        assert found.startswith("compatible(")
        assert found.count("compatible") == 1
        assert found.count(",") == 999


@asked
@pytest.mark.parametrize("kind", MIXED)
def test_10000_mixed_operations(benchmark, kind, what):
    """Slices, concatenations, matmul equalities and broadcasts (`benchmarks.workloads`), in three sorts of programs."""
    length = 10_000 if benchmark.enabled else 100
    if kind == "dependent":
        length //= 10  # it is far from linear
    benchmark.group = f"{length} mixed operations: {kind}"
    count = length if kind == "dependent" else length // BLOCK
    found = measure(benchmark, what, lambda: MIXED[kind](count))
    if what == "verdict":
        assert found is sb.Verdict.SOMETIMES
