"""Facts that the operations so far establish, as far as the graph and sets of sizes derive them immediately.

Everything here follows from the given facts; not every consequence is here, since terms over several symbols are
opaque. That is enough to simplify output dimensions. `groups` decides whether everything can hold together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import reduce
from math import inf, prod
from typing import Any

from symbcast.core.algebra.arithmetic import join_members, join_with, replace_symbols
from symbcast.core.algebra.formulas import FALSE, Compatible, Formula
from symbcast.core.algebra.terms import Dim, Operation, Symbol, symbols_of, term
from symbcast.core.programs.arguments import own_set
from symbcast.core.solver import evaluation, points
from symbcast.core.solver.f1_names import relations
from symbcast.core.solver.f1_names.relations import EqualityClasses, InSet, Joinable, OneWay, SizeKey
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple

# Sizes that facts connect, and whether a size may be 1 or anything else whatever the connected sizes are.
#
# An island is *loose* if its sizes are connected by joins and equalities only, and nothing says of any of them that it
# is not 1. Then each class of equal sizes can have any of its values while all other classes are 1: every join of the
# island is defined. So in a loose island no size must be 1, unless its own set says so, and no size is covered by
# another one. These are the facts of nearly all programs, and deciding them takes a look-up
# (`symbcast.core.solver.f1_names.one_broadcast` uses the same law for programs of joins alone).


class Islands:
    """A partition of sizes that grows together; a size that was never linked is an island by itself.

    >>> islands = Islands()
    >>> islands.link("NMK")
    >>> islands.is_loose("N")
    True
    >>> islands.tighten("K")
    >>> islands.is_loose("N"), islands.is_loose("T")
    (False, True)
    """

    __slots__ = ("_parent", "_size", "_tight", "_trail")

    def __init__(self) -> None:
        self._parent: dict[SizeKey, SizeKey] = {}
        self._size: dict[SizeKey, int] = {}
        # The roots of islands that are not loose.
        self._tight: set[SizeKey] = set()
        # For `undo`: a root that was put below another one, and whether that became tight by it; or a root alone.
        self._trail: list[tuple[SizeKey, SizeKey | None, bool]] = []

    def copy(self) -> Islands:
        """Return an independent copy, which cannot be undone beyond this point."""
        copied = Islands()
        copied._parent, copied._size, copied._tight = self._parent.copy(), self._size.copy(), self._tight.copy()
        return copied

    def is_loose(self, node: SizeKey) -> bool:
        """Return whether the island of a size is loose."""
        return self._root(node) not in self._tight

    def link(self, nodes: Iterable[SizeKey]) -> None:
        """Connect sizes by a join or an equality."""
        first, *others = nodes
        root = self._root(first)
        for node in others:
            other = self._root(node)
            if other is not root and other != root:
                root = self._union(root, other)

    def tighten(self, node: SizeKey) -> None:
        """Record that something else is known of a size."""
        root = self._root(node)
        if root not in self._tight:
            self._tight.add(root)
            self._trail.append((root, None, True))

    def mark(self) -> int:
        """Return the present state, for `undo`."""
        return len(self._trail)

    def undo(self, mark: int) -> None:
        """Undo everything since a mark."""
        while len(self._trail) > mark:
            low, high, became_tight = self._trail.pop()
            root = low if high is None else high
            if became_tight:
                self._tight.discard(root)
            if high is not None:
                del self._parent[low]
                self._size[high] -= self._size.get(low, 1)

    def keep(self) -> None:
        """Make everything so far permanent."""
        self._trail.clear()

    def _root(self, node: SizeKey) -> SizeKey:
        parent = self._parent
        while node in parent:
            node = parent[node]
        return node

    def _union(self, left: SizeKey, right: SizeKey) -> SizeKey:
        sizes = self._size
        if sizes.get(left, 1) < sizes.get(right, 1):
            left, right = right, left
        self._parent[right] = left
        sizes[left] = sizes.get(left, 1) + sizes.get(right, 1)
        becomes_tight = right in self._tight and left not in self._tight
        if becomes_tight:
            self._tight.add(left)
        self._trail.append((right, left, becomes_tight))
        return left


# Joins of more members are not searched for members that another covers: that is a question for each pair.
COMPARED_UP_TO = 8
# How many least values of a symbol are tried in a term.
_PROBED = 3


class FactsMark(NamedTuple):
    """A state of the facts: of the classes, of the islands, and the lengths of two records."""

    classes: tuple[int, int]
    islands: int
    introduced: int
    watching: int


class Facts:
    """Facts about sizes, added one after another; the latest can be undone."""

    def __init__(self, min_size: int) -> None:
        self.min_size = min_size
        # Grows whenever a dimension may be written more simply than before.
        self.version = 0
        self._classes = EqualityClasses({})
        self._islands = Islands()
        # The symbols and terms whose possible values have been added.
        self._introduced: dict[Dim, None] = {}
        self._watching: dict[SizeKey, list[Formula]] = {}
        # The relation that says that a join is defined, by the join, as long as it is about nothing else.
        self._axis_of: dict[Dim, int] = {}
        self._trail: list[tuple[list[Formula], int]] = []
        self._simple: set[Dim] = set()
        self._simple_at = 0

    def copy(self) -> Facts:
        """Return an independent copy."""
        copied = Facts(self.min_size)
        copied.version = self.version
        copied._classes, copied._islands = self._classes.copy(), self._islands.copy()
        copied._introduced = dict(self._introduced)
        copied._watching = {s: list(formulas) for s, formulas in self._watching.items()}
        copied._axis_of = dict(self._axis_of)
        return copied

    def mark(self) -> FactsMark:
        """Return the current state, for `undo`."""
        return FactsMark(self._classes.mark(), self._islands.mark(), len(self._introduced), len(self._trail))

    def undo(self, mark: FactsMark) -> None:
        """Undo all facts added since ``mark``."""
        self._undo_classes(mark)
        while len(self._trail) > mark.watching:
            formulas, length = self._trail.pop()
            del formulas[length:]
        # A join added since then may have replaced a removed relation; each join is added again when it next occurs.
        self._axis_of.clear()
        self.version += 1

    def keep(self) -> None:
        """Make all facts added so far permanent."""
        self._classes.keep()
        self._islands.keep()
        self._trail.clear()

    def _undo_classes(self, mark: FactsMark) -> None:
        self._classes.undo(mark.classes)
        self._islands.undo(mark.islands)
        while len(self._introduced) > mark.introduced:
            self._introduced.popitem()  # the last one added

    def add(self, formulas: Sequence[Formula]) -> bool:
        """Add formulas that must hold, as `normal_conjuncts` returns them; return False if they are impossible."""
        pending: Sequence[Formula] = formulas
        while pending:
            known = [self._known(f) for f in pending]
            is_normal = pending is formulas and all(a is b for a, b in zip(known, formulas, strict=True))
            for clause in known if is_normal else evaluation.normal_conjuncts(known):
                if clause == FALSE:
                    return False
                self._take(clause)
                if not self._classes.consistent:
                    return False
            pending = self._woken()
        return True

    def add_join(self, before: SizeKey, added: SizeKey, after: SizeKey) -> bool:
        """Add the fact that a join stays defined with one more member; like `add`, but faster."""
        members = join_members(after)
        number = self._axis_of.get(before)
        new = members if number is None else (added,)
        if not all(map(_is_size, new)) or self._values(new):
            return self.add(evaluation.normal_conjuncts([Compatible(members)]))
        try:
            for member in new:
                self._introduce(member)
            if number is None:
                number = len(self._classes.relations)
                self._classes.add(Joinable(members))
                self._islands.link(members)
            else:
                del self._axis_of[before]
                self._classes.extend(number, added)
                self._islands.link((join_members(before)[0], added))
        except PeriodTooLongError:
            self._axis_of.clear()
            return self.add(evaluation.normal_conjuncts([Compatible(members)]))
        self._axis_of[after] = number
        return self._classes.consistent and self.add(self._woken())

    def dim(self, dim: Dim) -> Dim:
        """Return a dimension rewritten by the facts: with known values substituted, and one name for equal sizes."""
        if isinstance(dim, int):
            return dim
        if dim.is_Symbol:
            return self._value(dim) if dim in self._introduced else dim
        members = join_members(dim)
        if len(members) > 1:
            return self.join(members)
        value = replace_symbols(dim, self._values((dim,)))
        if isinstance(value, int):
            return value
        self._sharpen(value)
        return self._value(value)

    def join(self, members: Iterable[Any]) -> Dim:
        """Return the join of sizes, which is known to be defined, with the fewest members."""
        # A join that grows name by name is looked at only where it grows.
        longest, *others = sorted(members, key=lambda d: -len(join_members(d)))
        if self._is_simple(longest) and len(others) == 1 and len(join_members(others[0])) == 1:
            added = self.dim(others[0])
            if not isinstance(added, int) and join_with(longest, added) is longest:
                return longest
            if len(join_members(longest)) > COMPARED_UP_TO:
                return self._noted(self._lengthened(longest, added))
        flat = (self.dim(m) for d in (longest, *others) for m in join_members(d))
        distinct = list(dict.fromkeys(m for d in flat for m in join_members(d)))
        number = next((d for d in distinct if isinstance(d, int) and d != 1), None)
        if number is not None:
            return number
        distinct = [d for d in distinct if not isinstance(d, int)]
        if not distinct:
            return 1
        joined = reduce(join_with, distinct)
        if self._is_simple(joined):
            return joined
        distinct = [d for d in distinct if not self._is_one(d)]
        fixed = next((d for d in distinct if not self._classes.may_be_one(d)), None)
        if fixed is not None:
            return fixed
        if len(distinct) <= COMPARED_UP_TO:
            distinct = self._uncovered(distinct)
        return self._noted(reduce(join_with, distinct) if distinct else 1)

    def _lengthened(self, joined: Dim, added: Dim) -> Dim:
        """Return a long join with the fewest members, extended by one more; its own members are not checked again."""
        if isinstance(added, int):
            return joined if added == 1 else added
        if self._is_one(added):
            return joined
        return join_with(joined, added) if self._classes.may_be_one(added) else added

    def _is_simple(self, joined: Dim) -> bool:
        return self._simple_at == self.version and joined in self._simple

    def _noted(self, joined: Dim) -> Dim:
        """Record that a join has the fewest members possible, until more is known."""
        if self._simple_at != self.version:
            self._simple.clear()
            self._simple_at = self.version
        self._simple.add(joined)
        return joined

    def least_sizes(self, symbols: Iterable[Symbol]) -> dict[Symbol, int]:
        """Return the least possible value of each symbol, with 0 last: they satisfy all relations of plain sizes."""
        return {s: points.least_size(self._classes.set_of(s)) or 0 for s in symbols}

    def least(self, size: Symbol) -> int:
        """Return the least value of a symbol, as far as the sets of sizes determine it."""
        return self._classes.set_of(size).least() or 0

    def decides(self, formula: Formula) -> bool | None:
        """Return whether a formula about one symbol holds at all of its sizes or at none; None if neither is known."""
        symbols = evaluation.symbols_in(formula)
        if len(symbols) != 1:
            return None
        possible = self._classes.set_of(*symbols)
        try:
            holding = possible & solution_set(formula)
        except (NotPeriodicError, PeriodTooLongError):
            return None
        if not holding:
            return False
        return True if holding == possible else None

    def may_be_only(self, dim: Any, size: int) -> bool:
        """Return whether a size over one symbol may have a value alone; most differ among the least sizes of that."""
        symbol, *others = dict.fromkeys(symbols_of((dim,)))
        least = self._classes.set_of(symbol).first(_PROBED)
        return not others and all(evaluation.value_at(dim, {symbol: n}) in (size, None) for n in least)

    def _is_one(self, dim: SizeKey) -> bool:
        classes = self._classes
        if self._islands.is_loose(dim) or (classes.set_of(dim) is ALL and classes.degree(dim) < 2):
            return False
        return not classes.possible(non_one=(dim,))

    def _uncovered(self, members: list[Any]) -> list[Any]:
        """Drop members that are 1 or equal to another, starting with the last ones, so that the first name remains."""
        needed = list(members)
        for member in reversed(members):
            if self._islands.is_loose(member):
                continue
            others = [m for m in needed if m is not member]
            if any(not relations.is_violable(OneWay(member, other), self._classes, {}) for other in others):
                needed = others
        return needed

    def _value(self, dim: SizeKey) -> Dim:
        only = self._classes.set_of(dim).only
        return self._classes.find(dim) if only is None else only

    def _values(self, dims: Iterable[Dim]) -> dict[Symbol, Dim]:
        values = {s: self._value(s) for s in symbols_of(dims)}
        return {s: v for s, v in values.items() if v is not s}

    def _known(self, formula: Formula) -> Formula:
        values = {s: v for s in evaluation.symbols_in(formula) if (v := self._value(s)) is not s}
        return evaluation.replace_in_formula(formula, values) if values else formula

    def _take(self, clause: Formula) -> None:
        """Add one clause: to a set, to the graph, and, if it contains terms, to the formulas to be revisited."""
        symbols = evaluation.symbols_in(clause)
        for symbol in symbols:
            self._introduce(symbol)
        mark = self.mark()
        try:
            if len(symbols) == 1:
                (symbol,) = symbols
                self._within(symbol, solution_set(clause))
                return
            relation = evaluation.as_relation_of_terms(clause)
            if relation is not None and not all(map(_is_size, relations.nodes_of(relation))):
                relation = None
            if relation is not None:
                for dim in relations.nodes_of(relation):
                    self._introduce(dim)
                self._classes.add(relation)
                self._islands.link(relations.nodes_of(relation))
                if isinstance(relation, OneWay):
                    self._islands.tighten(relation.data)
                    self.version += 1
        except (NotPeriodicError, PeriodTooLongError):
            self._undo_classes(mark)
            relation = None
        if relation is None or not all(d.is_Symbol for d in relations.nodes_of(relation)):
            for symbol in symbols:
                watching = self._watching.setdefault(symbol, [])
                self._trail.append((watching, len(watching)))
                watching.append(clause)

    def _within(self, dim: SizeKey, members: SizeSet) -> None:
        """Record which sizes a symbol or a term can have."""
        self._classes.add(InSet(dim, members))
        if 1 not in members:
            self._islands.tighten(dim)
            self.version += 1  # where it is joined, it equals the join

    def _introduce(self, dim: SizeKey) -> None:
        """Record, once, which sizes a symbol or a term can have at all."""
        if dim in self._introduced:
            return
        self._introduced[dim] = None
        members = own_set(dim, self.min_size) if dim.is_Symbol else _image(dim)
        if members is not ALL:
            self._within(dim, members)

    def _sharpen(self, dim: SizeKey) -> None:
        """Add the lower bound of a sum or product that follows from its symbols' sets."""
        if dim.is_Symbol or not _is_size(dim):
            return
        least: float = 0
        for monomial, coefficient in term(dim).coefficients.items():
            sizes = [0 if isinstance(a, Operation) else self._classes.set_of(a).least() or 0 for a in monomial]
            least += coefficient * prod(sizes) if coefficient > 0 else -inf
        if least > 0 and self._classes.set_of(dim).least() in range(int(least)):
            self._introduce(dim)
            self._within(dim, SizeSet.interval(int(least), None))

    def _woken(self) -> list[Formula]:
        """Return the clauses with terms about which something new is known."""
        news, self._classes.news = self._classes.news, []
        if not news:
            return []
        self.version += 1
        woken = {clause: None for node in news for clause in self._watching.get(node, ())}
        return list(woken)


def _is_size(dim: SizeKey) -> bool:
    """Return whether a dimension is never negative: a requirement may compare terms that are not sizes."""
    low = 0 if dim.is_Symbol else term(dim).lower_bound
    return low is not None and low >= 0


def _image(dim: SizeKey) -> SizeSet:
    """Return sizes that contain all values of a term over several symbols, or of a multiple of one."""
    value = term(dim)
    low = max(value.lower_bound or 0, 0)
    image = ALL if low == 0 else SizeSet.interval(low, None)
    if value.content > 1:
        with suppress(PeriodTooLongError):
            image = image & SizeSet.residues(value.content, [value.constant])
    return image
