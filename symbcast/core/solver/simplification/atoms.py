"""Formulas over numbered atoms, and the cells at which they hold, for truth tables and covers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from symbcast.core.logic.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    expand,
    opposite,
)
from symbcast.core.solver.sets.literals import canonical
from symbcast.core.solver.simplification.two_level import Cube


class Tree(NamedTuple):
    """A formula over numbered literals: all of some parts, or any of them."""

    is_all: bool
    parts: tuple[Tree | int, ...]


class Atoms:
    """The comparisons of a formula and their opposites: literal ``2*n`` as given first, ``2*n + 1`` the opposite.

    Where a term has no value, neither holds.
    """

    def __init__(self) -> None:
        self.literals: list[Formula] = []
        self.given: set[int] = set()
        self._numbers: dict[Formula, int] = {}
        self._read: dict[Formula, Tree | int] = {}

    def tree(self, formula: Formula) -> Tree | int:
        """Return a formula over the literals; its atoms are added."""
        match formula:
            case AllOf(parts):
                return _joined(True, map(self.tree, parts))
            case AnyOf(parts):
                return _joined(False, map(self.tree, parts))
        found = self._read.get(formula)
        if found is None:
            found = self._read[formula] = self._leaf(formula)
        return found

    def _leaf(self, literal: Comparison | Compatible | Clashing) -> Tree | int:
        if not isinstance(literal, Comparison):
            if len(literal.dims) <= 2:
                return self.tree(expand(literal))
            return self._number(literal, literal, opposite(literal))
        key = canonical(literal)
        if key in (TRUE, FALSE):
            return Tree(key == TRUE, ())
        return self._number(literal, key, canonical(opposite(literal)))

    def _number(self, literal: Comparison | Compatible | Clashing, key: Formula, negated: Formula) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.literals)
            self._numbers[negated] = number + 1
            self.literals += [literal, opposite(literal)]
        elif number not in self.given:
            self.literals[number] = literal
        self.given.add(number)
        return number

    def cube(self, literals: Cube) -> Formula:
        """Return the conjunction of some literals."""
        return all_of(self.literals[n] for n in literals)

    def clause(self, literals: Cube) -> Formula:
        """Return the disjunction of the opposites of some literals."""
        return any_of(self.literals[n ^ 1] for n in literals)


def _joined(is_all: bool, parts: Iterable[Tree | int]) -> Tree | int:
    """Return parts joined and flattened, with true and false parts removed."""
    flat: dict[Tree | int, None] = {}
    for part in parts:
        for member in part.parts if isinstance(part, Tree) and part.is_all is is_all else (part,):
            if isinstance(member, Tree) and not member.parts:  # an empty part of the other kind decides the whole
                return member
            flat[member] = None
    return next(iter(flat)) if len(flat) == 1 else Tree(is_all, tuple(flat))


def cells_of(tree: Tree | int, masks: Sequence[int], everywhere: int) -> int:
    """Return the cells at which a formula holds."""
    if isinstance(tree, int):
        return masks[tree]
    found = everywhere if tree.is_all else 0
    for part in tree.parts:
        inner = cells_of(part, masks, everywhere)
        found = found & inner if tree.is_all else found | inner
    return found


def cubes_of(tree: Tree | int, of_all: bool = False) -> list[Cube] | None:
    """Return the cubes of a disjunction of conjunctions, None for a formula of another form.

    With ``of_all``, return those of the negation of a conjunction of disjunctions.
    """
    flip = int(of_all)
    found: list[Cube] = []
    for part in tree.parts if isinstance(tree, Tree) and tree.is_all is of_all else (tree,):
        members = part.parts if isinstance(part, Tree) and part.is_all is not of_all else (part,)
        if not all(isinstance(n, int) for n in members):
            return None
        found.append(tuple(sorted({n ^ flip for n in members if isinstance(n, int)})))
    return found
