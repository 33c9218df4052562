"""Rules: a placement says where axes lie, and a law says what each axis requires and outputs.

A rule never decides, prints, or raises errors about the validity of shapes; it only raises `RuleArgumentError` about
its own attributes. README.md in this folder explains how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import ClassVar, TypeAlias

from symbcast.core.algebra import arithmetic, formulas
from symbcast.core.algebra.formulas import FALSE, TRUE, Compatible, Formula
from symbcast.core.algebra.symbols import axis_of, is_sequence, merge_into_sequence, rank_of, without_last
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.declaration import (
    EQUAL,
    JOIN,
    ONTO,
    AttributeValue,
    Constraint,
    Detail,
    Origin,
    Reason,
    Remedy,
    RuleDeclaration,
)
from symbcast.core.rules.placement import (
    AtRight,
    Dims,
    Placement,
    Places,
    Refusal,
    decide_rank_comparison,
    rank_of_shape,
)
from symbcast.core.structs import NamedTuple
from symbcast.errors import RuleArgumentError, UnknownRankError

# Axis laws: what a rule requires of the sizes that meet on one axis, and the size that results.


class Joined(tuple["Dim", ...]):
    """An output dimension given by its members: it is their join, even where that simplifies to something else."""

    __slots__ = ()


OutputDim: TypeAlias = "Dim | Joined"

JOINS, EQUALS, ONTO_TARGET = range(3)
Relation: TypeAlias = "tuple[int, tuple[Dim, ...]]"
"""A requirement without its origin: the join of the sizes is defined (`JOINS`), the two are equal (`EQUALS`), or the
first is 1 or equal to the second (`ONTO_TARGET`)."""

_NO_DETAILS: Mapping[str, Detail] = {}


class Column(NamedTuple):
    """The sizes that meet on one axis.

    ``axis`` is counted from the front of the aligned shapes. ``operands`` and ``sizes`` are parallel, in the order
    of the operands that reach the axis; ``base`` is the operand that the others are laid onto, or None.
    """

    axis: int
    operands: tuple[int, ...]
    sizes: tuple[Dim, ...]
    base: int | None

    @property
    def base_size(self) -> Dim:
        """The size of the base there, or the first size if there is no base."""
        return self.sizes[0 if self.base is None else self.operands.index(self.base)]

    def others(self) -> Iterator[tuple[int, Dim]]:
        """Yield the operands other than the base, or than the first one if there is no base, with their sizes."""
        base = self.operands[0] if self.base is None else self.base
        return ((n, size) for n, size in zip(self.operands, self.sizes, strict=True) if n != base)


class Ask(NamedTuple):
    """One requirement of a law: the formula, the operands that it is about, and the reason."""

    requirement: Formula
    operands: tuple[int, ...]
    why: Reason
    details: Mapping[str, Detail] = _NO_DETAILS


class Law(ABC):
    """The requirement of a rule on one axis.

    Attributes:
        reasons: The reasons of its requirements.
        stretches_base: Whether the operand that the others are laid onto may be stretched too.
        takes_missing_as_one: Whether a missing axis of an operand is equivalent to one of size 1.
    """

    stretches_base: ClassVar[bool] = False
    takes_missing_as_one: ClassVar[bool] = False

    @property
    @abstractmethod
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of its requirements."""

    @abstractmethod
    def asks(self, column: Column) -> Iterator[Ask]:
        """Yield the requirements on the sizes that meet on an axis."""

    @abstractmethod
    def output(self, column: Column) -> OutputDim:
        """Return the size that results on an axis where all requirements hold."""

    def over(self, operand: int, size: Dim) -> Iterator[Ask]:
        """Yield the requirements on a size that hangs over; none, unless the law overrides this."""
        return iter(())

    def value(self, column: Column) -> int | None:
        """Return the resulting size if all sizes are integers, None if a requirement does not hold.

        It follows from `asks` and `output`; a law may compute it faster.
        """
        return (
            integer_output(self.output(column))
            if all(formulas.holds(a.requirement) for a in self.asks(column))
            else None
        )


