"""The account of what is known: the verdict derives from it, and undecided questions are answered by points."""

from __future__ import annotations

import pytest

import symbcast as sb
from symbcast.core.account import Account, OpenPart
from symbcast.core.algebra.formulas import FALSE, TRUE
from symbcast.core.algebra.symbols import symbol
from symbcast.core.text import parse_formula

SOMETIMES, UNKNOWN, ALWAYS, NEVER = (sb.Verdict(v) for v in ("sometimes", "unknown", "always", "never"))
POINT, OTHER = {"N": 1}, {"N": 2}
_OPEN = (OpenPart("a node was not analysed"),)


@pytest.mark.parametrize(
    ("account", "verdict"),
    [
        (Account(TRUE, TRUE, (), (POINT,), (), True, False), ALWAYS),
        (Account(TRUE, TRUE, _OPEN, (POINT,), (), True, False), UNKNOWN),
        (Account(FALSE, TRUE, _OPEN, (POINT,), (OTHER,)), SOMETIMES),
        (Account(FALSE, TRUE, _OPEN, (POINT,)), UNKNOWN),
        (Account(FALSE, TRUE, _OPEN, (), (OTHER,)), UNKNOWN),
        (Account(FALSE, FALSE, _OPEN, can_work=False, can_fail=True), NEVER),
    ],
)
def test_only_proofs_and_points_decide(account, verdict):
    assert account.verdict is verdict


def test_an_account_decides_what_is_proved_and_its_points():
    size = symbol("N")
    names = {size: "N"}
    known = Account(parse_formula("N >= 8"), parse_formula("N >= 3"), _OPEN, ({"N": 4},), ({"N": 5},))
    assert [known.at({size: n}, names) for n in (2, 3, 4, 5, 8)] == [False, None, True, False, True]


@pytest.mark.parametrize("budget", [1e-9, None])
def test_a_program_with_a_point_of_each_kind_is_sometimes(budget):
    env = sb.ShapeEnv(budget=budget)
    env.broadcast("A*B, B", "C, D//A")
    env.require("A*B*C*D >= 2*A*D - B")
    assert env.verdict is SOMETIMES
    guard = env.guard()
    assert guard(env.witness())
    assert not guard(env.counterexample())
