"""Reduction of the graph's relations: forced facts are extracted, implied relations are dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from symbcast.core.solver.masks.graph import Classes, violable
from symbcast.core.solver.masks.relations import Axis, EitherOne, Node, Onto, Relation, Same, Within
from symbcast.core.solver.sets.size_sets import ALL, ONE, SizeSet


class System:
    """Relations among sizes, reduced to an equivalent irredundant set.

    ``assumed`` holds the set that each size is known to lie in; ``wanted`` the set that the constraints on it alone
    require. After `reduce`, ``relations`` is the reduced set (None if nothing satisfies it) and ``classes`` the facts
    that it forces.
    """

    def __init__(
        self, assumed: Mapping[Node, SizeSet], wanted: Mapping[Node, SizeSet], relations: Iterable[Relation]
    ) -> None:
        self.assumed = assumed
        self.given = list(dict.fromkeys(relations))
        self.is_free = self._is_free(wanted)
        self.classes = self._classes(wanted, () if self.is_free else self.given)
        self.relations: list[Relation] | None = self.given
        if not self.is_free:
            self.reduce()

    def _is_free(self, wanted: Mapping[Node, SizeSet]) -> bool:
        """Return whether the only relation is between unconstrained sizes, so that nothing is forced."""
        if len(self.given) != 1 or not isinstance(self.given[0], (Axis, Onto)):
            return False
        return all(s is ALL for s in wanted.values()) and all(s is ALL for s in self.assumed.values())

    def covers(self, data: Node, target: Node) -> bool:
        """Return whether the relations imply that ``data`` is 1 or equals ``target``."""
        if self.is_free:
            return Onto(data, target) in self.given
        return not violable(Onto(data, target), self.classes, self.assumed)

    def _classes(self, domain: Mapping[Node, SizeSet], relations: Iterable[Relation]) -> Classes:
        made = Classes({n: s for n, s in domain.items() if s is not ALL}, nodes=self.assumed)
        made.add(*relations)
        return made

    def reduce(self) -> None:
        """Extract the forced facts, then drop relations that follow from the rest."""
        while self.classes.consistent and self._force_facts():
            pass
        if not self.classes.consistent:
            self.relations = None
            return
        sharpened = self._sharpened(self._candidates())
        while merged := [r for r in sharpened if isinstance(r, Same) and self._is_news(r)]:
            self.classes.add(*merged)
            sharpened = self._sharpened(self._candidates())
        self.relations = self._irredundant(sharpened)

    def _is_news(self, equality: Same) -> bool:
        return self.classes.find(equality.left) is not self.classes.find(equality.right)

    def _force_facts(self) -> bool:
        """Narrow the set of each size that meets one that cannot be 1; return whether anything changed."""
        classes = self.classes
        learnt = False
        is_loose = classes.may_all_be_one_size()
        for data, target in list(self._beside()):
            node = classes.find(data)
            before = classes.set_of(node)
            only = classes.set_of(target).only
            allowed = before if only is None else before & SizeSet.of((1, only))
            if allowed.only != 1 and not is_loose and not classes.possible(non_one=(node,)):
                allowed = allowed & ONE
            if not before <= allowed:
                classes.add(Within(node, allowed))
                learnt = True
        return learnt

    def _beside(self) -> Iterator[tuple[Node, Node]]:
        """Yield each size that must be 1 or equal to another, together with the other."""
        for relation in self.classes.relations:
            if isinstance(relation, Onto):
                yield relation.data, relation.target
            elif isinstance(relation, Axis):
                fixed = next((n for n in relation.members if not self.classes.may_be_one(n)), None)
                if fixed is not None:
                    yield from ((n, fixed) for n in relation.members if self.classes.may_be_one(n))

    def _candidates(self) -> list[Relation]:
        """Return equivalent relations between classes; some may be redundant."""
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
        """Return whether the target is one known size and the set of ``data`` restricts it to that size or 1."""
        only = self.classes.set_of(target).only
        return only is not None and self.classes.set_of(data) <= SizeSet.of((1, only))

    def _class_facts(self) -> Iterator[Relation]:
        """Yield the equalities that form the classes, and the constraints on each single class."""
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

    def _sharpened(self, candidates: list[Relation]) -> list[Relation]:
        """Drop the impossible alternatives of two-sided relations; the remaining one may be an equality."""
        result: dict[Relation, None] = {}
        for relation in candidates:
            match relation:
                case Onto(data, target) if self._bound(data) or self._bound(target):
                    both = self.classes.possible(one=(data,), non_one=(target,))
                    result[relation if both else Same(target, data)] = None
                case Axis((left, right)) if self._bound(left) and self._bound(right):
                    possible = self.classes.possible(non_one=(left, right), same=(left, right))
                    result[relation if possible else EitherOne(left, right)] = None
                case _:
                    result[relation] = None
        return list(result)

    def _bound(self, node: Node) -> bool:
        """Return whether anything but one relation is known of a node."""
        return self.classes.set_of(node) is not ALL or self.classes.degree(node) > 1

    def _irredundant(self, candidates: list[Relation]) -> list[Relation]:
        """Drop each relation that the others and the assumptions imply, starting from the end."""
        others = self._classes(self.assumed, ())

        def needed(low: int, high: int) -> list[Relation]:
            """Return the needed candidates from ``low`` to ``high``, given that ``others`` holds all the rest.

            By halving, each relation is added to and removed from ``others`` once for each level, not for each other
            relation.
            """
            if high - low < 2:
                return [r for r in candidates[low:high] if violable(r, others, self.assumed)]
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


def _maximal(axes: Iterable[Axis]) -> Iterator[Axis]:
    """Yield the axes whose members are not a subset of another's."""
    containing: dict[Node, list[frozenset[Node]]] = defaultdict(list)
    for axis in sorted(axes, key=lambda axis: -len(axis.members)):
        members = frozenset(axis.members)
        fewest = min((containing[n] for n in axis.members), key=len)
        if not any(members <= larger for larger in fewest):
            for node in members:
                containing[node].append(members)
            yield axis