class Join(Law):
    """The sizes other than 1 must be equal; the output is that size, or 1.

    >>> list(Join().asks(Column(0, (0, 1), (3, 4), None)))[0].requirement
    Compatible((3, 4))
    """

    stretches_base: ClassVar[bool] = True
    takes_missing_as_one: ClassVar[bool] = True

    def __init__(self, why: Reason = JOIN) -> None:
        self.why = why

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,)

    def asks(self, column: Column) -> Iterator[Ask]:
        # One formula of all sizes, not one for each neighbour: 2 goes with 1, and 1 with 3, but 2 not with 3.
        if len(column.sizes) > 1:
            yield Ask(Compatible(column.sizes), column.operands, self.why)

    def output(self, column: Column) -> OutputDim:
        # Not the maximum: 0 beside 1 is 0.
        return Joined(column.sizes) if len(column.sizes) > 1 else next(iter(column.sizes), 1)


class Equal(Law):
    """All sizes must be equal; the output is that size. ``details`` fill in the wording of ``why``."""

    # A missing axis asks for nothing, and a size of 1 in its place would: so not `takes_missing_as_one`.

    def __init__(self, why: Reason = EQUAL, details: Mapping[str, Detail] = _NO_DETAILS) -> None:
        self.why = why
        self.details = details

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,)

    def asks(self, column: Column) -> Iterator[Ask]:
        first = column.operands[0] if column.base is None else column.base
        # Equality is transitive, so comparing all with one is enough.
        for n, size in column.others():
            yield Ask(formulas.equal(column.base_size, size), (min(first, n), max(first, n)), self.why, self.details)

    def output(self, column: Column) -> OutputDim:
        return column.base_size

    def value(self, column: Column) -> int | None:
        base = column.base_size
        return integer_output(base) if all(size == base for size in column.sizes) else None


class Onto(Law):
    """Each size must be 1 or equal to that of the base, which is the output.

    If ``past_end`` is given, a size that hangs over must be 1, for that reason.
    """

    takes_missing_as_one: ClassVar[bool] = True

    def __init__(self, why: Reason = ONTO, past_end: Reason | None = None) -> None:
        self.why = why
        self.past_end = past_end

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,) if self.past_end is None else (self.why, self.past_end)

    def asks(self, column: Column) -> Iterator[Ask]:
        assert column.base is not None
        for n, size in column.others():
            requirement = formulas.one_or_equal(size, column.base_size)
            yield Ask(requirement, (min(n, column.base), max(n, column.base)), self.why)

    def output(self, column: Column) -> OutputDim:
        return column.base_size

    def value(self, column: Column) -> int | None:
        base = column.base_size
        return integer_output(base) if all(size in (1, base) for size in column.sizes) else None

    def over(self, operand: int, size: Dim) -> Iterator[Ask]:
        if self.past_end is not None:
            yield Ask(formulas.equal(size, 1), (operand,), self.past_end)


# The kinds of the relations that laws require. A class derived from one of these laws may require something else.
_RELATED: dict[type[Law], int] = {Join: JOINS, Equal: EQUALS, Onto: ONTO_TARGET}

AT_MOST = Reason("at-most", "B's size must not exceed A's", (Remedy.TRANSPOSE, Remedy.SET_ONE))


class JoinAtMost(Join):
    """Like `Join`, but no size may exceed that of the base."""

    stretches_base: ClassVar[bool] = False
    # Where A is 0, a size of 1 in B exceeds it, and a missing axis of B does not.
    takes_missing_as_one: ClassVar[bool] = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why, AT_MOST)

    def asks(self, column: Column) -> Iterator[Ask]:
        yield from super().asks(column)
        for n, size in column.others():
            base = column.operands[0] if column.base is None else column.base
            yield Ask(formulas.at_most(size, column.base_size), (min(base, n), max(base, n)), AT_MOST)


def axis_columns(
    places: Places, shapes: Sequence[Dims], base: int | None
) -> tuple[list[Column], list[tuple[int, Dim]]]:
    """Return one column for each axis of the shapes as laid, and the sizes that hang over, with their operands."""
    rank = places.rank
    operands: list[tuple[int, ...]] = [()] * rank
    sizes: list[tuple[Dim, ...]] = [()] * rank
    over: list[tuple[int, Dim]] = []
    for n, axes in enumerate(places.of):
        for axis, size in zip(axes, shapes[n], strict=True):
            # A placement may be refused, and is shown anyway: its axes may lie before the front or past the end.
            if 0 <= axis < rank:
                operands[axis] += (n,)
                sizes[axis] += (size,)
            else:
                over.append((n, size))
    return [Column(axis, operands[axis], sizes[axis], base) for axis in range(rank)], over


