"""The corpus of the ledger: public suites, held against integers and against what their authors expect."""

from __future__ import annotations

import random
import re

import pytest
from solver import corpus

import symbcast as sb

SUITES = corpus.suites()
NAME = re.compile(r"\b(?!(?:and|or|not)\b)[A-Za-z_]\w*\b")
POINTS = 50


def test_what_the_suites_expect_holds_at_small_sizes():
    """What is satisfiable may hold only at large sizes: there, points would prove nothing."""
    rng = random.Random(1)
    for row in SUITES:
        names = sorted(set(NAME.findall(row["condition"] + row["concluded"])))
        condition, concluded = (compile(row[side] or "False", side, "eval") for side in ("condition", "concluded"))
        for _ in range(0 if row["expected"] == "sat" else POINTS):
            sizes = {name: rng.randrange(rng.choice((3, 12, 40, 600))) for name in names}
            assert not eval(condition, {}, sizes) or eval(concluded, {}, sizes), (row, sizes)


HARD = ("test_symbolic_gcd_div", "regress1/nl/proj-issue231.smt2", "regress1/nl/rewriting-sums.smt2")
ASKED = [*SUITES[::14], *(row for row in SUITES if row["source"] in HARD)]
"""A part, and the questions about products that were once undecided."""


@pytest.mark.parametrize("row", ASKED, ids=lambda row: f"{row['suite']} {row['source']}")
def test_a_part_of_the_suites_is_answered_as_expected(row):
    condition = sb.Condition(row["condition"])
    if row["concluded"]:
        assert condition.implies(row["concluded"])
    else:
        assert (condition.verdict is not sb.Verdict.NEVER) == (row["expected"] == "sat")
        assert row["expected"] == "unsat" or eval(row["condition"], {}, condition.witness())


def test_questions_have_names_of_their_own():
    names = [question.name for question in corpus.questions()]
    assert len(set(names)) == len(names) > 1500
