"""Answers that are long for all sizes, and the assumption under which they are short."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import symbcast as sb
from symbcast.core.verdicts import Verdict, jointly_possible, verdict_of

SHORTER = re.compile(r"shorter if (.+?) may be assumed: (.+?) (?:together|condition) ")


def latents():
    """Return a program that joins cropped images of several batches."""
    env = sb.ShapeEnv()
    images = env.broadcast("batch, 4, H, W", "tb, 1, (CH + 1)//2, (CW + 1)//2", "eb, 1, 1, 1")
    env.equal("eb", images[0])
    env.broadcast(env.slice(images, 2, None, axes=2), "B, 1, max(A - 2, 0), 1")
    return env


def differences():
    return sb.trace(lambda a, b, c, d: a[2:] + b[3:] + c + d[1:], "A", "B", "C", "D")


@pytest.mark.parametrize("asked", [latents, differences])
def test_the_suggested_assumption_makes_a_long_condition_the_short_one(asked):
    answer = asked()
    where, short = SHORTER.search(" ".join(answer.explain().split())).groups()
    assert len(short) <= 160 < len(str(answer.condition))
    assert sb.Condition(answer).equivalent(short, assume=where)


@pytest.mark.parametrize("asked", [latents, differences])
def test_large_sizes_and_exceptions_are_together_the_whole_answer(asked):
    answer = asked()
    large, exceptions, unanalysed = answer.generic
    parts = [f"({part.where}) and ({part.condition})" for part in (large, *exceptions)]
    assert not unanalysed and answer.equivalent(" or ".join(f"({part})" for part in parts))
    wheres = [str(part.where) for part in (large, *exceptions)]
    assert all(sb.Condition(a).implies(f"not ({b})") for a, b in itertools.combinations(wheres, 2))


def test_a_verdict_of_parts_is_that_of_all_sizes():
    assert verdict_of(*jointly_possible([Verdict.ALWAYS, Verdict.ALWAYS])) is Verdict.ALWAYS
    assert verdict_of(*jointly_possible([Verdict.ALWAYS, Verdict.NEVER])) is Verdict.SOMETIMES
    assert verdict_of(*jointly_possible([Verdict.ALWAYS, Verdict.UNKNOWN])) is Verdict.UNKNOWN
    assert verdict_of(*jointly_possible([Verdict.SOMETIMES, Verdict.UNKNOWN])) is Verdict.SOMETIMES


def test_a_short_condition_has_no_suggestion():
    env = sb.ShapeEnv()
    env.broadcast("max(A - 2, 0)", "B")
    assert "shorter" not in env.explain()


def test_arrays_of_generic_sizes_work_where_the_short_condition_holds():
    answer = differences()
    where, short = SHORTER.search(" ".join(answer.explain().split())).groups()
    guard = sb.Condition(f"({where}) and ({short})").guard()
    for n in range(4, 9):
        sizes = {"A": n, "B": n + 1, "C": n - 2, "D": n - 1}
        a, b, c, d = (np.zeros(size) for size in sizes.values())
        assert guard(**sizes) == (n >= 4) and len(a[2:] + b[3:] + c + d[1:]) == n - 2
        assert not guard(**{**sizes, "C": n})