def integer_output(output: OutputDim) -> int:
    """Return the size of an output axis if all sizes are integers whose joins are defined."""
    if isinstance(output, Joined):
        # Where the join is defined, all sizes other than 1 are equal: any of them is its value.
        output = next((size for size in output if size != 1), 1)
    assert isinstance(output, int)
    return output


def right_aligned(shapes: Sequence[Dims]) -> list[tuple[tuple[int, Dim], ...]]:
    """Return, for each axis of the right-aligned shapes, the operands that reach it and their sizes there."""
    rank = max(map(len, shapes), default=0)
    return [
        tuple((n, s[axis - rank + len(s)]) for n, s in enumerate(shapes) if axis - rank + len(s) >= 0)
        for axis in range(rank)
    ]


# When output axes, given by the sizes that meet there, have the same size.


def members_of(output: OutputDim) -> tuple[Dim, ...]:
    """Return the sizes whose join an output axis is; an axis that is not a join is its only member."""
    return tuple(output) if isinstance(output, Joined) else (output,)


def same_size(left: OutputDim, right: OutputDim) -> Formula:
    """Return the formula that holds exactly where two output axes are equal, at sizes where both joins are defined.

    Each member of one is 1 or a member of the other. If the joins are equal to a size other than 1, that size is a
    member of both; if they are 1, so are all members. Conversely, a member other than 1 is the join of its own axis,
    and also that of the other axis, as it is a member there.

    >>> same_size(Joined((2, 3)), 3)
    AnyOf((Comparison('==', 2, 1), Comparison('==', 2, 3)))
    """
    return formulas.all_of((*_among(members_of(left), members_of(right)), *_among(members_of(right), members_of(left))))


def _among(members: Sequence[Dim], others: Sequence[Dim]) -> Iterator[Formula]:
    """Yield the formulas that each member is 1 or one of the others, except where this is obvious."""
    # A member that is 1 says nothing about the other axis, so 1 among the others is left out: `member == 1` is there.
    for member in members:
        if member != 1 and member not in others:
            yield formulas.any_of(
                [formulas.equal(member, 1), *(formulas.equal(member, other) for other in others if other != 1)]
            )


