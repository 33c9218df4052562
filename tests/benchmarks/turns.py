"""Thousands of distinct questions, asked in turn: so no cache of answers gains anything. Some are over new names."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import symbcast as sb

_numbers = itertools.count()
"""A number for each question over names that are met for the first time."""
_draw = random.Random(1)
CHAIN, LAYERS = 1_000, 12
OPERATIONS = tuple(
    tuple(operation.split())
    for operation in ("bsh bs1", "bsh h", "bsh h", "bkss b1ss", "bkss bks1", "bsh bsh", "bsf f", "bsf 1")
)
"""The broadcasts of a layer of a transformer: b is the batch, s the sequence, h hidden, k heads, f the inner layer."""


class Case(NamedTuple):
    """What is asked, and how many operations one call of it is."""

    ask: Callable[[], Any]
    operations: int = 1


def in_turn(questions: Iterable[Any]) -> Callable[[], Any]:
    """Return a function that returns one question after another, from the first again after the last."""
    return itertools.cycle(list(questions)).__next__


def sizes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two shapes of integers that broadcast, drawn at random."""
    output = [_draw.choice((1, 2, 3, 5, 8, 64)) for _ in range(4)]
    first = tuple(d if _draw.random() < 0.6 else 1 for d in output)
    return first, tuple(d if _draw.random() < 0.6 else 1 for d in output[_draw.randint(0, 2) :])


def names(prefix: str, count: int) -> list[Any]:
    return list(sb.shape(", ".join(f"{prefix}{n}" for n in range(count))))


integers = in_turn(sizes() for _ in range(10_000))
beside = in_turn(sizes() for _ in range(10_000))
_warm, _many = names("s", 200), [*names("t", CHAIN), 1]
_pair = in_turn(((a, 3), (b, 1)) for a, b in (_draw.sample(_warm, 2) for _ in range(10_000)))
_same = in_turn(((a, 3), (a, 1)) for a in _warm)
_wide = in_turn([tuple(_draw.choice(_warm[:16]) for _ in range(16)) for _ in range(4)] for _ in range(500))


def new_pair() -> tuple[str, str]:
    """Return a question in text over two names that are met for the first time."""
    n = next(_numbers)
    return f"q{n}, 3", f"r{n}, 1"


def new_name_twice() -> tuple[str, str]:
    """Return a question in text over one name that is met for the first time."""
    n = next(_numbers)
    return f"q{n}, 3", f"q{n}, 1"


def transformer(as_text: bool) -> sb.ShapeEnv:
    """Give the layers of a transformer over new names, each shape as a new tuple or as text."""
    n = next(_numbers)
    text = {letter: f"{letter}{n}" for letter in "bshkf"}
    values = dict(zip(text, text.values() if as_text else sb.shape(", ".join(text.values())), strict=True))
    values["1"] = "1" if as_text else 1
    env = sb.ShapeEnv()
    for _ in range(LAYERS):
        for operands in OPERATIONS:
            shapes = [tuple([values[letter] for letter in operand]) for operand in operands]
            env.broadcast(*(map(", ".join, shapes) if as_text else shapes))
    return env


def chain() -> sb.ShapeEnv:
    """Broadcast 1,000 shapes of rank 4 one after another, over 8 names, each shape as a new tuple."""
    draw = random.Random(next(_numbers))
    pool = [*draw.sample(_warm, 8), 1]
    shapes = [tuple(draw.choice(pool) for _ in range(4)) for _ in range(64)]
    env = sb.ShapeEnv()
    output: Any = shapes[0]
    for n in range(CHAIN):
        output = env.broadcast(output, (*shapes[n % 64],))
    return env


def thousand_names() -> sb.ShapeEnv:
    """Give 1,000 operations of rank 3 over 1,000 names, each shape as a new tuple."""
    draw = random.Random(next(_numbers))
    env = sb.ShapeEnv()
    for _ in range(CHAIN):
        env.broadcast(tuple(draw.choice(_many) for _ in range(3)), tuple(draw.choice(_many) for _ in range(3)))
    return env


def asked(question: Callable[[], Any], *answers: str) -> Callable[[], Any]:
    """Return a function that asks the next question, and reads these answers."""

    def ask() -> Any:
        result = sb.broadcast(*question())
        for answer in answers:
            getattr(result, answer)
        return result

    return ask


CASES = {
    "integers": Case(asked(integers)),
    "integers: verdict and shape": Case(asked(integers, "verdict", "shape")),
    "a pair over 200 names": Case(asked(_pair)),
    "a pair over 200 names: verdict": Case(asked(_pair, "verdict")),
    "a pair over 200 names: clauses": Case(asked(_pair, "clauses")),
    "a pair over 200 names: shape": Case(asked(_pair, "shape")),
    "a pair over 200 names: condition": Case(asked(_pair, "condition")),
    "one name twice": Case(asked(_same, "verdict", "shape")),
    "one new name twice": Case(asked(new_name_twice, "verdict", "shape")),
    "a pair over new names, text: verdict": Case(asked(new_pair, "verdict")),
    "a pair over new names, text: condition": Case(asked(new_pair, "condition")),
    "four operands of rank 16: verdict": Case(asked(_wide, "verdict")),
    "four operands of rank 16: clauses": Case(asked(_wide, "clauses")),
    "four operands of rank 16: shape": Case(asked(_wide, "shape")),
    "four operands of rank 16: condition": Case(asked(_wide, "condition")),
    "an operation of a transformer over new names": Case(lambda: transformer(False), LAYERS * len(OPERATIONS)),
    "an operation of a transformer, text": Case(lambda: transformer(True), LAYERS * len(OPERATIONS)),
    "an operation of a chain over 8 names": Case(chain, CHAIN),
    "an operation over 1,000 names": Case(thousand_names, CHAIN),
}
