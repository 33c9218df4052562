"""Parts of a question that repeat under other names, as the layers of a network do: decided once, for one of them.

Two reductions, each an equivalence:

- **Merged sizes.** Where the constraints have ``a == b``, b is replaced by a in all others. So 64 sizes that must be
  equal are one size of weight 64.
- **Copies.** Let the constraints be S(s) and T(s, x1), ..., T(s, xn), where the tuples of symbols x1, ..., xn are
  disjoint, equal in their domains, and in no assumption about several symbols. If S and T(s, x1) are equivalent to
  R(s, x1), all constraints are equivalent to R(s, x1) and ... and R(s, xn): each R(s, xi) is S and T(s, xi), renamed.
  They can hold if R can (let every xi be x1), and fail if R can fail. The smallest sizes at which they hold repeat the
  smallest of R in which x1 has the weight of all copies. The smallest at which they fail break one copy and leave the
  others at their least.

Which symbols are copies is read from the constraints alone: without the symbols that many clauses share, the clauses
about one copy are connected, and those of another one are the same under other names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import Comparison, Formula, equal, negate
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.effort import Tier, charge, kept_property
from symbcast.core.solver.evaluation import as_relation, is_any_size, normal_conjuncts, replace_in_formula, symbols_in
from symbcast.core.solver.f1_names.relations import SameSize
from symbcast.core.solver.groups import RelationGroup, SymbolGroup, TiedSymbols
from symbcast.core.solver.points import point_cost
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple


class Assumed(Protocol):
    """Assumptions, as `symbcast.core.solver.decision.AssumptionSet` has them."""

    symbols: tuple[Symbol, ...]
    domains: dict[Symbol, SizeSet]
    values: dict[Symbol, Dim]
    weights: dict[Symbol, int]
    others: list[Formula]
    stated: frozenset[Formula]

    @classmethod
    def of_names(cls, symbols: Sequence[Symbol]) -> Self:
        """Return that nothing is known about some sizes."""


class Decided(Protocol):
    """What is decided about constraints, as `symbcast.core.solver.decision.Decision` has it."""

    part_of: dict[Symbol, SymbolGroup]

    @property
    def satisfiable(self) -> bool | None:
        """Whether they can hold; None if undecided."""


AssumedT = TypeVar("AssumedT", bound=Assumed)
Decide: TypeAlias = "Callable[[Any, Sequence[Formula]], Decided]"
"""Decides some constraints under assumptions."""
Copies: TypeAlias = "tuple[tuple[Symbol, ...], ...]"
"""Symbols that differ only in names, each as a tuple in the order of the question; the first one stands for all."""
Chosen: TypeAlias = "tuple[int, ...]"
"""The number of one copy in each class."""

# Fewer constraints are decided as they are: nothing is gained, and each of their sizes may play a role of its own.
_MANY = 16
_COPIES = 3
# At most so many numbers of clauses are tried as the limit from which on a symbol is shared.
_LIMITS = 8
# Units of effort for a clause that is compared with those of other copies.
_CLAUSE = 50


class Repeats(NamedTuple):
    """What repeats in a question.

    Attributes:
        merged: symbols that the constraints make equal, in the order of the question; the first one stands for all.
        copies: the classes of copies.
        clauses: the constraints in the symbols that stand for others, and those that no other one stands for.
    """

    merged: tuple[tuple[Symbol, ...], ...]
    copies: tuple[Copies, ...]
    clauses: list[Formula]

    @property
    def gone(self) -> set[Symbol]:
        """The symbols that others stand for."""
        merged = {s for members in self.merged for s in members[1:]}
        return merged | {s for copies in self.copies for copy in copies[1:] for s in copy}

    def representatives(self) -> dict[Symbol, Symbol]:
        """Return the symbol that stands for each symbol which is gone."""
        merged = {s: members[0] for members in self.merged for s in members[1:]}
        pairs = (zip(copy, copies[0], strict=True) for copies in self.copies for copy in copies[1:])
        own = dict(chain.from_iterable(pairs))
        return own | {s: own.get(first, first) for s, first in merged.items()}


def repeats_of(known: Assumed, constraints: Sequence[Formula]) -> Repeats | None:
    """Return what repeats in a question; None if too little does."""
    if len(constraints) < _MANY:
        return None
    clauses = normal_conjuncts(replace_in_formula(c, known.values) for c in constraints)
    if len(clauses) < _MANY or all(as_relation(c) is not None for c in clauses):
        return None  # the graph of names decides these in linear time
    tied = {s for f in known.others for s in symbols_in(f)}
    merged, clauses = _merged(known, clauses, tied)
    copies, clauses = _copies(known, clauses, tied | {s for members in merged for s in members})
    repeats = Repeats(merged, copies, clauses)
    # Merging alone pays if it leaves few symbols: chains of definitions between classes are not shorter for it.
    return repeats if copies or 2 * len(repeats.gone) > len(known.domains) else None


def _merged(
    known: Assumed, clauses: Sequence[Formula], tied: set[Symbol]
) -> tuple[tuple[tuple[Symbol, ...], ...], list[Formula]]:
    """Return the symbols that clauses make equal, and the other clauses about the first of each.

    Symbols of different domains are kept apart, as are those that assumptions tie to others.
    """
    domains, classes = known.domains, TiedSymbols(known.domains)
    others: list[Formula] = []
    for clause in clauses:
        pair = tuple(symbols_in(clause)) if isinstance(as_relation(clause), SameSize) else ()
        if len(pair) == 2 and domains[pair[0]] == domains[pair[1]] and tied.isdisjoint(pair):
            classes.tie_all(pair)
        else:
            others.append(clause)
    merged = tuple(tuple(members) for _, members in classes.all() if len(members) > 1)
    if not merged:
        return (), list(clauses)
    firsts: dict[Symbol, Dim] = {s: members[0] for members in merged for s in members[1:]}
    return merged, normal_conjuncts(replace_in_formula(c, firsts) for c in others)


def _copies(known: Assumed, clauses: Sequence[Formula], apart: set[Symbol]) -> tuple[tuple[Copies, ...], list[Formula]]:
    """Return the classes of copies that leave the fewest symbols, and the clauses about the first of each.

    ``apart`` are symbols that are in no copy.
    """
    counts = Counter(s for c in clauses for s in symbols_in(c))
    limits = sorted({n for n in counts.values() if n < len(clauses)})
    best: tuple[Copies, ...] = ()
    for limit in limits[:_LIMITS]:
        own = [s for s in known.domains if s in counts and counts[s] <= limit and s not in apart]
        found = tuple(_alike(known, clauses, own))
        if _left_out(found) > _left_out(best):
            best = found
    gone = {s for copies in best for copy in copies[1:] for s in copy}
    return best, [c for c in clauses if gone.isdisjoint(symbols_in(c))]


def _left_out(classes: Iterable[Copies]) -> int:
    return sum(len(copies[0]) * (len(copies) - 1) for copies in classes)


def _alike(known: Assumed, clauses: Sequence[Formula], own: Sequence[Symbol]) -> Iterator[Copies]:
    """Yield the classes of copies if ``own`` are the symbols that are not shared."""
    charge(_CLAUSE * len(clauses))
    ties = TiedSymbols(own)
    about: dict[Symbol, list[Formula]] = {}
    for clause in clauses:
        mine = [s for s in symbols_in(clause) if s in ties.parent]
        ties.tie_all(mine)
        if mine:
            about.setdefault(mine[0], []).append(clause)
    tied = {ties.find(s) for s, formulas in about.items() if any(symbols_in(f).keys() - ties.parent for f in formulas)}
    names = _names_apart(known.symbols)
    classes: dict[tuple[object, ...], list[tuple[Symbol, ...]]] = {}
    for first, members in ties.all():
        if first not in tied:
            continue  # nothing ties it to others: it is a group of its own, and like groups are decided once anyway
        standard: dict[Symbol, Dim] = {s: names(n) for n, s in enumerate(members)}
        renamed = frozenset(replace_in_formula(c, standard) for s in members for c in about.get(s, ()))
        kinds = tuple((known.domains[s], known.weights[s], is_any_size(s)) for s in members)
        classes.setdefault((kinds, renamed), []).append(tuple(members))
    return (tuple(copies) for copies in classes.values() if len(copies) >= _COPIES)


def _names_apart(symbols: Sequence[Symbol]) -> Callable[[int], Symbol]:
    """Return a function from numbers to symbols that are not among some."""
    taken, prefix = {s.name for s in symbols}, "copy"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return lambda number: symbol(f"{prefix}{number:03}")


def one_copy(known: AssumedT, repeats: Repeats, chosen: Chosen | None = None) -> AssumedT:
    """Return the assumptions about the symbols that stand for others, which have the weights of all of these.

    Their order is that of the first symbol that each stands for. With a copy ``chosen`` in each class, the weights and
    the order are those of this copy alone.
    """
    places = {s: n for n, s in enumerate(known.domains)}
    weights = {members[0]: sum(known.weights[s] for s in members) for members in repeats.merged}
    for n, copies in enumerate(repeats.copies):
        for k, first in enumerate(copies[0]):
            places[first] = places[copies[chosen[n]][k]] if chosen else min(places[copy[k]] for copy in copies)
            weights[first] = known.weights[first] * (1 if chosen else len(copies))
    gone = repeats.gone
    order = sorted((s for s in known.domains if s not in gone), key=places.__getitem__)
    kept = type(known).of_names(order)
    kept.domains = {s: known.domains[s] for s in order}
    kept.weights = {s: weights.get(s, known.weights[s]) for s in order}
    kept.others, kept.stated = list(known.others), known.stated
    return kept


class RepeatedGroup:
    """A group that stands for all its copies, and for the symbols that were merged into its own."""

    def __init__(self, part: SymbolGroup, repeats: Repeats, known: Assumed, decide: Decide) -> None:
        self.part = part
        self._known = known
        self._repeats = repeats
        self._decide = decide
        own = set(part.symbols)
        self._lone: dict[Chosen, SymbolGroup] = {}
        self._merged = [members for members in repeats.merged if members[0] in own]
        # A part may have only some of the symbols of a copy: the others are in another part.
        within = [[k for k, s in enumerate(copies[0]) if s in own] for copies in repeats.copies]
        self._classes = [
            tuple(tuple(copy[k] for k in mine) for copy in copies)
            for copies, mine in zip(repeats.copies, within, strict=True)
        ]
        self._copies = [copies for copies in self._classes if copies[0]]
        places = {s: n for n, s in enumerate(known.domains)}
        others = [s for members in self._merged for s in members[1:]]
        others += [s for copies in self._copies for copy in copies[1:] for s in copy]
        self.symbols = tuple(sorted((*part.symbols, *others), key=places.__getitem__))
        self._firsts: dict[Symbol, Dim] = {s: members[0] for members in self._merged for s in members[1:]}
        self.satisfiable = part.satisfiable
        self.violable = True if self._merged else part.violable
        self.tier = part.tier if part.tier is not None or not self._merged else Tier.F1

    @staticmethod
    def of(part: SymbolGroup, repeats: Repeats, known: Assumed, decide: Decide) -> SymbolGroup:
        """Return a group for all that a part stands for; the part if that is nothing else."""
        group = RepeatedGroup(part, repeats, known, decide)
        return group if group._merged or group._copies else part

    @property
    def reason(self) -> str:
        """Why something is undecided."""
        return self.part.reason

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""
        parts = (self.part, *self._lone.values())
        return next((part.evidence_reason for part in parts if part.evidence_reason), "")

    @kept_property
    def _instances(self) -> list[tuple[Formula, bool]]:
        """The clauses of all copies, and whether each may be redundant."""
        written: dict[Formula, bool] = {}
        dropped = self._implied_by_another_copy
        for clause in self.part.clauses:
            is_open = clause in self.part.unproven
            for names in self._renamings(clause):
                if (clause, bool(names)) not in dropped:
                    written.setdefault(replace_in_formula(clause, names), is_open)
        return list(written.items())

    def _renamings(self, clause: Formula) -> Iterator[dict[Symbol, Dim]]:
        """Yield what to replace in a clause for each copy; with several classes, for each copy of each class once.

        R(s, x, y) for pairs (xi, y1) and (x1, yj) has all constraints of each xi and each yj.
        """
        yield {}
        symbols = symbols_in(clause)
        for copies in self._copies:
            if not symbols.keys().isdisjoint(copies[0]):
                for copy in copies[1:]:
                    yield dict(zip(copies[0], copy, strict=True))

    @kept_property
    def _implied_by_another_copy(self) -> set[tuple[Formula, bool]]:
        """The clauses that two copies together make redundant: in all copies but the first, or in the first one.

        What holds for two copies holds for more: of the shared sizes, any other copy says the same as the second.
        """
        if not self._copies or self.part.unproven:
            return set()
        second: dict[Symbol, Dim] = {s: t for copies in self._copies for s, t in zip(*copies[:2], strict=True)}
        pairs = [(c, replace_in_formula(c, second)) for c in self.part.clauses]
        standing = dict.fromkeys(c for pair in pairs for c in pair)
        dropped: set[tuple[Formula, bool]] = set()
        for is_other in (True, False):
            for pair in pairs:
                clause = pair[is_other]
                if pair[0] != pair[1] and self._is_implied(clause, [c for c in standing if c != clause]):
                    del standing[clause]
                    dropped.add((pair[0], is_other))
        return dropped

    def _is_implied(self, clause: Formula, others: Sequence[Formula]) -> bool:
        near = _connected(clause, others)
        symbols = dict.fromkeys(s for f in (clause, *near, *self._known.others) for s in symbols_in(f))
        kept = type(self._known).of_names([s for s in self._known.domains if s in symbols])
        kept.domains = {s: self._known.domains[s] for s in kept.symbols}
        kept.others, kept.stated = list(self._known.others), self._known.stated
        return self._decide(kept, [*near, negate(clause)]).satisfiable is False

    @kept_property
    def clauses(self) -> list[Formula]:
        """The condition, irredundant: equalities as those of each size with the first of its class."""
        return _with_classes(self._merged, [clause for clause, _ in self._instances], self.symbols)

    @kept_property
    def unproven(self) -> set[Formula]:
        """The clauses that the others may imply."""
        return {clause for clause, is_open in self._instances if is_open} & set(self.clauses)

    @property
    def is_plain(self) -> bool:
        """Whether `constant` of a symbol takes no solver."""
        return not hasattr(self.part, "implies") and not hasattr(self.part, "like")

    def _own(self, dims: Sequence[Dim]) -> list[Dim] | None:
        """Return dimensions in the symbols of the part; None if they are about several copies."""
        merged = [replace_symbols(d, self._firsts) for d in dims]
        symbols = symbols_of(merged)
        names: dict[Symbol, Dim] = {}
        for copies in self._copies:
            touched = [copy for copy in copies if any(s in symbols for s in copy)]
            if len(touched) > 1:
                return None
            names.update((s, first) for copy in touched for s, first in zip(copy, copies[0], strict=True))
        return [replace_symbols(d, names) for d in merged]

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension has wherever the clauses hold."""
        own = self._own((dim,))
        return None if own is None else self.part.constant(own[0])

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is 1 or equals ``target`` wherever the clauses hold."""
        own = self._own((data, target))
        if own is None:
            return False
        return own[0] in (1, own[1]) or self.part.covers(own[0], own[1])

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy assumptions and clauses: the same in all copies."""
        return self._in_all(self.part.witness())

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions."""
        return self._in_all(self.part.base())

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a clause."""
        base = self.base()
        if base is None:
            return None
        points = [base | sizes for sizes in (*self._unequal(), *self._broken(base))]
        weights = self._known.weights
        return min(points, key=lambda sizes: point_cost(self.symbols, sizes, weights), default=None)

    def _unequal(self) -> Iterator[dict[Symbol, int]]:
        """Yield the least sizes of merged symbols that are not equal, for each class."""
        domains, weights = self._known.domains, self._known.weights
        for members in self._merged:
            same = [SameSize(members[0], s) for s in members[1:]]
            sizes = RelationGroup(members, domains, domains, same, weights).counterexample()
            if sizes is not None:
                yield sizes

    def _broken(self, base: dict[Symbol, int]) -> Iterator[dict[Symbol, int]]:
        """Yield the least sizes that break the part, in the copies that can be first in order.

        In two copies with equal sizes, the first symbol that is not at its least is the same one, say the k-th. So the
        point that is first in order breaks the copy whose k-th symbol is first, or last, for some k.
        """
        if not self.part.violable:
            return
        places = {s: n for n, s in enumerate(self.symbols)}
        for chosen in product(*(_ends(copies, places) for copies in self._classes)):
            sizes = self._lone_part(chosen).counterexample()
            if sizes is not None:
                numbered = zip(self._classes, chosen, strict=True)
                renamed = dict(chain.from_iterable(zip(copies[0], copies[n], strict=True) for copies, n in numbered))
                yield self._with_merged(base | {renamed.get(s, s): size for s, size in sizes.items()})

    def _lone_part(self, chosen: Chosen) -> SymbolGroup:
        """Return the part in which a copy has the weight of one, and the place of the chosen one."""
        if not self._copies:
            return self.part
        if chosen not in self._lone:
            decision = self._decide(one_copy(self._known, self._repeats, chosen), self._repeats.clauses)
            self._lone[chosen] = decision.part_of[self.part.symbols[0]]
        return self._lone[chosen]

    def _with_merged(self, sizes: dict[Symbol, int]) -> dict[Symbol, int]:
        return sizes | {s: sizes[members[0]] for members in self._merged for s in members[1:]}

    def _in_all(self, sizes: Mapping[Symbol, int] | None) -> dict[Symbol, int] | None:
        """Return the sizes of all symbols that those of the part stand for."""
        if sizes is None:
            return None
        whole = dict(sizes)
        for copies in self._copies:
            for copy in copies[1:]:
                whole.update({s: sizes[first] for s, first in zip(copy, copies[0], strict=True)})
        whole = self._with_merged(whole)
        return {s: whole[s] for s in self.symbols}


