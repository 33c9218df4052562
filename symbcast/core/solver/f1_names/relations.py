"""Joins, equalities and one-directional broadcasts of plain sizes: a least model by union-find, irredundant sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from symbcast.core.solver.size_sets import ALL, NOT_ONE, ONE, SizeSet
from symbcast.core.structs import Struct

SizeKey: TypeAlias = Any
"""A symbol, or a term treated as opaque: then all results are true, but more may hold."""


class Joinable(Struct):
    """The join of ``members`` is defined."""

    members: tuple[SizeKey, ...]


class OneWay(Struct):
    """``data`` is 1 or equals ``target``."""

    data: SizeKey
    target: SizeKey


class SameSize(Struct):
    """``left`` equals ``right``."""

    left: SizeKey
    right: SizeKey


class InSet(Struct):
    """``node`` lies in ``members``."""

    node: SizeKey
    members: SizeSet


class EitherOne(Struct):
    """``left`` or ``right`` is 1."""

    left: SizeKey
    right: SizeKey


Relation: TypeAlias = Joinable | OneWay | SameSize | InSet | EitherOne


def nodes_of(relation: Joinable | OneWay | SameSize | EitherOne) -> tuple[SizeKey, ...]:
    """Return the nodes that a relation connects."""
    match relation:
        case Joinable(members):
            return members
        case OneWay(data, target):
            return (data, target)
        case SameSize(left, right) | EitherOne(left, right):
            return (left, right)


# Tier F1: joins, equalities and one-directional broadcasts among plain sizes; exact, irredundant, no solver.
#
# Each relation here is an implication whose conclusion is an equality: `compatible(a, b)` is "a and b other than 1 are
# equal", `onto(d, t)` is "d other than 1 equals t". Such a Horn system has a least model: merge what is forced and let
# every class that may be 1 be 1. So it is satisfiable exactly when merging meets no empty domain; and whether a
# relation follows from the others is one more such question, about its negation.


class EqualityClasses:
    """Sizes merged into classes, each with the set it lies in: the least model of some relations.

    It grows by `add` and shrinks by `undo`, each at the cost of the changes; a question is asked by adding its negation
    and undoing that. A class is represented by its first named member.
    """

    __slots__ = (
        "_anchors",
        "_domain",
        "_first",
        "_order",
        "_parent",
        "_size",
        "_trail",
        "_uses",
        "consistent",
        "news",
        "relations",
    )

    def __init__(self, domain: Mapping[SizeKey, SizeSet], nodes: Iterable[SizeKey] = ()) -> None:
        self.relations: list[Joinable | OneWay | EitherOne] = []
        self.consistent = all(domain.values())
        self._domain: dict[SizeKey, SizeSet] = dict(domain)
        self._order: dict[SizeKey, int] = {}
        self._parent: dict[SizeKey, SizeKey] = {}
        # The sets, relations and other data of a class are kept at its root, the root of the larger merged class.
        self._size: dict[SizeKey, int] = {}
        self._first: dict[SizeKey, SizeKey] = {}
        self._uses: dict[SizeKey, list[int]] = {}
        # Of each axis, by its number, a member that cannot be 1: all others that cannot either are merged with it.
        self._anchors: dict[int, SizeKey] = {}
        self._trail: list[Callable[[], object]] = []
        # Representatives that gave way to another one or have one size since this was last emptied.
        self.news: list[SizeKey] = []
        for node in (*nodes, *domain):
            self._rank(node)

    @staticmethod
    def of(domain: Mapping[SizeKey, SizeSet], relations: Iterable[Relation]) -> EqualityClasses:
        """Return the classes that the relations force on sizes from the given sets."""
        classes = EqualityClasses(domain)
        classes.add(*relations)
        return classes

    def mark(self) -> tuple[int, int]:
        """Return the present state, for `undo`."""
        return len(self._trail), len(self.news)

    def undo(self, mark: tuple[int, int]) -> None:
        """Undo everything added since ``mark``, including its entries in ``news``."""
        trail = self._trail
        while len(trail) > mark[0]:
            trail.pop()()
        del self.news[mark[1] :]

    def keep(self) -> None:
        """Make everything added so far permanent: earlier marks can no longer be undone to."""
        self._trail.clear()

    def add(self, *relations: Relation) -> None:
        """Add relations and merge what they force. After a contradiction nothing more is computed."""
        touched: list[_Touched] = []
        for relation in relations:
            match relation:
                case SameSize(left, right):
                    self._merge(left, right, touched)
                case InSet(node, members):
                    self._restrict(node, members, touched)
                case _:
                    self._relate(relation, touched)
            self._propagate(touched)

    def extend(self, axis: int, node: SizeKey) -> None:
        """Add a member to the join of an axis, given by its number among the relations."""
        touched: list[_Touched] = []
        self._use(axis, node, touched)
        self._propagate(touched)

    def copy(self) -> EqualityClasses:
        """Return an independent copy, which cannot be undone beyond this point."""
        copied = EqualityClasses({})
        copied.relations = list(self.relations)
        copied.consistent = self.consistent
        for name in ("_domain", "_order", "_parent", "_size", "_first", "_anchors"):
            setattr(copied, name, dict(getattr(self, name)))
        copied._uses = {node: list(uses) for node, uses in self._uses.items()}
        return copied

    def find(self, node: SizeKey) -> SizeKey:
        """Return the representative of a node's class: its first named member."""
        root = self._root(node)
        return self._first.get(root, root)

    def set_of(self, node: SizeKey) -> SizeSet:
        """Return the set that a node's class lies in."""
        return self._domain.get(self._root(node), ALL)

    def may_be_one(self, node: SizeKey) -> bool:
        """Return whether the node's class may be 1."""
        domain = self._domain.get(self._root(node), ALL)
        return domain is ALL or 1 in domain

    def degree(self, node: SizeKey) -> int:
        """Return the number of relations on the node's class, not counting equalities and sets."""
        return len(self._uses.get(self._root(node), ()))

    def may_all_be_one_size(self) -> bool:
        """Return whether all sizes can have one common value other than 1, which satisfies joins and `OneWay`."""
        common = NOT_ONE
        for members in {id(d): d for d in self._domain.values()}.values():
            common = common & members
        return bool(common) and not any(isinstance(r, EitherOne) for r in self.relations)

    def possible(
        self,
        non_one: Iterable[SizeKey] = (),
        one: Iterable[SizeKey] = (),
        same: tuple[SizeKey, SizeKey] | None = None,
        differ: tuple[SizeKey, SizeKey] | None = None,
        within: tuple[SizeKey, SizeSet] | None = None,
    ) -> bool:
        """Return whether some sizes satisfy the relations and these further facts.

        The two nodes of ``differ`` must be among ``non_one``, or one of them in ``one`` and the other in ``non_one``.
        """
        if not self.consistent:
            return False
        mark = self.mark()
        try:
            self.add(*(InSet(node, NOT_ONE) for node in non_one), *(InSet(node, ONE) for node in one))
            self.add(*([InSet(*within)] if within else ()), *([SameSize(*same)] if same else ()))
            if not self.consistent or differ is None:
                return self.consistent
            left, right = map(self._root, differ)
            only = self.set_of(left).only
            return left != right and (only is None or only != self.set_of(right).only)
        finally:
            self.undo(mark)

    def _root(self, node: SizeKey) -> SizeKey:
        parent = self._parent
        while node in parent:
            node = parent[node]
        return node

    def _rank(self, node: SizeKey) -> tuple[bool, int]:
        """Return the sort key of the members of a class: symbols before terms, then in order of naming."""
        return not node.is_Symbol, self._order.setdefault(node, len(self._order))

    def _relate(self, relation: Joinable | OneWay | EitherOne, touched: list[_Touched]) -> None:
        number = len(self.relations)
        self.relations.append(relation)
        self._trail.append(self.relations.pop)
        for node in nodes_of(relation):
            self._use(number, node, touched)

    def _use(self, number: int, node: SizeKey, touched: list[_Touched]) -> None:
        self._rank(node)
        root = self._root(node)
        uses = self._uses.setdefault(root, [])
        uses.append(number)
        self._trail.append(uses.pop)
        touched.append((number, root))

    def _restrict(self, node: SizeKey, members: SizeSet, touched: list[_Touched]) -> None:
        root = self._root(node)
        before = self._domain.get(root, ALL)
        after = before & members
        if after is not before and after != before:
            self._narrow(root, after)
            touched.extend((number, root) for number in self._uses.get(root, ()))

    def _narrow(self, root: SizeKey, after: SizeSet) -> None:
        self._set(self._domain, root, after)
        if not after:
            self._contradict()
        elif after.only is not None:
            self.news.append(self._first.get(root, root))

    def _merge(self, left: SizeKey, right: SizeKey, touched: list[_Touched]) -> None:
        a, b = self._root(left), self._root(right)
        if a == b:
            return
        sizes = self._size.get(a, 1), self._size.get(b, 1)
        # The smaller class goes under the root of the larger one, which keeps paths logarithmic: shortening them, as
        # union-find usually does, could not be undone.
        if sizes[0] < sizes[1]:
            a, b = b, a
        first, second = sorted((self._first.get(n, n) for n in (a, b)), key=self._rank)
        self.news.append(second)
        sets = [self._domain.get(n, ALL) for n in (a, b)]
        both = sets[0] & sets[1]
        self._set(self._parent, b, a)
        self._set(self._size, a, sum(sizes))
        self._set(self._first, a, first)
        if both is not sets[0]:
            self._narrow(a, both)
        gained = self._uses.get(b, [])
        # A relation is rechecked only if the set of its member changed.
        touched.extend((number, a) for number in (self._uses.get(a, ()) if both != sets[0] else ()))
        touched.extend((number, a) for number in (gained if both != sets[1] else ()))
        if gained:
            uses = self._uses.setdefault(a, [])
            length = len(uses)
            uses.extend(gained)
            self._trail.append(lambda: uses.__delitem__(slice(length, None)))

    def _contradict(self) -> None:
        if self.consistent:
            self.consistent = False
            self._trail.append(lambda: setattr(self, "consistent", True))

    def _set(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry so that it can be undone."""
        if key in table:
            before = table[key]
            self._trail.append(lambda: table.__setitem__(key, before))
        else:
            self._trail.append(lambda: table.__delitem__(key))
        table[key] = value

    def _propagate(self, touched: list[_Touched]) -> None:
        """Merge what the touched relations force, until nothing changes."""
        while touched and self.consistent:
            number, node = touched.pop()
            match self.relations[number]:
                case Joinable():
                    if not self.may_be_one(node):
                        anchor = self._anchors.get(number)
                        if anchor is None:
                            self._set(self._anchors, number, node)
                        else:
                            self._merge(anchor, node, touched)
                case EitherOne(left, right):
                    if not (self.may_be_one(left) or self.may_be_one(right)):
                        self._contradict()
                case OneWay(data, target):
                    if not self.may_be_one(data):
                        self._merge(target, data, touched)
                    elif self.set_of(target).only == 1:
                        self._restrict(data, ONE, touched)


# The number of a relation, and the class in it that changed.
_Touched: TypeAlias = tuple[int, SizeKey]


def is_violable(relation: Relation, classes: EqualityClasses, assumed: Mapping[SizeKey, SizeSet]) -> bool:
    """Return whether sizes of ``classes`` (the other relations) exist that break ``relation``."""
    match relation:
        case Joinable(members):
            return _may_clash(members, classes)
        case EitherOne(left, right):
            return classes.possible(non_one=(left, right))
        case OneWay(data, target):
            return classes.possible(non_one=(data, target), differ=(data, target)) or classes.possible(
                non_one=(data,), one=(target,)
            )
        case SameSize(left, right):
            return (
                classes.possible(non_one=(left, right), differ=(left, right))
                or classes.possible(non_one=(left,), one=(right,))
                or classes.possible(non_one=(right,), one=(left,))
            )
        case InSet(node, members):
            return classes.possible(within=(node, assumed.get(node, ALL) - members))


def _may_clash(members: Sequence[SizeKey], classes: EqualityClasses) -> bool:
    """Return whether two of the members can differ while both are other than 1."""
    for position, left in enumerate(members):
        mark = classes.mark()
        try:
            classes.add(InSet(left, NOT_ONE))
            # The members that cannot be 1 together with this one are known by now; ask only about the others, one by
            # one.
            if any(classes.possible(non_one=(right,), differ=(left, right)) for right in members[position + 1 :]):
                return True
        finally:
            classes.undo(mark)
    return False


class RelationSystem:
    """Relations among sizes, reduced to an equivalent irredundant set.

    ``assumed`` holds the set that each size is known to lie in; ``required`` the set that the constraints on it alone
    require. After `reduce`, ``relations`` is the reduced set (None if nothing satisfies it) and ``classes`` the facts
    that it forces.
    """

    def __init__(
        self, assumed: Mapping[SizeKey, SizeSet], required: Mapping[SizeKey, SizeSet], relations: Iterable[Relation]
    ) -> None:
        self.assumed = assumed
        self.distinct = list(dict.fromkeys(relations))
        self.is_free = self._is_free(required)
        self.classes = self._classes(required, () if self.is_free else self.distinct)
        self.relations: list[Relation] | None = self.distinct
        if not self.is_free:
            self.reduce()

    def _is_free(self, required: Mapping[SizeKey, SizeSet]) -> bool:
        """Return whether the only relation is between unconstrained sizes, so that nothing is forced."""
        if len(self.distinct) != 1 or not isinstance(self.distinct[0], (Joinable, OneWay)):
            return False
        return all(s is ALL for s in required.values()) and all(s is ALL for s in self.assumed.values())

    def covers(self, data: SizeKey, target: SizeKey) -> bool:
        """Return whether the relations imply that ``data`` is 1 or equals ``target``."""
        if self.is_free:
            return OneWay(data, target) in self.distinct
        return not is_violable(OneWay(data, target), self.classes, self.assumed)

    def _classes(self, domain: Mapping[SizeKey, SizeSet], relations: Iterable[Relation]) -> EqualityClasses:
        classes = EqualityClasses({n: s for n, s in domain.items() if s is not ALL}, nodes=self.assumed)
        classes.add(*relations)
        return classes

    def reduce(self) -> None:
        """Extract the forced facts, then drop relations that follow from the rest."""
        while self.classes.consistent and self._force_facts():
            pass
        if not self.classes.consistent:
            self.relations = None
            return
        sharpened = self._sharpened(self._candidates())
        find = self.classes.find
        # A two-sided relation that became an equality merges classes, which may sharpen others.
        while merged := [r for r in sharpened if isinstance(r, SameSize) and find(r.left) is not find(r.right)]:
            self.classes.add(*merged)
            sharpened = self._sharpened(self._candidates())
        self.relations = self._irredundant(sharpened)

    def _force_facts(self) -> bool:
        """Narrow the set of each size that meets one that cannot be 1; return whether anything changed."""
        classes = self.classes
        learnt = False
        # If all sizes can have one value other than 1, no size must be 1: that saves a question for each.
        is_loose = classes.may_all_be_one_size()
        for data, target in list(self._one_or_equal()):
            node = classes.find(data)
            before = classes.set_of(node)
            only = classes.set_of(target).only
            allowed = before if only is None else before & SizeSet.of((1, only))
            if allowed.only != 1 and not is_loose and not classes.possible(non_one=(node,)):
                allowed = allowed & ONE
            if not before <= allowed:
                classes.add(InSet(node, allowed))
                learnt = True
        return learnt

    def _one_or_equal(self) -> Iterator[tuple[SizeKey, SizeKey]]:
        """Yield each size that must be 1 or equal to another, together with the other."""
        for relation in self.classes.relations:
            if isinstance(relation, OneWay):
                yield relation.data, relation.target
            elif isinstance(relation, Joinable):
                fixed = next((n for n in relation.members if not self.classes.may_be_one(n)), None)
                if fixed is not None:
                    yield from ((n, fixed) for n in relation.members if self.classes.may_be_one(n))

    def _candidates(self) -> list[Relation]:
        """Return equivalent relations between classes; some may be redundant."""
        classes = self.classes
        candidates: dict[Relation, None] = dict.fromkeys(self._class_facts())
        axes: dict[Joinable, None] = {}
        for relation in classes.relations:
            if isinstance(relation, EitherOne):
                candidates[EitherOne(classes.find(relation.left), classes.find(relation.right))] = None
                continue
            if isinstance(relation, OneWay):
                data, target = classes.find(relation.data), classes.find(relation.target)
                if data != target and classes.set_of(data).only != 1 and not self._is_in_set(data, target):
                    candidates[OneWay(data, target)] = None
                continue
            nodes = dict.fromkeys(map(classes.find, relation.members))
            free = [n for n in nodes if classes.may_be_one(n) and classes.set_of(n).only != 1]
            fixed = [n for n in nodes if not classes.may_be_one(n)]
            if fixed:
                candidates.update((OneWay(n, fixed[0]), None) for n in free if not self._is_in_set(n, fixed[0]))
            elif len(free) > 1:
                axes[Joinable(tuple(free))] = None
        candidates.update(dict.fromkeys(_maximal(axes)))
        return list(candidates)

    def _is_in_set(self, data: SizeKey, target: SizeKey) -> bool:
        """Return whether the target is one known size and the set of ``data`` restricts it to that size or 1."""
        only = self.classes.set_of(target).only
        return only is not None and self.classes.set_of(data) <= SizeSet.of((1, only))

    def _class_facts(self) -> Iterator[Relation]:
        """Yield the equalities that form the classes, and the constraints on each single class."""
        members: dict[SizeKey, list[SizeKey]] = defaultdict(list)
        for node in self.assumed:
            members[self.classes.find(node)].append(node)
        for root, nodes in members.items():
            domain = self.classes.set_of(root)
            if domain.only is not None:
                yield from (InSet(n, domain) for n in nodes if self.assumed[n].only is None)
                continue
            known = ALL
            for node in nodes:
                known = known & self.assumed[node]
                if node != nodes[0]:
                    yield SameSize(nodes[0], node)
            if not known <= domain:
                yield InSet(root, domain)

    def _sharpened(self, candidates: list[Relation]) -> list[Relation]:
        """Drop the impossible alternatives of two-sided relations; the remaining one may be an equality."""
        result: dict[Relation, None] = {}
        for relation in candidates:
            match relation:
                case OneWay(data, target) if self._bound(data) or self._bound(target):
                    both = self.classes.possible(one=(data,), non_one=(target,))
                    result[relation if both else SameSize(target, data)] = None
                case Joinable((left, right)) if self._bound(left) and self._bound(right):
                    possible = self.classes.possible(non_one=(left, right), same=(left, right))
                    result[relation if possible else EitherOne(left, right)] = None
                case _:
                    result[relation] = None
        return list(result)

    def _bound(self, node: SizeKey) -> bool:
        """Return whether anything but one relation is known of a node."""
        return self.classes.set_of(node) is not ALL or self.classes.degree(node) > 1

    def _irredundant(self, candidates: list[Relation]) -> list[Relation]:
        """Drop each relation that the others and the assumptions imply, starting from the end."""
        # From the end, so that the relations of the first names stay.
        others = self._classes(self.assumed, ())

        def needed(low: int, high: int) -> list[Relation]:
            """Return the needed candidates from ``low`` to ``high``, given that ``others`` holds all the rest.

            By halving, each relation is added to and removed from ``others`` once for each level, not for each other
            relation.
            """
            if high - low < 2:
                return [r for r in candidates[low:high] if is_violable(r, others, self.assumed)]
            middle = (low + high) // 2
            mark = others.mark()
            others.add(*candidates[low:middle])
            right = needed(middle, high)
            others.undo(mark)
            others.add(*right)
            left = needed(low, middle)
            others.undo(mark)
            return [*left, *right]

        return needed(0, len(candidates))


def _maximal(axes: Iterable[Joinable]) -> Iterator[Joinable]:
    """Yield the axes whose members are not a subset of another's."""
    containing: dict[SizeKey, list[frozenset[SizeKey]]] = defaultdict(list)
    for axis in sorted(axes, key=lambda axis: -len(axis.members)):
        members = frozenset(axis.members)
        fewest = min((containing[n] for n in axis.members), key=len)
        if not any(members <= larger for larger in fewest):
            for node in members:
                containing[node].append(members)
            yield axis
