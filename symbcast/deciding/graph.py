"""Tier F1: joins, equalities and one-directional broadcasts among plain sizes; exact, irredundant, no solver.

Each relation here is an implication whose conclusion is an equality: `compatible(a, b)` is "a and b other than 1 are
equal", `onto(d, t)` is "d other than 1 equals t". Such a system (it is Horn) has a least model: merge what is forced,
let every class that may be 1 be 1. So it is satisfiable exactly when merging meets no empty domain, and whether a
relation follows from the others is one more such question about its negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from symbcast.deciding.sets import ALL, NOT_ONE, ONE, SizeSet

if TYPE_CHECKING:
    import sympy

Node: TypeAlias = "sympy.Symbol"


@dataclass(frozen=True, slots=True)
class Axis:
    """The join of ``members`` is defined."""

    members: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Onto:
    """``data`` is 1 or equals ``target``."""

    data: Node
    target: Node


@dataclass(frozen=True, slots=True)
class Same:
    """``left`` equals ``right``."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Within:
    """``node`` lies in ``members``."""

    node: Node
    members: SizeSet


@dataclass(frozen=True, slots=True)
class EitherOne:
    """``left`` or ``right`` is 1."""

    left: Node
    right: Node


Relation: TypeAlias = Axis | Onto | Same | Within | EitherOne


@dataclass(slots=True)
class Classes:
    """Sizes merged into classes, each with the set it lies in; the least model of some relations."""

    domain: dict[Node, SizeSet]
    relations: list[Axis | Onto | EitherOne]
    parent: dict[Node, Node] = field(default_factory=dict)
    uses: dict[Node, list[int]] = field(default_factory=dict)
    consistent: bool = True

    @staticmethod
    def of(domain: Mapping[Node, SizeSet], relations: Iterable[Relation]) -> Classes:
        """Return the classes that the relations force on sizes from the given sets."""
        made = Classes(dict(domain), [])
        facts: list[Same | Within] = []
        for relation in relations:
            if isinstance(relation, (Same, Within)):
                facts.append(relation)
                continue
            for node in _nodes(relation):
                made.uses.setdefault(node, []).append(len(made.relations))
            made.relations.append(relation)
        touched = list(range(len(made.relations)))
        for fact in facts:
            if isinstance(fact, Same):
                made._merge(fact.left, fact.right, touched)
            else:
                made._restrict(fact.node, fact.members, touched)
        made._settle(touched)
        return made

    def find(self, node: Node) -> Node:
        """Return the representative of a node's class."""
        parent = self.parent
        while node in parent:
            node = parent[node]
        return node

    def set_of(self, node: Node) -> SizeSet:
        """Return the set that a node's class lies in."""
        return self.domain.get(self.find(node), ALL)

    def may_be_one(self, node: Node) -> bool:
        """Return whether nothing keeps the node's class from being 1."""
        domain = self.domain.get(self.find(node), ALL)
        return domain is ALL or 1 in domain

    def possible(
        self,
        non_one: Iterable[Node] = (),
        one: Iterable[Node] = (),
        same: tuple[Node, Node] | None = None,
        differ: tuple[Node, Node] | None = None,
        within: tuple[Node, SizeSet] | None = None,
    ) -> bool:
        """Return whether some sizes satisfy the relations and these further facts.

        The two nodes of ``differ`` must be among ``non_one``, or one of them in ``one`` and the other in ``non_one``.
        """
        if not self.consistent:
            return False
        trial = Classes(dict(self.domain), self.relations, dict(self.parent), dict(self.uses))
        touched: list[int] = []
        for node in non_one:
            trial._restrict(node, NOT_ONE, touched)
        for node in one:
            trial._restrict(node, ONE, touched)
        if within:
            trial._restrict(*within, touched)
        if same:
            trial._merge(*same, touched)
        trial._settle(touched)
        if not trial.consistent:
            return False
        if differ is None:
            return True
        left, right = map(trial.find, differ)
        only = trial.set_of(left).only
        return left != right and (only is None or only != trial.set_of(right).only)

    def _restrict(self, node: Node, members: SizeSet, touched: list[int]) -> None:
        root = self.find(node)
        before = self.domain.get(root, ALL)
        after = before & members
        if after != before:
            self.domain[root] = after
            self.consistent = self.consistent and bool(after)
            touched.extend(self.uses.get(root, ()))

    def _merge(self, left: Node, right: Node, touched: list[int]) -> None:
        a, b = self.find(left), self.find(right)
        if a == b:
            return
        self.parent[b] = a
        self.domain[a] = self.domain.get(a, ALL) & self.domain.pop(b, ALL)
        self.consistent = self.consistent and bool(self.domain[a])
        self.uses[a] = [*self.uses.get(a, ()), *self.uses.get(b, ())]
        touched.extend(self.uses[a])

    def _settle(self, touched: list[int]) -> None:
        """Merge what the touched relations force, until nothing more is."""
        while touched and self.consistent:
            relation = self.relations[touched.pop()]
            match relation:
                case Axis(members):
                    forced = [node for node in members if not self.may_be_one(node)]
                    for node in forced[1:]:
                        self._merge(forced[0], node, touched)
                case EitherOne(left, right):
                    self.consistent = self.may_be_one(left) or self.may_be_one(right)
                case Onto(data, target):
                    if not self.may_be_one(data):
                        self._merge(target, data, touched)
                    elif self.set_of(target).only == 1:
                        self._restrict(data, ONE, touched)


def _nodes(relation: Axis | Onto | EitherOne) -> tuple[Node, ...]:
    match relation:
        case Axis(members):
            return members
        case Onto(data, target):
            return (data, target)
        case EitherOne(left, right):
            return (left, right)


def violable(relation: Relation, classes: Classes, assumed: Mapping[Node, SizeSet]) -> bool:
    """Return whether sizes of ``classes`` (the other relations) exist that break ``relation``."""
    match relation:
        case Axis(members):
            return any(classes.possible(non_one=pair, differ=pair) for pair in combinations(members, 2))
        case EitherOne(left, right):
            return classes.possible(non_one=(left, right))
        case Onto(data, target):
            return classes.possible(non_one=(data, target), differ=(data, target)) or classes.possible(
                non_one=(data,), one=(target,)
            )
        case Same(left, right):
            return (
                classes.possible(non_one=(left, right), differ=(left, right))
                or classes.possible(non_one=(left,), one=(right,))
                or classes.possible(non_one=(right,), one=(left,))
            )
        case Within(node, members):
            return classes.possible(within=(node, assumed.get(node, ALL) - members))
