"""Tier F1: joins, equalities and one-directional broadcasts among plain sizes; exact, irredundant, no solver.

Each relation here is an implication whose conclusion is an equality: `compatible(a, b)` is "a and b other than 1 are
equal", `onto(d, t)` is "d other than 1 equals t". Such a system (it is Horn) has a least model: merge what is forced,
let every class that may be 1 be 1. So it is satisfiable exactly when merging meets no empty domain, and whether a
relation follows from the others is one more such question about its negation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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


class System:
    """Relations among sizes, reduced to an equivalent irredundant set.

    ``assumed`` holds the set that each size is known to lie in; ``wanted`` the set that the constraints on it alone
    ask for. After `reduce`, ``relations`` is the reduced set (None when nothing satisfies it) and ``classes`` the
    facts it forces.
    """

    def __init__(
        self, assumed: Mapping[Node, SizeSet], wanted: Mapping[Node, SizeSet], relations: Iterable[Relation]
    ) -> None:
        self.assumed = assumed
        self.wanted = dict(wanted)
        self.given = list(dict.fromkeys(relations))
        self.is_free = self._is_free()
        self.classes = Classes(dict(self.wanted), []) if self.is_free else self._classes()
        self.relations: list[Relation] | None = self.given
        if not self.is_free:
            self.reduce()

    def _is_free(self) -> bool:
        """Return whether there is one relation, between sizes of which nothing is known: then nothing is forced."""
        if len(self.given) != 1 or not isinstance(self.given[0], (Axis, Onto)):
            return False
        return all(s is ALL for s in self.wanted.values()) and all(s is ALL for s in self.assumed.values())

    def covers(self, data: Node, target: Node) -> bool:
        """Return whether the relations imply that ``data`` is 1 or equals ``target``."""
        if self.is_free:
            return Onto(data, target) in self.given
        return not violable(Onto(data, target), self.classes, self.assumed)

    def _classes(self) -> Classes:
        return Classes.of({n: s for n, s in self.wanted.items() if s is not ALL}, self.given)

    def reduce(self) -> None:
        """Find what is forced, then drop what follows from the rest."""
        while self.classes.consistent and self._force_facts():
            self.classes = self._classes()
        if not self.classes.consistent:
            self.relations = None
            return
        candidates = self._candidates()
        while True:
            sharpened = self._sharpened(candidates)
            if isinstance(sharpened, Same):
                self.given.append(sharpened)
                self.classes = self._classes()
                candidates = self._candidates()
                continue
            self.relations = self._irredundant(sharpened)
            return

    def _force_facts(self) -> bool:
        """Narrow the set of each size beside one that cannot be 1; return whether anything was learnt."""
        classes = self.classes
        learnt = False
        for data, target in self._beside():
            node = classes.find(data)
            before = classes.set_of(node)
            only = classes.set_of(target).only
            allowed = before if only is None else before & SizeSet.of((1, only))
            if allowed.only != 1 and not classes.possible(non_one=(node,)):
                allowed = allowed & ONE
            if not before <= allowed:
                self.wanted[node] = self.wanted.get(node, ALL) & allowed
                learnt = True
        return learnt

    def _beside(self) -> Iterator[tuple[Node, Node]]:
        """Yield each size that must be 1 or equal to another, with that other."""
        for relation in self.classes.relations:
            if isinstance(relation, Onto):
                yield relation.data, relation.target
            elif isinstance(relation, Axis):
                fixed = next((n for n in relation.members if not self.classes.may_be_one(n)), None)
                if fixed is not None:
                    yield from ((n, fixed) for n in relation.members if self.classes.may_be_one(n))

    def _candidates(self) -> list[Relation]:
        """Return the relations restated between classes: equivalent to the given ones, some perhaps redundant."""
        classes = self.classes
        found: dict[Relation, None] = dict.fromkeys(self._class_facts())
        axes: dict[Axis, None] = {}
        for relation in classes.relations:
            if isinstance(relation, EitherOne):
                found[EitherOne(classes.find(relation.left), classes.find(relation.right))] = None
                continue
            if isinstance(relation, Onto):
                data, target = classes.find(relation.data), classes.find(relation.target)
                if data != target and classes.set_of(data).only != 1 and not self._told_by_set(data, target):
                    found[Onto(data, target)] = None
                continue
            nodes = dict.fromkeys(map(classes.find, relation.members))
            free = [n for n in nodes if classes.may_be_one(n) and classes.set_of(n).only != 1]
            fixed = [n for n in nodes if not classes.may_be_one(n)]
            if fixed:
                found.update((Onto(n, fixed[0]), None) for n in free if not self._told_by_set(n, fixed[0]))
            elif len(free) > 1:
                axes[Axis(tuple(free))] = None
        found.update(dict.fromkeys(_maximal(axes)))
        return list(found)

    def _told_by_set(self, data: Node, target: Node) -> bool:
        """Return whether the target is one known size, and the set of ``data`` says already that it is that or 1."""
        only = self.classes.set_of(target).only
        return only is not None and self.classes.set_of(data) <= SizeSet.of((1, only))

    def _class_facts(self) -> Iterator[Relation]:
        """Yield the equalities that make the classes and what is asked of each on its own."""
        members: dict[Node, list[Node]] = defaultdict(list)
        for node in self.assumed:
            members[self.classes.find(node)].append(node)
        for root, nodes in members.items():
            domain = self.classes.set_of(root)
            if domain.only is not None:
                yield from (Within(n, domain) for n in nodes if self.assumed[n].only is None)
                continue
            known = ALL
            for node in nodes:
                known = known & self.assumed[node]
                if node != nodes[0]:
                    yield Same(nodes[0], node)
            if not known <= domain:
                yield Within(root, domain)

    def _sharpened(self, candidates: list[Relation]) -> list[Relation] | Same:
        """Drop the alternatives of two-sided relations that cannot be; return an equality if one turns up."""
        result: list[Relation] = []
        for relation in candidates:
            match relation:
                case Onto(data, target) if self._bound(data) or self._bound(target):
                    if not self.classes.possible(one=(data,), non_one=(target,)):
                        return Same(target, data)
                    result.append(relation)
                case Axis((left, right)) if self._bound(left) and self._bound(right):
                    possible = self.classes.possible(non_one=(left, right), same=(left, right))
                    result.append(relation if possible else EitherOne(left, right))
                case _:
                    result.append(relation)
        return result

    def _bound(self, node: Node) -> bool:
        """Return whether anything but one relation is known of a node."""
        return self.classes.set_of(node) is not ALL or len(self.classes.uses.get(node, ())) > 1

    def _irredundant(self, candidates: list[Relation]) -> list[Relation]:
        """Drop each relation that the others and the assumptions imply, the last ones first."""
        kept = list(candidates)
        known = {n: s for n, s in self.assumed.items() if s is not ALL}
        for relation in reversed(candidates):
            others = [r for r in kept if r is not relation]
            if not violable(relation, Classes.of(known, others), self.assumed):
                kept = others
        return kept


def _maximal(axes: Iterable[Axis]) -> Iterator[Axis]:
    """Yield the axes whose members are not all among another's."""
    by_size = sorted(axes, key=lambda axis: -len(axis.members))
    sets: list[frozenset[Node]] = []
    for axis in by_size:
        members = frozenset(axis.members)
        if not any(members <= larger for larger in sets):
            sets.append(members)
            yield axis
