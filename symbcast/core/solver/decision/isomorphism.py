"""Groups of symbols that differ only in the names of their symbols, decided once.

A network repeats the same few relations layer by layer. The decision about a group depends on its symbols only through
their order and the facts known about each; so the answers about the first such group, with its symbols replaced, also
apply to the others. Terms are sorted by the names of their symbols, so a group whose names are not in order is decided
under names that are: choices among equally good answers then depend on the order of appearance alone. Only linear
groups are compared with others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.writer import name_text
from symbcast.core.logic.formulas import Formula
from symbcast.core.solver.budget import kept
from symbcast.core.solver.decision.linear_groups import Compound
from symbcast.core.solver.groups.normal_form import is_any_size, put_in, standard_names
from symbcast.core.solver.satisfiability.ladder import is_linear
from symbcast.core.solver.sets.size_sets import SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim


class Likenesses:
    """The groups decided so far, keyed so that isomorphic groups share a key."""

    def __init__(self, domains: Mapping[Symbol, SizeSet], weights: Mapping[Symbol, int]) -> None:
        self.domains = domains
        self.weights = weights
        self._decided: dict[tuple[Any, ...], Once] = {}

    def decide(
        self, symbols: Sequence[Symbol], assumptions: Sequence[Formula], formulas: Sequence[Formula]
    ) -> Compound | Renamed:
        """Return the group, or an isomorphic one with its symbols replaced."""
        key = self._key(symbols, assumptions, formulas)
        if key in self._decided:
            return Renamed(self._decided[key], symbols)
        if _is_in_order(symbols):
            made = Compound(symbols, self.domains, assumptions, formulas, self.weights)
            if key is not None:
                self._decided[key] = Once(made)
            return made
        # Terms are sorted by names: under names in order of appearance, no choice depends on the user's names.
        names = standard_names(symbols)
        domains = {name: self.domains[s] for s, name in names.items()}
        weights = {name: self.weights[s] for s, name in names.items()}
        known, asked = ([put_in(f, names) for f in each] for each in (assumptions, formulas))
        like = Once(Compound(tuple(names.values()), domains, known, asked, weights))
        if key is not None:
            self._decided[key] = like
        return Renamed(like, symbols)

    def _key(
        self, symbols: Sequence[Symbol], assumptions: Sequence[Formula], formulas: Sequence[Formula]
    ) -> tuple[Any, ...] | None:
        if not all(map(is_linear, (*assumptions, *formulas))):
            return None
        names = standard_names(symbols)
        return (
            () if all(map(is_any_size, symbols)) else tuple(sorted(range(len(symbols)), key=lambda n: symbols[n].name)),
            tuple((self.domains[s], self.weights[s]) for s in symbols),
            tuple(put_in(f, names) for f in assumptions),
            tuple(put_in(f, names) for f in formulas),
        )


def _is_in_order(symbols: Sequence[Symbol]) -> bool:
    """Return whether names are sorted, or one has more than a name, such as a least size: it cannot be replaced."""
    return all(a.name < b.name for a, b in pairwise(symbols)) or any(s is n for s, n in standard_names(symbols).items())


class Once:
    """A group whose evidence is kept for isomorphic groups."""

    def __init__(self, group: Compound) -> None:
        self.group = group

    @kept
    def witness(self) -> dict[Symbol, int] | None:
        """The smallest sizes that satisfy it."""
        return self.group.witness()

    @kept
    def counterexample(self) -> dict[Symbol, int] | None:
        """The smallest sizes that break it."""
        return self.group.counterexample()

    @kept
    def base(self) -> dict[Symbol, int] | None:
        """The smallest sizes that its assumptions allow."""
        return self.group.base()


class Renamed:
    """A group isomorphic to one that was decided; it reuses that group's answers."""

    def __init__(self, like: Once, symbols: Sequence[Symbol]) -> None:
        self.like = like
        self.symbols = tuple(symbols)
        theirs = like.group.symbols
        self._ours: dict[Symbol, Dim] = dict(zip(theirs, self.symbols, strict=True))
        self._theirs: dict[Symbol, Dim] = dict(zip(self.symbols, theirs, strict=True))
        self.satisfiable = like.group.satisfiable
        self.tier = like.group.tier

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""
        return self._in_our_words(self.like.group.evidence_reason)

    @property
    def violable(self) -> bool | None:
        """Whether it can fail; None if undecided."""
        return self.like.group.violable

    @kept
    def clauses(self) -> list[Formula]:
        """The condition, irredundant."""
        return [put_in(clause, self._ours) for clause in self.like.group.clauses]

    @kept
    def unproven(self) -> set[Formula]:
        """The clauses that the others may imply."""
        open_ones = self.like.group.unproven
        pairs = zip(self.clauses, self.like.group.clauses, strict=True)
        return {clause for clause, theirs in pairs if theirs in open_ones} if open_ones else set()

    @property
    def reason(self) -> str:
        """Why something is undecided."""
        return self._in_our_words(self.like.group.reason)

    def _in_our_words(self, reason: str) -> str:
        """Return a reason, which may quote a formula, with the names of these symbols."""
        ours = {
            theirs.name: name_text(own.name) for theirs, own in zip(self.like.group.symbols, self.symbols, strict=True)
        }
        return re.sub(r"(?<![\w.])[^\W\d]\w*", lambda word: ours.get(word[0], word[0]), reason) if reason else ""

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy assumptions and clauses."""
        return self._renamed(self.like.witness)

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a clause."""
        return self._renamed(self.like.counterexample)

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions."""
        return self._renamed(self.like.base)

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension has wherever the clauses hold."""
        return self.like.group.constant(replaced(dim, self._theirs))

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is 1 or equals ``target`` wherever the clauses hold."""
        return self.like.group.covers(replaced(data, self._theirs), replaced(target, self._theirs))

    def _renamed(self, sizes: Mapping[Symbol, int] | None) -> dict[Symbol, int] | None:
        if sizes is None:
            return None
        return {ours: sizes[theirs] for ours, theirs in zip(self.symbols, self.like.group.symbols, strict=True)}
