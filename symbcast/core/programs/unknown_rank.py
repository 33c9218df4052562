"""Sequences of axes as the solver sees them: a size for each of the last axes, and one for all axes before them.

The solver knows sizes, but not the number of axes. A formula in which ``*a[:-1]`` and ``*b`` meet requires the
same of ``a[-2]`` and ``b[-1]``, of ``a[-3]`` and ``b[-2]``, and so on. If formulas distinguish the last axes, such as
one about ``a[-3]``, it is unrolled: once for each of these axes, and once more for all axes before them.

**Theorem.** Let every sequence be cut where its own last axes end, and let all formulas in which sequences meet cut
them at the same axis of the aligned shapes. Then the unrolled formulas hold, fail, or follow from each other
at some ranks and sizes exactly if they do so at some sizes of the symbols. *Proof.* From ranks and sizes to symbols: a
formula about the rests holds where it holds on all their axes, and fails where it fails on some. Take the sizes on that
axis, or on any, as those of the rests; a sequence that does not reach it has the size 1 there. From symbols to ranks
and sizes: let every rest have its size on one axis, at the place given by `_COLUMN` where that matters. Let the other
axes that a rank requires all have the least allowed size, at least 1. Neither these nor the 1 where a sequence does
not reach adds a requirement: a join of equal sizes and of ones is defined, data of size 1 or of the target's fits, and
sequences that must be equal have the same rank; for assumptions, `checked` ensures it. So formulas hold on all axes if
they do for the symbols, and fail on one if they fail for the symbols.

If formulas cut one sequence at two axes, as ``(*a, N)`` with ``*a`` does, no formula about one axis represents
all. Then ranks are tried up to a bound: answers cover only these ranks, and larger ones stay open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.formulas import TRUE, Formula, any_of, at_most, equal
from symbcast.core.algebra.symbols import AxisSequence, AxisSize, Rank, Rest, SequenceSymbol
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.programs.arguments import Assumption
from symbcast.core.solver.evaluation import in_normal_form, replace_in_formula, symbols_in
from symbcast.errors import AssumptionError

# Number of axes tried beyond the distinguished ones where no single axis represents all.
RANKS_TRIED = 2


class UnrolledSequences:
    """The depth to which each sequence in some formulas is unrolled.

    ``depths`` is the number of last axes of each that are distinguished. ``mixed`` are the sequences that formulas cut
    at several axes: these have no rest.
    """

    def __init__(self, formulas: Iterable[Formula], sequences: Iterable[AxisSequence], min_size: int) -> None:
        self.min_size = min_size
        by_formula = [list(symbols_in(f)) for f in formulas]
        self._cuts = _Cuts()
        self._least: dict[AxisSequence, int] = dict.fromkeys(sequences, 0)
        self.ranked: set[AxisSequence] = set()
        for symbols in by_formula:
            of_sequences = [s for s in symbols if isinstance(s, SequenceSymbol)]
            for s in of_sequences:
                self._least[s.sequence] = max(self._least.get(s.sequence, 0), s.place)
                if isinstance(s, Rank):
                    self.ranked.add(s.sequence)
            rests = [s for s in of_sequences if isinstance(s, Rest)]
            for other in rests[1:]:
                self._cuts.align(rests[0], other)
        groups: dict[AxisSequence, list[AxisSequence]] = {}
        for sequence in self._least:
            groups.setdefault(self._cuts.root(sequence)[0], []).append(sequence)
        self.mixed = frozenset(s for root, group in groups.items() if root in self._cuts.clashing for s in group)
        self.depths: dict[AxisSequence, int] = {}
        if min_size > 1:
            self.ranked.update(self._least)
        for group in groups.values():
            self._cut(group)

    def _cut(self, group: list[AxisSequence]) -> None:
        """Cut sequences that meet, all at one axis: in front of all their distinguished axes."""
        if self.mixed.issuperset(group):
            deepest = max(self._least[s] for s in group) + RANKS_TRIED
            self.depths.update(dict.fromkeys(group, deepest))
            return
        places = {s: self._cuts.root(s)[1] for s in group}
        beyond = max(self._least[s] - place for s, place in places.items())
        self.depths.update((s, beyond + place) for s, place in places.items())

    def formulas(self, formula: Formula) -> Iterator[Formula]:
        """Yield the instances of a formula: one for each distinguished axis, and one for all others at once."""
        rests = [s for s in symbols_in(formula) if isinstance(s, Rest)]
        if not rests:
            yield formula
            return
        for n in range(1, max(self.depths[s.sequence] - s.place for s in rests) + 1):
            yield replace_in_formula(formula, {s: self._axis(s.sequence, s.place + n) for s in rests})
        if self.mixed.isdisjoint(s.sequence for s in rests):
            yield replace_in_formula(formula, {s: s.sequence.rest(self.depths[s.sequence]) for s in rests})

    def known(self, assumptions: Iterable[Assumption]) -> list[Assumption]:
        """Return the assumptions, and the facts about sizes that follow from ranks, in these symbols.

        Raises `AssumptionError` for a relation about all axes of sequences that fails if all of these are 1, as axes
        that do not exist are.
        """
        assumed = [
            Assumption(f, a.text) for a in assumptions for f in self.formulas(axis_checked_formula(a, self.min_size))
        ]
        return [*assumed, *map(Assumption, self.links())]

    def _axis(self, sequence: AxisSequence, place: int) -> Dim:
        return sequence.axis(place) if place <= self.depths[sequence] else 1

    def symbols(self, order: Iterable[Symbol]) -> list[Symbol]:
        """Return symbols, replacing the first one of each sequence by all symbols of that sequence."""
        distinct: dict[Symbol, None] = {}
        for s in order:
            distinct.update(dict.fromkeys(self._symbols_of(s.sequence) if isinstance(s, SequenceSymbol) else [s]))
        return list(distinct)

    def _symbols_of(self, sequence: AxisSequence) -> list[Symbol]:
        depth = self.depths[sequence]
        ranks = [sequence.rank] if sequence in self.ranked else []
        rests = [] if sequence in self.mixed else [sequence.rest(depth)]
        return [*ranks, *(sequence.axis(n) for n in range(1, depth + 1)), *rests]

    @property
    def reason(self) -> str:
        """Why answers cover only some ranks; empty if they cover all."""
        if not self.mixed:
            return ""
        name = next(s.text for s in self.depths if s in self.mixed)
        bound = min(self.depths[s] for s in self.mixed)
        return f"axes of {name} meet others of the same sequence: ranks were tried up to {bound}"

    def named(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> dict[str, int]:
        """Return sizes by name; those of a sequence's axes together, as ``batch=(2, 3)``."""
        by_name: dict[str, Any] = {}
        axes = self.folded(sizes)
        for s, name in names.items():
            if isinstance(s, SequenceSymbol):
                by_name.setdefault(s.sequence.name, axes[s.sequence])
            else:
                by_name[name] = sizes[s]
        return by_name

    def folded(self, sizes: Mapping[Symbol, int]) -> dict[AxisSequence, tuple[int, ...]]:
        """Return the sizes of the axes of each sequence, with as few axes as the sizes of its symbols allow."""
        folded: dict[AxisSequence, tuple[int, ...]] = {}
        for sequence, depth in self.depths.items():
            rest = sizes.get(sequence.rest(depth), 1)
            axes = [sizes[sequence.axis(n)] for n in range(1, depth + 1)]
            rank = sizes.get(sequence.rank)
            if rank is None:
                rank = depth + 1 if rest != 1 else max((n for n, size in enumerate(axes, 1) if size != 1), default=0)
            # One axis has the size of the rest; on the others, all sequences that reach them have the same size.
            others = [max(self.min_size, 1)] * (rank - depth)
            if len(others) > (column := sizes.get(_COLUMN, 0)):
                others[column] = rest
            folded[sequence] = tuple(reversed([*axes, *others][:rank]))
        return folded

    def links(self) -> Iterator[Formula]:
        """Yield the facts about sizes implied by ranks: 1 for a missing axis, at least the minimum size for others."""
        for sequence, depth in self.depths.items():
            if sequence not in self.ranked:
                continue
            rank, is_mixed = sequence.rank, sequence in self.mixed
            if is_mixed:
                yield at_most(rank, depth)
            places: list[tuple[Dim, Dim]] = [(n, sequence.axis(n)) for n in range(1, depth + 1)]
            if not is_mixed:
                places.append((add(depth + 1, _COLUMN) if self.min_size > 1 else depth + 1, sequence.rest(depth)))
            for place, size in places:
                yield any_of((at_most(place, rank), equal(size, 1)))
                if self.min_size > 1:
                    yield any_of((at_most(add(rank, 1), place), at_most(self.min_size, size)))

    @property
    def hidden(self) -> list[Symbol]:
        """Return the symbols that are neither sizes nor ranks of a question."""
        return [_COLUMN] if self.min_size > 1 else []


