"""Tier F1: joins, equalities and one-directional broadcasts among plain sizes; exact, irredundant, no solver.

Each relation here is an implication whose conclusion is an equality: `compatible(a, b)` is "a and b other than 1 are
equal", `onto(d, t)` is "d other than 1 equals t". Such a Horn system has a least model: merge what is forced and let
every class that may be 1 be 1. So it is satisfiable exactly when merging meets no empty domain; and whether a relation
follows from the others is one more such question, about its negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from symbcast.core.solver.masks.relations import Axis, EitherOne, Node, Onto, Relation, Same, Within, nodes_of
from symbcast.core.solver.sets.size_sets import ALL, NOT_ONE, ONE, SizeSet


class Classes:
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

    def __init__(self, domain: Mapping[Node, SizeSet], nodes: Iterable[Node] = ()) -> None:
        self.relations: list[Axis | Onto | EitherOne] = []
        self.consistent = all(domain.values())
        self._domain: dict[Node, SizeSet] = dict(domain)
        self._order: dict[Node, int] = {}
        self._parent: dict[Node, Node] = {}
        # The sets, relations and other data of a class are kept at its root, the root of the larger merged class.
        self._size: dict[Node, int] = {}
        self._first: dict[Node, Node] = {}
        self._uses: dict[Node, list[int]] = {}
        self._anchors: dict[int, Node] = {}
        """Of each axis, by its number, a member that cannot be 1: all others that cannot either are merged with it."""
        self._trail: list[Callable[[], object]] = []
        self.news: list[Node] = []
        """Representatives that gave way to another one or have one size since this was last emptied."""
        for node in (*nodes, *domain):
            self._rank(node)

    @staticmethod
    def of(domain: Mapping[Node, SizeSet], relations: Iterable[Relation]) -> Classes:
        """Return the classes that the relations force on sizes from the given sets."""
        made = Classes(domain)
        made.add(*relations)
        return made

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
                case Same(left, right):
                    self._merge(left, right, touched)
                case Within(node, members):
                    self._restrict(node, members, touched)
                case _:
                    self._relate(relation, touched)
            self._settle(touched)

    def extend(self, axis: int, node: Node) -> None:
        """Add a member to the join of an axis, given by its number among the relations."""
        touched: list[_Touched] = []
        self._use(axis, node, touched)
        self._settle(touched)

    def copy(self) -> Classes:
        """Return an independent copy, which cannot be undone beyond this point."""
        made = Classes({})
        made.relations = list(self.relations)
        made.consistent = self.consistent
        for name in ("_domain", "_order", "_parent", "_size", "_first", "_anchors"):
            setattr(made, name, dict(getattr(self, name)))
        made._uses = {node: list(uses) for node, uses in self._uses.items()}
        return made

    def find(self, node: Node) -> Node:
        """Return the representative of a node's class: its first named member."""
        root = self._root(node)
        return self._first.get(root, root)

    def set_of(self, node: Node) -> SizeSet:
        """Return the set that a node's class lies in."""
        return self._domain.get(self._root(node), ALL)

    def may_be_one(self, node: Node) -> bool:
        """Return whether the node's class may be 1."""
        domain = self._domain.get(self._root(node), ALL)
        return domain is ALL or 1 in domain

    def degree(self, node: Node) -> int:
        """Return the number of relations on the node's class, not counting equalities and sets."""
        return len(self._uses.get(self._root(node), ()))

    def may_all_be_one_size(self) -> bool:
        """Return whether all sizes can have one common value other than 1, which satisfies joins and `Onto`."""
        common = NOT_ONE
        for members in {id(d): d for d in self._domain.values()}.values():
            common = common & members
        return bool(common) and not any(isinstance(r, EitherOne) for r in self.relations)

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
        mark = self.mark()
        try:
            self.add(*(Within(node, NOT_ONE) for node in non_one), *(Within(node, ONE) for node in one))
            self.add(*([Within(*within)] if within else ()), *([Same(*same)] if same else ()))
            if not self.consistent or differ is None:
                return self.consistent
            left, right = map(self._root, differ)
            only = self.set_of(left).only
            return left != right and (only is None or only != self.set_of(right).only)
        finally:
            self.undo(mark)

    def _root(self, node: Node) -> Node:
        parent = self._parent
        while node in parent:
            node = parent[node]
        return node

    def _rank(self, node: Node) -> tuple[bool, int]:
        """Return the sort key of the members of a class: symbols before terms, then in order of naming."""
        return not node.is_Symbol, self._order.setdefault(node, len(self._order))

    def _relate(self, relation: Axis | Onto | EitherOne, touched: list[_Touched]) -> None:
        number = len(self.relations)
        self.relations.append(relation)
        self._trail.append(self.relations.pop)
        for node in nodes_of(relation):
            self._use(number, node, touched)

    def _use(self, number: int, node: Node, touched: list[_Touched]) -> None:
        self._rank(node)
        root = self._root(node)
        uses = self._uses.setdefault(root, [])
        uses.append(number)
        self._trail.append(uses.pop)
        touched.append((number, root))

    def _restrict(self, node: Node, members: SizeSet, touched: list[_Touched]) -> None:
        root = self._root(node)
        before = self._domain.get(root, ALL)
        after = before & members
        if after is not before and after != before:
            self._narrow(root, after)
            touched.extend((number, root) for number in self._uses.get(root, ()))

    def _narrow(self, root: Node, after: SizeSet) -> None:
        self._set(self._domain, root, after)
        if not after:
            self._contradict()
        elif after.only is not None:
            self.news.append(self._first.get(root, root))

    def _merge(self, left: Node, right: Node, touched: list[_Touched]) -> None:
        a, b = self._root(left), self._root(right)
        if a == b:
            return
        sizes = self._size.get(a, 1), self._size.get(b, 1)
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

    def _settle(self, touched: list[_Touched]) -> None:
        """Merge what the touched relations force, until nothing changes."""
        while touched and self.consistent:
            number, node = touched.pop()
            match self.relations[number]:
                case Axis():
                    if not self.may_be_one(node):
                        anchor = self._anchors.get(number)
                        if anchor is None:
                            self._set(self._anchors, number, node)
                        else:
                            self._merge(anchor, node, touched)
                case EitherOne(left, right):
                    if not (self.may_be_one(left) or self.may_be_one(right)):
                        self._contradict()
                case Onto(data, target):
                    if not self.may_be_one(data):
                        self._merge(target, data, touched)
                    elif self.set_of(target).only == 1:
                        self._restrict(data, ONE, touched)


_Touched: TypeAlias = tuple[int, Node]
"""The number of a relation, and the class in it that changed."""


def violable(relation: Relation, classes: Classes, assumed: Mapping[Node, SizeSet]) -> bool:
    """Return whether sizes of ``classes`` (the other relations) exist that break ``relation``."""
    match relation:
        case Axis(members):
            return _may_clash(members, classes)
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


def _may_clash(members: Sequence[Node], classes: Classes) -> bool:
    """Return whether two of the members can differ while both are other than 1."""
    for position, left in enumerate(members):
        mark = classes.mark()
        try:
            classes.add(Within(left, NOT_ONE))
            # The members that cannot be 1 together with this one are known by now; ask only about the others, one by
            # one.
            if any(classes.possible(non_one=(right,), differ=(left, right)) for right in members[position + 1 :]):
                return True
        finally:
            classes.undo(mark)
    return False
