"""A search for slow questions: random calls and programs over products and symbolic divisors, with their CPU times.

Run it by hand: ``python tests/slow_questions.py [COUNT] [SEED]``. It prints the slowest questions, how many took more
than two seconds of CPU, how many were left undecided, and the most units of effort that one call used.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import symbcast as sb
from symbcast import effort

NAMES = tuple("NMKHWST")
SLOW = 2.0


class Question(NamedTuple):
    """A question, in words, and what asks it."""

    text: str
    ask: Callable[[], Any]


class Measured(NamedTuple):
    """What a question took, and what came out."""

    seconds: float
    units: int
    answer: str
    text: str


def number(rng: random.Random) -> int:
    """Return a number, mostly small."""
    return rng.choice((1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 97, 128, 1021, 10**9 + 7))


def term(rng: random.Random, depth: int) -> str:
    """Return the text of a size."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(NAMES) if rng.random() < 0.85 else str(number(rng))
    left, right = term(rng, depth - 1), term(rng, depth - 1)
    match rng.randrange(9):
        case 0 | 1:
            return f"({left} + {right})"
        case 2:
            return f"({left})*({right})"
        case 3:
            return f"{number(rng)}*({left})"
        case 4:
            return f"({left})//({right})"
        case 5:
            return f"({left}) % ({right})"
        case 6:
            return f"({left})//{number(rng)}"
        case 7:
            return f"({left}) % {number(rng)}"
        case _:
            return f"{rng.choice(('min', 'max'))}({left}, {right})"


def relation(rng: random.Random, depth: int = 2) -> str:
    """Return the text of a comparison."""
    return f"{term(rng, depth)} {rng.choice(('==', '==', '<=', '<', '!='))} {term(rng, depth)}"


def condition(rng: random.Random, count: int) -> str:
    """Return the text of a condition of several comparisons."""
    parts = [relation(rng, 1 if rng.random() < 0.5 else 2) for _ in range(count)]
    text = parts[0]
    for part in parts[1:]:
        text += f" {rng.choice(('and', 'and', 'or'))} {part}"
    return text


def shape(rng: random.Random, rank: int, depth: int = 2) -> str:
    """Return the text of a shape."""
    sizes = ("1" if rng.random() < 0.15 else term(rng, rng.randrange(depth + 1)) for _ in range(rank))
    return f"[{', '.join(sizes)}]"


def operation(rng: random.Random, env: sb.ShapeEnv, values: list[Any]) -> None:
    """Record one operation, if it is not refused."""
    value = rng.choice(values)
    try:
        match rng.randrange(7):
            case 0:
                values.append(env.broadcast(value, rng.choice(values)))
            case 1:
                values.append(env.broadcast(value, shape(rng, rng.randint(1, 3))))
            case 2:
                values.append(env.matmul(value, shape(rng, 2)))
            case 3:
                values.append(env.reshape(value, [term(rng, 1), term(rng, 1), -1]))
            case 4:
                values.append(env.split(value, 2, -1)[0])
            case 5:
                env.require(condition(rng, rng.randint(1, 2)))
            case _:
                values.append(env.reshape(value, [rng.choice(NAMES), -1]))
    except sb.SymbcastError:
        pass


def asked(rng: random.Random, env: sb.ShapeEnv) -> Question:
    """Return a question about a program."""
    given = relation(rng)
    asks: dict[str, Callable[[], Any]] = {
        "verdict": lambda: env.verdict,
        "clauses": lambda: env.clauses,
        "witness": env.witness,
        "counterexample": env.counterexample,
        "explain": env.explain,
        "to_python": env.to_python,
        "requirements": env.requirements,
        "implies": lambda: env.implies(given),
    }
    name = rng.choice(list(asks))
    return Question(f"{name} of {env!r}: {[str(op) for op in env.operations]}", asks[name])


def call(rng: random.Random) -> Question:
    """Return a question about shapes or conditions."""
    left, right = shape(rng, 3), shape(rng, rng.randint(1, 3))
    first, second = condition(rng, rng.randint(1, 4)), condition(rng, rng.randint(1, 3))
    asks: dict[str, Callable[[], Any]] = {
        "broadcast": lambda: sb.broadcast(left, right).verdict,
        "clauses": lambda: sb.broadcast(left, right).clauses,
        "explain": lambda: sb.broadcast(left, right).explain(),
        "witness": lambda: sb.broadcast(left, right).witness(),
        "counterexample": lambda: sb.broadcast(left, right).counterexample(),
        "guard": lambda: sb.broadcast(left, right).to_python(),
        "compare": lambda: sb.compare(left, right).explain(),
        "cases": lambda: sb.broadcast(left, right).cases(),
        "solve": lambda: sb.solve(left, right, out=shape(rng, 3, 0)),
        "implies": lambda: sb.Condition(first).implies(second),
        "equivalent": lambda: sb.Condition(first).equivalent(second),
        "verdict": lambda: sb.Condition(first).verdict(),
        "simplified": lambda: str(sb.Condition(first).simplified()),
    }
    name = rng.choice(list(asks))
    about = (left, right)
    if name in ("implies", "equivalent", "verdict", "simplified"):
        about = (first, second)
    return Question(f"{name} of {about}", asks[name])


def measured(question: Question) -> Measured:
    """Return what a question took of CPU and effort."""
    start = time.process_time()
    with effort.call() as counter:
        try:
            answer = str(question.ask())
        except sb.SymbcastError as error:
            answer = f"{type(error).__name__}: {error}"
    return Measured(time.process_time() - start, counter.used, answer, question.text)


def of_program(rng: random.Random) -> list[Measured]:
    """Return what each operation of a program took, and a question about it."""
    env = sb.ShapeEnv()
    values: list[Any] = [shape(rng, 3), shape(rng, 2)]
    found: list[Measured] = []
    for _ in range(rng.choice((5, 10, 20, 60))):
        text = f"operation after {[str(op) for op in env.operations]}"
        found.append(measured(Question(text, lambda: operation(rng, env, values))))
    return [*found, measured(asked(rng, env))]


def outcome(found: Measured) -> str:
    """Return what kind of answer a question got."""
    if found.answer.startswith("UndecidedError") or "UNKNOWN" in found.answer.upper()[:20]:
        return "undecided"
    return found.answer.split(":")[0] if "Error:" in found.answer else "answered"


def main(count: int, seed: int) -> None:
    """Ask questions, and print what they took."""
    found: list[Measured] = []
    for number_ in range(count):
        rng = random.Random(seed * 1_000_003 + number_)
        if number_ % 2:
            found += of_program(rng)
        else:
            found.append(measured(call(rng)))
    print(Counter(map(outcome, found)), f"{sum(m.seconds > SLOW for m in found)} of {len(found)} over {SLOW} s")
    print(f"most units {max(m.units for m in found):,}")
    for one in sorted(found, reverse=True)[:12]:
        print(f"{one.seconds:6.2f} s {one.units:>10,} units  {one.answer[:60]!r}  {one.text[-300:]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