def same_output(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    """Return the formula that holds exactly where two outputs are equal, at sizes where all their joins are defined."""
    if len(left) != len(right):
        return FALSE
    return formulas.all_of(same_size(a, b) for a, b in zip(left, right, strict=True))


def same_open_output(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    """Return the formula of `same_output` for outputs that may start with a sequence of axes; ranks must be equal too.

    Raises `UnknownRankError` if sizes precede a sequence.

    >>> from symbcast.core.algebra.symbols import AxisSequence
    >>> a = AxisSequence("a")
    >>> same_open_output((a.rest(), 3), (3,))
    AllOf((Comparison('==', rank(a) + 1, 1), Comparison('==', *a, 1)))
    """
    for output in (left, right):
        if any(map(_is_open, output[1:])):
            raise UnknownRankError("equivalent, where sizes precede a sequence", "an output")
    reach = max(sum(not _is_open(dim) for dim in output) for output in (left, right))
    # The axes in front of `reach` are those of sequences only: one axis speaks for all of them (`unknown_rank.py`).
    (here, ours), (there, theirs) = _opened(left, reach), _opened(right, reach)
    return formulas.all_of((_same_rank(left, right), same_size(here, there), *map(same_size, ours, theirs)))


def open_axes(output: Sequence[OutputDim]) -> int | None:
    """Return the number of output axes that represent several axes; None if these do not come first."""
    is_open = list(map(_is_open, output))
    return None if any(is_open[1:]) else sum(is_open)


def _is_open(dim: OutputDim) -> bool:
    return any(map(is_sequence, members_of(dim)))


def _opened(output: Sequence[OutputDim], reach: int) -> tuple[OutputDim, list[OutputDim]]:
    """Return the axes before the last ``reach`` ones, and the last ones; missing axes have the size 1."""
    known = [dim for dim in output if not _is_open(dim)]
    front = members_of(output[0]) if len(known) < len(output) else (1,)
    named = reach - len(known)
    axes = [Joined(axis_of(m, n) for m in front) for n in range(named, 0, -1)]
    return Joined(without_last(m, named) for m in front), [*axes, *known]


def _same_rank(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    ranks = [rank_of_output(left), rank_of_output(right)]
    return TRUE if ranks[0] == ranks[1] else formulas.equal(*ranks)


def rank_of_output(output: Sequence[OutputDim]) -> Dim:
    """Return the rank as a term over the ranks of sequences."""
    known = sum(not _is_open(dim) for dim in output)
    if known == len(output):
        return known
    # Sequences that join are aligned at the right, so the longest one decides how many axes there are.
    ranks = [arithmetic.add(rank_of(m), known) for m in members_of(output[0]) if is_sequence(m)]
    return ranks[0] if len(ranks) == 1 else arithmetic.maximum(ranks)


class Emission(NamedTuple):
    """The result of applying a rule to shapes: its constraints, and the output axes if these hold."""

    constraints: list[Constraint]
    output: tuple[OutputDim, ...]


class Demand(NamedTuple):
    """What an emission says without the reasons: the output axes, and the requirements under which it is right."""

    output: Sequence[OutputDim]
    asked: Sequence[Formula]


class Instead(NamedTuple):
    """Another rule, or other attributes of the same one, that may be suggested if a rule refuses shapes.

    ``rule`` is empty for the rule itself.
    """

    rule: str = ""
    attributes: Mapping[str, AttributeValue] = {}


class Rule(RuleDeclaration):
    """One framework's broadcast rule with its attributes set; immutable.

    A rule declares a `placement` and a `law`: as class attributes or, if they depend on the rule's attributes, as
    properties. These determine its emission; a rule whose law is not about single axes overrides `emit`.

    Attributes:
        own_reasons: The reasons that its own `emit` gives in addition to those of its placement and its law.
    """

    own_reasons: ClassVar[tuple[Reason, ...]] = ()

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` for a wrong number of operands, or for attributes that do not fit their ranks."""
        self.check_number(len(shapes))

    def check_operands(self, shapes: Sequence[Dims]) -> Demand | None:
        """Check shapes like `check_shapes`, for shapes that may have unknown rank; return their demand if known."""
        is_of_any_rank = any(map(is_sequence, chain.from_iterable(shapes)))
        self.check_shapes(self.expand(shapes) if is_of_any_rank else shapes)
        return None

    @property
    def placement(self) -> Placement:
        """Where the axes of the operands lie: aligned at the right, unless the rule defines another placement."""
        return _AT_RIGHT

    @property
    def law(self) -> Law | None:
        """The law of an axis; None only for a rule with an `emit` of its own."""
        return None

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of all constraints that the rule may emit."""
        of_law = () if self.law is None else self.law.reasons
        return tuple(dict.fromkeys((*self.placement.reasons, *of_law, *self.own_reasons)))

    @property
    def remedies(self) -> frozenset[Remedy]:
        """The kinds of changes that may be suggested if the rule refuses shapes."""
        return frozenset(remedy for reason in self.reasons for remedy in reason.remedies)

    @property
    def instead(self) -> tuple[Instead, ...]:
        """Alternatives that may be suggested: another rule, or other attributes."""
        return ()

    def laid(self, ranks: Sequence[int]) -> tuple[Placement, Law | None]:
        """Return the placement and the law for operands of some ranks: the rule's own, unless they depend on ranks."""
        return self.placement, self.law

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Return the constraints on the operands and the output dimensions, as placement and law give them."""
        ranks = [len(s) for s in shapes]
        placement, law = self.laid(ranks)
        if law is None:
            raise TypeError(f"the rule {self.name!r} has neither a law nor an emit of its own")
        base = placement.base(ranks)
        constraints = [self._refused(r) for r in placement.refusals(ranks)]
        if constraints and base is not None:
            return Emission(constraints, tuple(shapes[base]))
        columns, over = axis_columns(placement.places(ranks), shapes, base)
        output: list[OutputDim] = []
        for column in columns:
            here = self.law_at(column.axis, law)
            constraints.extend([self.constraint(ask, column.axis, len(columns)) for ask in here.asks(column)])
            output.append(here.output(column))
        for operand, size in over:
            constraints.extend(self.constraint(ask) for ask in law.over(operand, size))
        return Emission(constraints, tuple(output))

    def demand(self, shapes: Sequence[Dims]) -> Demand:
        """Return what `emit` does, without the reasons and without requirements that hold at all sizes."""
        constraints, output = self.emit(shapes)
        return Demand(output, [c.requirement for c in constraints])

    @property
    def is_uniform(self) -> bool:
        """Whether all axes have the same law, whatever their number."""
        return self.law is not None and type(self).law_at is Rule.law_at

    def expand(self, shapes: Sequence[Dims]) -> list[Dims]:
        """Return shapes, some of unknown rank, laid as `Placement.expand` does.

        Raises `RuleArgumentError` if the rule does not define its behaviour for sequences of axes.
        """
        self.check_number(len(shapes))
        opened = [n for n, s in enumerate(shapes) if any(map(is_sequence, s))]
        if not opened:
            return list(shapes)
        expanded = self.placement.expand(shapes) if self.is_uniform else None
        base = self.placement.base([len(s) for s in shapes])
        if expanded is None:
            depends = "the alignment of the axes depends on it"
            problem = depends if self.is_uniform else "the rule does not broadcast all axes alike"
        else:
            decides = self.law is None or self.law.takes_missing_as_one or self.placement.misses_none
            if decides or all(n == base for n in opened):
                return expanded
            problem = "the rule does not treat a missing axis as size 1"
        text = f"the rank of {self.operand_name(opened[0])} is not known, and {problem}"
        raise RuleArgumentError(self.name, text, "ask for each rank separately")

    def emit_open(self, shapes: Sequence[Dims]) -> Emission:
        """Return the constraints on shapes, some of unknown rank, and the output.

        `expand` lays out the shapes, with a single axis for all axes of a sequence beyond the known ends. That one axis
        represents all of them. On each of these axes, the same sequences meet by the same law, and each has its own
        size there, or 1 where it has no such axis, which adds no requirement. So the constraints hold on all these
        axes, or fail on some, exactly when they hold, or fail, on the one axis.
        """
        expanded = self.expand(shapes)
        requirements = [
            (decide_rank_comparison(f), why) for f, why in self.placement.rank_asks([rank_of_shape(s) for s in shapes])
        ]
        ranks = [self.constraint(Ask(formula, *why)) for formula, why in requirements if formula != TRUE]
        if any(c.requirement == FALSE for c in ranks):
            return Emission(ranks, tuple(expanded[self.placement.base([len(s) for s in shapes]) or 0]))
        emission = self.emit(expanded)
        places = self.places([len(s) for s in expanded])
        axes = (
            a for of, s in zip(places.of, expanded, strict=True) for a, d in zip(of, s, strict=True) if is_sequence(d)
        )
        sequence = next(axes, None)
        sized = [
            Constraint(c.requirement, c.origin._replace(sequence=sequence), c.why, c.details)
            for c in emission.constraints
        ]
        return Emission([*ranks, *sized], emission.output)

    def at_sizes(self, shapes: Sequence[Dims]) -> Rule:
        """Return the rule for integers in these shapes: itself, unless it depends on how their sizes are written."""
        return self

    def law_at(self, axis: int, law: Law) -> Law:
        """Return the law of one axis of the aligned shapes: the same for all axes unless the rule overrides this."""
        return law

    def rolled(self, shapes: Sequence[Dims], output: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the output of shapes of unknown rank, merging axes that `expand` named into the base's sequence.

        The base has these axes only if it is long enough. Axes that the base itself names stay.
        """
        base = self.placement.base([len(s) for s in shapes]) if self.placement.has_base_rank else None
        return tuple(output) if base is None else merge_into_sequence(output, len(output) - len(shapes[base]))

    def places(self, ranks: Sequence[int]) -> Places:
        """Return where the axes of operands of the given ranks lie."""
        return self.laid(ranks)[0].places(ranks)

    def concrete(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the output of integer shapes, None if the rule refuses them, without making constraints."""
        ranks = [len(s) for s in shapes]
        placement, law = self.laid(ranks)
        if law is None or type(self).emit is not Rule.emit:
            emission = self.emit(shapes)
            valid = all(formulas.holds(c.requirement) for c in emission.constraints)
            return tuple(map(integer_output, emission.output)) if valid else None
        if next(placement.refusals(ranks), None) is not None:
            return None
        columns, over = axis_columns(placement.places(ranks), shapes, placement.base(ranks))
        if over and not all(formulas.holds(ask.requirement) for n, size in over for ask in law.over(n, size)):
            return None
        output: list[int] = []
        for column in columns:
            size = self.law_at(column.axis, law).value(column)
            if size is None:
                return None
            output.append(size)
        return tuple(output)

    def is_join(self, shapes: Sequence[Dims]) -> bool:
        """Return whether the only requirement on the shapes, aligned at the right, is that each axis has a join.

        The engine represents such questions by masks, its fastest form. It follows from placement and law.
        """
        own, ranks = type(self), [len(s) for s in shapes]
        placement, law = self.laid(ranks)
        if own.emit is not Rule.emit or own.law_at is not Rule.law_at or type(law) is not Join:
            return False
        return type(placement) is AtRight and next(placement.refusals(ranks), None) is None

    def relations(self, shapes: Sequence[Dims]) -> list[Relation] | None:
        """Return what `emit` requires as relations of sizes, without reasons and origins.

        None if the ranks are refused, or if the rule requires anything else. It follows from placement and law.
        """
        plan = _plan(self, tuple([len(s) for s in shapes]))
        if plan is None:
            return None
        return [(kind, tuple([shapes[n][axis] if n >= 0 else 1 for n, axis in sizes])) for kind, sizes in plan]

    def constraint(self, ask: Ask, axis: int | None = None, rank: int | None = None) -> Constraint:
        """Return a constraint of this rule; ``axis`` is one of ``rank`` aligned axes, None for whole shapes."""
        return Constraint(ask.requirement, Origin(self.name, ask.operands, axis, rank), ask.why, ask.details)

    def _refused(self, refusal: Refusal) -> Constraint:
        """Return an unsatisfiable constraint, for shapes whose ranks already exclude a broadcast."""
        return self.constraint(Ask(FALSE, *refusal))


_AT_RIGHT = AtRight()

_Plan: TypeAlias = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""The relations of a rule for some ranks: the kind of each, and the operand and axis of each size; -1 means size 1."""


@lru_cache(maxsize=1024)
def _plan(rule: Rule, ranks: tuple[int, ...]) -> _Plan | None:
    """Return the plan of a rule, which depends on ranks alone; None if it refuses them, or has no relations."""
    if type(rule).emit is not Rule.emit or not (type(rule).law_at is Rule.law_at or rule.is_uniform):
        return None
    placement, law = rule.laid(ranks)
    kind = None if law is None else _RELATED.get(type(law))
    if kind is None or next(placement.refusals(ranks), None) is not None:
        return None
    base = placement.base(ranks)
    rank, places = placement.places(ranks)
    columns: list[list[tuple[int, int]]] = [[] for _ in range(rank)]
    relations: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    for n, axes in enumerate(places):
        if len(axes) != ranks[n]:
            return None  # `check_shapes` refuses them
        for own, axis in enumerate(axes):
            if 0 <= axis < rank:
                columns[axis].insert(0 if n == base else len(columns[axis]), (n, own))
            elif isinstance(law, Onto) and law.past_end is not None:
                relations.append((EQUALS, ((n, own), (-1, 0))))
            else:
                return None
    for column in columns:
        if kind == JOINS:
            relations.append((JOINS, tuple(sorted(column))))
        else:
            first, others = column[:1], column[1:]
            relations += [(kind, (*first, s) if kind == EQUALS else (s, *first)) for s in others]
    return tuple(relations)