# Number of axes between the last distinguished axes and the one where rests have their sizes.
#
# With a least size above 1, existing and missing axes differ, so it matters which axis it is.
_COLUMN = AxisSequence("").rank


def axis_checked_formula(assumption: Assumption, min_size: int) -> Formula:
    """Return the formula of an assumption or requirement.

    Raises `AssumptionError` unless its formulas about sequences hold if all or some of these have no axes, and if all
    other axes have the minimum size, at least 1, which `UnrolledSequences.folded` gives to axes about which nothing
    else is known.
    """
    formula = assumption.formula
    rests = [s for s in symbols_in(formula) if isinstance(s, Rest)]
    # Where axes may have the size 1, the axes in front of some can have that size in all sequences alike.
    missing = range(len(rests) + 1) if min_size > 1 else [len(rests)]
    for some in chain.from_iterable(combinations(rests, count) for count in missing if rests):
        ones: dict[Symbol, Dim] = {s: 1 if s in some else max(min_size, 1) for s in rests}
        if in_normal_form(replace_in_formula(formula, ones)) != TRUE:
            axes = "axes that do not exist" if some else f"existing axes, whose sizes are at least {min_size}"
            hint = "name the axis, as batch[-1], or state the rank"
            raise AssumptionError(f"{assumption.text!r} might not hold for {axes}", hint=hint)
    return formula


