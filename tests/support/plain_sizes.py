"""Names and integers at every small binding: the oracle of tests about masks.

Names are objects of no meaning. Conditions between names and the integers 0 to 3 cannot tell one further size from
another, and a clash needs two: so sizes 0 to 5 tell everything.
"""

from __future__ import annotations

import itertools

from symbcast.core.algebra.formulas import AnyOf, Comparison, Compatible

INTEGERS = range(4)
SIZES = range(6)


class Size:
    """A symbol: nothing but itself."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


NAMES = tuple(map(Size, "abcd"))


def points(names):
    return [dict(zip(names, sizes, strict=True)) for sizes in itertools.product(SIZES, repeat=len(names))]


def joined(sizes):
    """Return the join of integers, None where it is undefined."""
    found = 1
    for size in sizes:
        if size not in (1, found):
            if found != 1:
                return None
            found = size
    return found


def at(dim, point):
    """Return an axis of an output at a point: an integer, a name, or the members of a join."""
    if isinstance(dim, tuple):
        return joined([point[member] for member in dim])
    return dim if isinstance(dim, int) else point[dim]


def concrete(shapes):
    """Return the shape that integer shapes broadcast to, None where they do not."""
    output = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for axis, size in enumerate(shape, len(output) - len(shape)):
            output[axis] = joined((output[axis], size))
            if output[axis] is None:
                return None
    return tuple(output)


def holds(formula, point):
    match formula:
        case Compatible(dims):
            return joined([at(d, point) for d in dims]) is not None
        case Comparison("==", left, right):
            return at(left, point) == at(right, point)
        case AnyOf(parts):
            return any(holds(part, point) for part in parts)


def table(formula, bindings):
    """Return the points at which a formula holds, one bit each."""
    return sum(holds(formula, point) << n for n, point in enumerate(bindings))


def irredundant(clauses, bindings):
    """Return whether every clause, and every alternative in one, says something beside the rest."""
    tables = [table(clause, bindings) for clause in clauses]
    for n, clause in enumerate(clauses):
        others = (1 << len(bindings)) - 1
        for m, held in enumerate(tables):
            others &= held if m != n else others
        if not others & ~tables[n]:
            return False
        if isinstance(clause, AnyOf):
            left, right = (table(part, bindings) for part in clause.parts)
            if not (others & left & ~right and others & right & ~left):
                return False
    return True


def smallest(bindings):
    """Return the smallest of some points: fewest zeros, then least sum, then first in the order of the names."""
    return min(bindings, key=lambda p: (list(p.values()).count(0), sum(p.values()), list(p.values())), default=None)
