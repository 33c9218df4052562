"""Random conditions over one to three sizes, and the largest boxes in them by brute force."""

from __future__ import annotations

import random

MOST = 60


def condition(seed, names):
    """Return a random condition as text: some clauses, each of one to three literals."""
    chance = random.Random(seed)
    clauses = []
    for _ in range(chance.randint(1, 3)):
        literals = [literal(chance, names) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
        clauses.append(f"({' or '.join(literals)})")
    return " and ".join(clauses)


def literal(chance, names):
    kind = chance.choice(("bound", "residue", "residue", "relation", "relation", "product", "join", "quotient"))
    a, b = chance.choice(names), chance.choice(names)
    number, step = chance.randint(0, MOST), chance.choice((2, 3, 4, 5, 8, 16))
    operator = chance.choice(("<=", ">=", "==", "!=", "<", ">"))
    if kind == "bound":
        return f"{a} {chance.choice(('<=', '>=', '!='))} {number}"
    if kind == "residue":
        return f"{a} % {step} {operator} {chance.randint(0, step - 1)}"
    if kind == "relation":
        return f"{a} {operator} {chance.choice((b, f'{b} + {chance.randint(0, 9)}', f'2*{b}', f'{number} - {b}'))}"
    if kind == "product":
        return f"{a}*{b} {chance.choice(('<=', '>='))} {chance.randint(0, 900)}"
    if kind == "join":
        return f"compatible({a}, {b}, {number})" if a != b else f"{a} == 1"
    return f"{a}//{step} {operator} {b}//{chance.choice((1, 2, step))}"


def largest_of_one(row):
    """Return the length of the longest run of true entries."""
    best = run = 0
    for holds in row:
        run = run + 1 if holds else 0
        best = max(best, run)
    return best


def largest_of_two(rows):
    """Return the area of the largest rectangle of true entries: for each pair of rows, the longest run in both."""
    best = 0
    for first in range(len(rows)):
        common = [True] * len(rows[first])
        for last in range(first, len(rows)):
            common = [a and b for a, b in zip(common, rows[last], strict=True)]
            best = max(best, (last - first + 1) * largest_of_one(common))
    return best


def largest_progression(row):
    """Return the length of the longest arithmetic progression of true entries."""
    members = {n for n, holds in enumerate(row) if holds}
    best = min(1, len(members))
    for first in members:
        for step in range(1, len(row)):
            length = 1
            while first + length * step in members:
                length += 1
            best = max(best, length)
    return best


def largest_in_steps(rows):
    """Return the most points of a product of two progressions: for each progression of rows, the longest in all."""
    masks = [sum(1 << n for n, holds in enumerate(row) if holds) for row in rows]
    best, known = 0, {}
    for first in range(len(masks)):
        for step in range(1, len(masks)):
            common, length = -1, 0
            for mask in masks[first::step]:
                common, length = common & mask, length + 1
                if common.bit_count() * length > best:
                    if common not in known:
                        known[common] = largest_progression([common >> n & 1 for n in range(len(rows[0]))])
                    best = max(best, known[common] * length)
    return best


def tie(seed):
    """Return a random condition that ties two sizes by an equality or by their remainders."""
    chance = random.Random(seed)
    step, factor = chance.choice((2, 3, 4, 6, 8)), chance.randint(1, 3)
    return chance.choice(
        (
            f"b == {factor}*a + {chance.randint(0, 3)}",
            f"a % {step} == b % {step}",
            f"(a + {factor}*b) % {step} == {chance.randint(0, step - 1)}",
            f"a*b % {step} == 0",
            f"(a//2 + b) % {step} <= 1",
            f"a + b == {chance.randint(5, 40)}",
        )
    )
