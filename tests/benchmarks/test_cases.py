"""How long cases take, of one broadcast and of a program. Figures, not verdicts: nothing here fails on time.

python -m pytest tests/benchmarks/test_cases.py --benchmark-only --benchmark-columns=median,rounds
"""

from __future__ import annotations

import itertools
import random

import pytest

import symbcast as sb

NAMES = itertools.count()
OPERATIONS, SIZES, HINTS = 1000, 40, 10


def eight_names():
    number = next(NAMES)
    return [", ".join(f"{letter}{number}" for letter in letters) for letters in ("abcd", "efgh")]


def program():
    """Return a program of chained broadcasts, and sizes that are expected."""
    draw, env, shapes = random.Random(1), sb.ShapeEnv(), []
    names = [f"d{n}" for n in range(SIZES)]
    for number in range(OPERATIONS):
        if len(shapes) < 20 or draw.random() < 0.1:
            left = tuple(draw.choice(names) for _ in range(3))
            right = tuple(draw.choice([1, *names[:10]]) if draw.random() < 0.3 else d for d in left)
        else:
            left = draw.choice(shapes[-20:])
            right = tuple(d if draw.random() < 0.7 else 1 for d in left)
        shapes.append(env.broadcast(left, right, origin=f"op{number}"))
    expected = [draw.choice((2, 8, 128)) for _ in range(HINTS)]
    hints = [{n: size if draw.random() < 0.8 else 1 for n in env.names.values()} for size in expected]
    return env, hints


@pytest.mark.benchmark(group="cases of (a, b, c, d) and (e, f, g, h)")
class TestCall:
    def test_cases(self, benchmark):
        assert len(benchmark(lambda: sb.broadcast(*eight_names()).cases())) == 3**4

    def test_cases_with_all_that_they_say(self, benchmark):
        def ask():
            cases = sb.broadcast(*eight_names()).cases()
            return [(case.condition, case.shape, case.strides, case.witness()) for case in cases]

        assert len(benchmark(ask)) == 3**4


@pytest.mark.benchmark(group="ten sizes on one axis")
class TestManyOperands:
    def test_cases(self, benchmark):
        assert len(benchmark(lambda: sb.broadcast(*(f"{c}{next(NAMES)}" for c in "abcdefghij")).cases())) == 2**10 - 1

    def test_guards(self, benchmark):
        cases = sb.broadcast(*"abcdefghij").cases()
        assert len(benchmark(lambda: [str(case.condition) for case in cases])) == 2**10 - 1


@pytest.mark.benchmark(group="repairs and StableHLO")
class TestChanges:
    def test_repairs_of_six_operands(self, benchmark):
        shapes = ("N, 2*C, H", "C, H, 1", "H//2, W, N", "T, N + 1, C", "S, 3*T", "C, W + 1, H")
        assert benchmark.pedantic(lambda: sb.broadcast(*shapes).repairs(), rounds=5)

    def test_stablehlo_of_three_operands(self, benchmark):
        shapes = ("a, b, c, d", "e, f, g, h", "i, j, k, l")
        assert "dynamic_broadcast_in_dim" in benchmark(lambda: sb.broadcast(*shapes).to_stablehlo())


@pytest.mark.benchmark(group="10 hinted kernels of 1,000 operations over 40 sizes")
class TestProgram:
    def test_kernels(self, benchmark):
        env, hints = program()
        cases = benchmark.pedantic(lambda: env.cases(hints, limit=HINTS), rounds=3)
        assert sorted(hint for case in cases for hint in case.hints) == list(range(HINTS))

    def test_kernels_with_every_layout(self, benchmark):
        env, hints = program()
        layouts = benchmark.pedantic(lambda: [c.layouts for c in env.cases(hints, limit=HINTS)], rounds=3)
        assert {len(found) for found in layouts} == {OPERATIONS}