def _ends(copies: Copies, places: Mapping[Symbol, int]) -> tuple[int, ...]:
    """Return the numbers of the copies of which some symbol is first, or last, in order among all copies."""
    numbers = range(len(copies))
    ends = (
        end(numbers, key=[places[copy[k]] for copy in copies].__getitem__)
        for k in range(len(copies[0]))
        for end in (min, max)
    )
    return tuple(dict.fromkeys(ends)) or (0,)


def _connected(clause: Formula, others: Sequence[Formula]) -> list[Formula]:
    """Return the formulas that share symbols with a clause, directly or through others."""
    symbols = dict.fromkeys(s for f in (clause, *others) for s in symbols_in(f))
    ties = TiedSymbols(symbols)
    ties.tie((clause, *others))
    root = ties.find(next(iter(symbols_in(clause))))
    return [f for f in others if ties.find(next(iter(symbols_in(f)))) is root]


def _with_classes(
    merged: Sequence[tuple[Symbol, ...]], clauses: Sequence[Formula], order: Sequence[Symbol]
) -> list[Formula]:
    """Return clauses and equalities of sizes with each class written once: each size with the first one."""
    classes = TiedSymbols(order)
    for members in merged:
        classes.tie_all(members)
    pairs = {c: tuple(symbols_in(c)) for c in clauses if _is_equality(c)}
    for pair in pairs.values():
        classes.tie_all(pair)
    ahead = {root: members for root, members in classes.all() if len(members) > 1}
    written: list[Formula] = []
    for clause in clauses:
        if clause in pairs:
            written += _equalities(ahead.pop(classes.find(pairs[clause][0]), []))
        else:
            written.append(clause)
    return [*(c for members in ahead.values() for c in _equalities(members)), *written]


def _is_equality(clause: Formula) -> bool:
    return isinstance(clause, Comparison) and isinstance(as_relation(clause), SameSize)


def _equalities(members: Sequence[Symbol]) -> list[Formula]:
    """Return the equality of each size with the first one, which has no number in its name if any has none."""
    first = next((s for s in members if not any(map(str.isdigit, s.name))), members[0]) if members else None
    return [equal(first, s) for s in members if s is not first] if first is not None else []