class _Cuts:
    """Alignment of sequences, as union-find: which axes lie under each other, and the offset between two ends."""

    def __init__(self) -> None:
        self._parents: dict[AxisSequence, tuple[AxisSequence, int]] = {}
        self._clashing: list[AxisSequence] = []

    def root(self, sequence: AxisSequence) -> tuple[AxisSequence, int]:
        """Return the root of the sequences aligned with one, and by how many axes its end lies further on."""
        distance = 0
        while sequence in self._parents:
            sequence, step = self._parents[sequence]
            distance += step
        return sequence, distance

    def align(self, left: Rest, right: Rest) -> None:
        """Align two rests."""
        (first, here), (second, there) = self.root(left.sequence), self.root(right.sequence)
        apart = (left.place - here) - (right.place - there)
        if first != second:
            self._parents[first] = second, apart
        elif apart:
            self._clashing.append(first)

    @property
    def clashing(self) -> set[AxisSequence]:
        """The roots of sequences that are aligned with themselves at another axis."""
        return {self.root(s)[0] for s in self._clashing}


def sizes_at(symbols: Iterable[Symbol], values: Mapping[AxisSequence, Sequence[int]]) -> dict[Symbol, int]:
    """Return the size of each symbol of a sequence: that of a rest is the size of its first axis."""
    sizes: dict[Symbol, int] = {}
    for s in symbols:
        if isinstance(s, SequenceSymbol) and s.sequence in values:
            axes = values[s.sequence]
            place = s.place + 1 if isinstance(s, Rest) else s.place
            if isinstance(s, Rank):
                sizes[s] = len(axes)
            elif isinstance(s, (AxisSize, Rest)):
                sizes[s] = axes[-place] if place <= len(axes) else 1
    return sizes
