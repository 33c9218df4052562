"""Programs of operators: one operator over and over, on the same names or on new ones each time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import symbcast as sb
from benchmarks.turns import Case

OPERATIONS = 100
"""Operations of one program."""
_numbers = itertools.count()


class Operator(NamedTuple):
    """Operands over the names b, t, k and s, and integers; and how `symbcast.ShapeEnv` is given the operator."""

    operands: Sequence[str]
    add: Callable[[sb.ShapeEnv, Sequence[str]], object]


OPERATORS = {
    "matmul": Operator(("b, t, k", "k, s"), lambda env, x: env.matmul(*x)),
    "einsum": Operator(("b, t, k", "b, k, s"), lambda env, x: env.einsum("bij,bjk->bik", *x)),
    "transpose": Operator(("b, t, k",), lambda env, x: env.transpose(*x, (0, 2, 1))),
    "reduce": Operator(("b, t, k",), lambda env, x: env.reduce(*x, axes=(1,))),
    "concat": Operator(("b, t, k", "b, s, k"), lambda env, x: env.concat(x, axis=1)),
    "reshape": Operator(("b, t, k", "b*t, k"), lambda env, x: env.reshape(*x)),
    "conv": Operator(("b, 3, t, k", "8, 3, 3, 3"), lambda env, x: env.conv(*x)),
}


def new_names() -> dict[str, str]:
    """Return names that no program has had, for the letters of operands."""
    number = next(_numbers)
    return {letter: f"{letter}{number}" for letter in "btks"}


def over(operands: Sequence[str], names: dict[str, str]) -> list[str]:
    """Return operands over other names."""
    return ["".join(names.get(c, c) for c in operand) for operand in operands]


def program(operator: Operator, are_new: bool) -> Callable[[], sb.ShapeEnv]:
    """Return a function that builds a program over new names; with ``are_new`` each operation has its own."""

    def build() -> sb.ShapeEnv:
        env, operands = sb.ShapeEnv(), over(operator.operands, new_names())
        for _ in range(OPERATIONS):
            operator.add(env, over(operator.operands, new_names()) if are_new else operands)
        return env

    return build


def with_condition(build: Callable[[], sb.ShapeEnv]) -> Callable[[], Any]:
    """Return a function that builds a program and asks for its condition."""
    return lambda: build().clauses


CASES = {
    **{f"program of {name}": Case(program(made, False), OPERATIONS) for name, made in OPERATORS.items()},
    **{
        f"program of {name}, each on new names": Case(program(made, True), OPERATIONS)
        for name, made in OPERATORS.items()
    },
    **{
        f"program of {name}, with its condition": Case(with_condition(program(made, False)), OPERATIONS)
        for name, made in OPERATORS.items()
    },
}
