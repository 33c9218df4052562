"""How the time of long programs grows with their length. Figures, not verdicts: nothing here fails on time.

python -m pytest tests/benchmarks/test_scaling.py --benchmark-only --benchmark-columns=median,rounds

The name of each group tells the exponent from the shortest to the longest; it is also in ``extra_info``.
"""

from __future__ import annotations

import math
import time

import pytest

import symbcast as sb

LENGTHS = [500, 1_000, 2_000, 4_000]
ROUNDS = 3


def join(count: int) -> sb.ShapeEnv:
    """Return a program in which one axis becomes the join of more and more sizes."""
    env = sb.ShapeEnv()
    output = env.broadcast("s0", "1")
    for n in range(1, count):
        output = env.broadcast(output, (f"s{n}",))
    return env


def equalities(count: int) -> sb.ShapeEnv:
    """Return a program in which each size equals the one before."""
    env = sb.ShapeEnv()
    for n in range(count):
        env.equal(f"n{n}", f"n{n + 1}")
    return env


def pairs(count: int) -> sb.ShapeEnv:
    """Return a program of operations over as many names, each on two neighbours."""
    env = sb.ShapeEnv()
    for n in range(count):
        env.broadcast(f"n{n}, 3", f"n{(n + 1) % count}, 1")
    return env


def nothing(count: int) -> int:
    return count


CASES = {
    "a join growing to n members": (nothing, join),
    "the verdict of a join of n members": (join, lambda env: env.verdict),
    "n equalities in a row": (nothing, equalities),
    "the verdict of n equalities in a row": (equalities, lambda env: env.verdict),
    "to_dict of n operations over n names": (pairs, lambda env: env.to_dict()),
    "to_dict of n equalities": (equalities, lambda env: env.to_dict()),
    "witness of n operations over n names": (pairs, lambda env: env.witness()),
    "guard of n operations over n names": (pairs, lambda env: env.guard()),
}


def seconds(case: str, count: int) -> float:
    """Return the CPU time of the best of some rounds; what is asked about is built anew each time."""
    build, ask = CASES[case]
    best = math.inf
    for _ in range(ROUNDS):
        subject = build(count)
        start = time.process_time()
        ask(subject)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("case", CASES)
def test_time_against_length(benchmark, case):
    build, ask = CASES[case]
    if not benchmark.enabled:
        assert benchmark(ask, build(50)) is not None
        return
    taken = [seconds(case, count) for count in LENGTHS]
    exponent = math.log(taken[-1] / taken[0]) / math.log(LENGTHS[-1] / LENGTHS[0])
    benchmark.group = f"{case}: exponent {exponent:.2f} from {LENGTHS[0]} to {LENGTHS[-1]}"
    benchmark.extra_info.update(exponent=exponent, seconds=dict(zip(map(str, LENGTHS), taken, strict=True)))
    benchmark.pedantic(ask, setup=lambda: ((build(LENGTHS[0]),), {}), rounds=ROUNDS)


def test_long_programs_are_answered_rightly():
    """What the figures above are about."""
    count = 40
    assert len(join(count).clauses) == 1
    witness = equalities(count).witness()
    assert witness == {f"n{n}": 1 for n in range(count + 1)}
    env = pairs(count)
    assert env.witness() == {f"n{n}": 1 for n in range(count)}
    guard = env.guard()
    assert guard(**{f"n{n}": 4 if n % 2 else 1 for n in range(count)})
    assert not guard(**{f"n{n}": 4 + n for n in range(count)})
