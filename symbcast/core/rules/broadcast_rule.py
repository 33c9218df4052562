"""Rules: a placement says where axes lie, and a law says what each axis requires and outputs.

A rule never decides, prints, or raises errors about the validity of shapes; it only raises `RuleArgumentError` about
its own attributes. README.md in this folder explains how to add one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import ClassVar, NamedTuple, TypeAlias

from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, holds
from symbcast.core.algebra.symbols import is_sequence, merge_into_sequence
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.declaration import AttributeValue, Constraint, Origin, Reason, Remedy, RuleDeclaration
from symbcast.core.rules.laws import (
    EQUALS,
    JOINS,
    Ask,
    Join,
    Law,
    Onto,
    OutputDim,
    Relation,
    axis_columns,
    integer_output,
    relation_kind,
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
from symbcast.errors import RuleArgumentError


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
        elif self.law is None or self.law.takes_missing_as_one or all(n == base for n in opened):
            return expanded
        else:
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
            valid = all(holds(c.requirement) for c in emission.constraints)
            return tuple(map(integer_output, emission.output)) if valid else None
        if next(placement.refusals(ranks), None) is not None:
            return None
        columns, over = axis_columns(placement.places(ranks), shapes, placement.base(ranks))
        if over and not all(holds(ask.requirement) for n, size in over for ask in law.over(n, size)):
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

    def constraint(
        self,
        ask: Ask,
        axis: int | None = None,
        rank: int | None = None,
    ) -> Constraint:
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
    kind = None if law is None else relation_kind(law)
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
