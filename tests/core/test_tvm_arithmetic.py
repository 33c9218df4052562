"""Questions of TVM's own tests of arithmetic, each with names for sizes, and for differences of sizes.

Recorded answers are held against Python at small values, and a part of them asked again. All of them are asked by
``python tests/core/test_tvm_arithmetic.py``.
"""

from __future__ import annotations

import csv
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import symbcast as sb

DATA = Path(__file__).parents[1] / "data" / "tvm_arithmetic.tsv"
NAME = re.compile(r"\b(?!(?:min|max|and|or|not)\b)[A-Za-z_]\w*\b")
UNDECIDED_AT_MOST = 10
POINTS = 300
TRIED = 20_000


class Question(NamedTuple):
    """Whether a relation holds wherever something is given, with the recorded answer: yes, no or undecided."""

    source: str
    given: str
    left: str
    relation: str
    right: str
    answer: str

    def ask(self) -> bool:
        """Return what symbcast answers."""
        if self.relation == "iff":
            beside = f"({self.given}) and " if self.given else ""
            return sb.Condition(f"{beside}({self.left})").equivalent(f"{beside}({self.right})")
        return sb.Condition(self.given or "0 == 0").implies(f"{self.left} {self.relation} {self.right}")

    def holds(self) -> Callable[[dict[str, int]], bool]:
        """Return the question in Python, at some values; where a given divides by 0, nothing is required."""
        relation = "==" if self.relation == "iff" else self.relation
        given = compile(self.given or "True", "given", "eval")
        asked = compile(f"({self.left}) {relation} ({self.right})", "asked", "eval")

        def at(values: dict[str, int]) -> bool:
            return not _value(given, values) or _value(asked, values)

        return at

    def names(self) -> list[str]:
        """Return the names, in order."""
        return sorted(set(NAME.findall(" ".join((self.given, self.left, self.right)))))


def _value(code: object, values: dict[str, int]) -> bool:
    try:
        return bool(eval(code, {"min": min, "max": max}, values))
    except ZeroDivisionError:
        return False


def signed(text: str) -> str:
    """Return a text with a difference of two sizes for each name."""
    return NAME.sub(lambda name: f"({name[0]}_p - {name[0]}_n)", text)


def questions() -> Iterator[Question]:
    """Yield the questions about sizes, and then the same about differences of sizes."""
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        yield Question(row["source"], row["given"], row["left"], row["relation"], row["right"], row["sizes"])
    for row in rows:
        texts = map(signed, (row["given"], row["left"]))
        yield Question(row["source"], *texts, row["relation"], signed(row["right"]), row["signed"])


QUESTIONS = list(questions())
SYMBOLIC = [q for q in QUESTIONS if re.search(r"(//|%) \(*[A-Za-z]", q.left) and q.answer != "undecided"]
ASKED = [*SYMBOLIC[::4], *QUESTIONS[:: len(QUESTIONS) // 40]]


def test_few_are_undecided():
    assert len(QUESTIONS) == 1230
    assert sum(q.answer == "undecided" for q in QUESTIONS) <= UNDECIDED_AT_MOST


def test_what_holds_does_at_small_values():
    rng = random.Random(1)
    for question in QUESTIONS:
        if question.answer == "yes":
            names, holds = question.names(), question.holds()
            for _ in range(POINTS // 10):
                values = {name: rng.randrange(rng.choice((4, 12, 70))) for name in names}
                assert holds(values), (question, values)


def test_what_does_not_hold_fails_somewhere():
    rng = random.Random(1)
    for question in QUESTIONS:
        if question.answer == "no":
            names, holds = question.names(), question.holds()
            points = ({n: rng.randrange(rng.choice((4, 12, 70, 5000))) for n in names} for _ in range(TRIED))
            assert not all(map(holds, points)), question


@pytest.mark.parametrize("question", ASKED, ids=lambda q: q.source)
def test_a_part_of_them_asked_again(question):
    assert question.answer == "undecided" or question.ask() is (question.answer == "yes")


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("x >= 1", "(x + y + z)//x == (y + z)//x + 1"),
        ("z >= 1", "(x*z + y)//z == x + y//z"),
        ("z >= 1", "(x*z + y) % z == y % z"),
        ("M >= 1", "(N*M + N + K)//(M + 1) == N + K//(M + 1)"),
        ("y >= 1", "(x - x % y) % y == 0"),
        ("x >= 1", "2*x*x*y//(4*x*x*x) == y//(2*x)"),
        ("a <= 7 and b <= 9", "a*b <= 63"),
        ("b >= 1", "(a//b)*b <= a"),
        ("b >= 1", "a % b < b"),
    ],
)
def test_symbolic_divisors_are_decided(given, asked):
    assert sb.Condition(given).implies(asked)


@pytest.mark.parametrize("text", ["(b*q)//b", "(b*q) % b", "(b*q + b)//b", "(b*q + r)//b", "(b*q + r) % b"])
def test_a_divisor_of_0_is_not_divided_out(text):
    assert not sb.Condition("b >= 0").implies(f"{text} == {text}")
    assert sb.Condition("b >= 1").implies(f"{text} == {text}")


if __name__ == "__main__":
    wrong = undecided = 0
    start = time.process_time()
    for asked_for in QUESTIONS:
        try:
            answer = "yes" if asked_for.ask() else "no"
        except sb.UndecidedError:
            answer = "undecided"
            undecided += 1
        if answer != asked_for.answer:
            wrong += 1
            print(answer, asked_for)
    print(f"{undecided} undecided, {wrong} other than recorded, {time.process_time() - start:.1f} s of CPU")
    sys.exit(wrong > 0)
