"""Find the nodes to blame for each clause of a model's condition, the reason, and the operands that meet there.

A node requires a clause by itself if its own requirements imply it. Such a node fails wherever the clause does, so
only nodes that fail at the counterexample are candidates. The first of them is asked; if it can run where the clause
fails, sizes at which it does are the next counterexample, at which fewer nodes fail. If the nodes asked so far imply
the clause together and none does alone, the clause is joint: ``H % 6 == 0``, of ``H % 2 == 0`` and ``H % 3 == 0``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.words import Namer
from symbcast.answers.findings import Sizes, failing_constraint, shape_at, texts_at
from symbcast.answers.program_report import dims_data
from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.bounds import quotient_required_whole
from symbcast.core.algebra.formulas import (
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    clauses,
    dims_of,
    equal,
    negate,
)
from symbcast.core.algebra.symbols import SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import Dim, Operation, Symbol
from symbcast.core.characters import shorten_middle
from symbcast.core.effort import CALL, EffortSpentError, share
from symbcast.core.programs.arguments import Assumption
from symbcast.core.programs.operations import Op, operation_requirements
from symbcast.core.programs.program import Program, assumptions_with
from symbcast.core.rules.declaration import Constraint
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.decision import ContradictionError, Decision
from symbcast.core.solver.evaluation import AxisSizes, holds_at, replace_in_formula, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.graphs.walking.facts import quotients_of
from symbcast.graphs.walking.requirements import NodePlace, RequirementReason, Requirements, located_reason
from symbcast.operators.values.contents import sizes_of
from symbcast.operators.values.value import (
    CommonShape,
    OptionalValue,
    SequenceValue,
    Value,
    is_of_unknown_rank,
    known_dims,
)

if TYPE_CHECKING:
    import sympy

    from symbcast.graphs.model import CheckedModel


def complete_sizes(
    checked: CheckedModel, known_sizes: Mapping[str, int], clauses: Iterable[Formula] = ()
) -> Sizes | None:
    """Return the given sizes with those of all other symbols, as small as the clauses allow."""
    names = checked.env.shown
    if checked.asker.sequences:
        return _completed_axes(checked, known_sizes, clauses)
    sizes = {s: known_sizes[name] for s, name in names.items() if name in known_sizes}
    if len(sizes) == len(names):
        return sizes
    try:
        known = assumptions_with(checked.env, [equal(s, size) for s, size in sizes.items()])
    except ContradictionError:
        return None
    return Decision(known, clauses).witness()


def _completed_axes(checked: CheckedModel, known_sizes: Mapping[str, Any], clauses: Iterable[Formula]) -> Sizes | None:
    """Do what `complete_sizes` does if some of the given sizes are sizes of axes in sequences."""
    names, sizes = checked.env.shown, dict(known_sizes)
    sequences = sequences_of(names)
    plain = {s: name for s, name in names.items() if not isinstance(s, SequenceSymbol)}
    if not sizes.keys() >= {*plain.values(), *(s.name for s in sequences)}:
        env = Program(on_conflict="record")
        known = [equal(s, sizes[name]) for s, name in plain.items() if name in sizes]
        for s in (s for s in sequences if s.name in sizes):
            axes = sizes[s.name]
            known += [equal(s.rank, len(axes)), *(equal(s.axis(n), d) for n, d in enumerate(reversed(axes), 1))]
        for symbol in names:
            env.met(symbol)
        env.assume(*checked.env.assumptions, *map(Assumption, known))
        env.require(*map(Assumption, clauses))
        sizes = {**(env.witness() or {}), **sizes}
    if not sizes.keys() >= {*plain.values(), *(s.name for s in sequences)}:
        return None
    return AxisSizes({s: sizes[name] for s, name in plain.items()}, {s: sizes[s.name] for s in sequences})


class OperationRequirements:
    """The operations of an environment, and the requirements of each."""

    def __init__(self, env: Program) -> None:
        self._env = env

    @cached_property
    def _required_by_operation(self) -> list[tuple[Op, tuple[Formula, ...]]]:
        return [(op, required) for op in self._env.operations if (required := operation_requirements(op))]

    @cached_property
    def _by_formula(self) -> dict[Hashable, list[Op]]:
        operations: dict[Hashable, list[Op]] = defaultdict(list)
        for op, formulas in self._required_by_operation:
            for formula in formulas:
                operations[_formula_key(formula)].append(op)
        return operations

    def of(self, clause: Formula, failing: Sizes | None) -> Sequence[Op]:
        """Return the operations that require exactly this clause, after earlier ones that fail where it does.

        If none requires exactly this clause, return those that fail; if none fails, search for the fewest operations
        that imply it, which may take long.
        """
        exact = self.exactly(clause)
        failed = self.failing(failing) if failing else []
        if exact:
            return [*(op for op in failed if op.number < exact[0].number), *exact]
        return failed or self._env.requirement(clause).origins

    def exactly(self, clause: Formula) -> Sequence[Op]:
        """Return the operations that have exactly this requirement."""
        return self._by_formula.get(_formula_key(clause), [])

    def requiring_whole(self, quotients: Container[Operation], before: int) -> Iterator[tuple[Op, Formula]]:
        """Yield the operations before a number that require one of some quotients to be whole, with the requirement."""
        for op, formulas in self._required_by_operation:
            for f in formulas if op.number < before else ():
                if isinstance(f, Comparison) and quotient_required_whole(f) in quotients:
                    yield op, f

    def requirements_of(self, node: str | None) -> list[Formula]:
        """Return all requirements of a node on sizes."""
        return [
            f for op, required in self._required_by_operation if op.origin == node for f in required if symbols_in(f)
        ]

    def failing(self, sizes: Sizes) -> list[Op]:
        """Return the operations that are not valid at the given sizes."""
        return [op for op, formulas in self._required_by_operation if not all(holds_at(f, sizes) for f in formulas)]


def _formula_key(formula: Formula) -> Hashable:
    """Return a key that is equal for formulas that differ only in order."""
    match formula:
        case Comparison("==" | "!=" as operator, left, right):
            return operator, frozenset((left, right))
        case Comparison():
            return formula
        case AllOf(parts) | AnyOf(parts):
            return type(formula), frozenset(map(_formula_key, parts))
        case _:
            return type(formula), frozenset(formula.dims)


# Descriptions of values that are not tensors: sequences, and optional values.


class SequenceShape(NamedTuple):
    """What is known about a sequence.

    Attributes:
        length: the number of its elements.
        common: the shape that its elements share, with None for a size in which they may differ; None if
            their ranks may differ.
        items: the shape of each element, if all are known.
    """

    length: int | sympy.Expr
    common: tuple[int | sympy.Expr | None, ...] | None
    items: tuple[Shape | None, ...] | None


class OptionalShape(NamedTuple):
    """The shape of an optional value if it is present, and when it is present, as far as these are known."""

    held: Shape | SequenceShape | None
    condition: Condition


def sequence_shapes(values: Mapping[str, Value]) -> dict[str, SequenceShape]:
    """Return the sequences among values by name."""
    return {name: _sequence(v) for name, v in values.items() if isinstance(v, SequenceValue)}


def optional_shapes(values: Mapping[str, Value]) -> dict[str, OptionalShape]:
    """Return the optional values by name."""
    return {name: _optional(v) for name, v in values.items() if isinstance(v, OptionalValue)}


def _sequence(value: SequenceValue) -> SequenceShape:
    common = None if value.common is None else tuple(None if d is None else _plain(d) for d in value.common)
    items = None if value.items is None else tuple(_shape(i) for i in value.items)
    return SequenceShape(_plain(value.length), common, items)


def _optional(value: OptionalValue) -> OptionalShape:
    inner = _sequence(value.inner) if isinstance(value.inner, SequenceValue) else _shape(value.inner)
    return OptionalShape(inner, Condition(value.is_there))


def _shape(value: Value | None) -> Shape | None:
    return None if value is None or value.shape is None else shape_of(value.shape)


def _plain(dim: Dim) -> Any:
    return shape_of((dim,))[0]


def sequence_to_dict(value: SequenceValue, namer: Namer) -> dict[str, Any]:
    """Return a sequence as data for JSON."""

    def sizes_data(dims: Any) -> list[int | str | None] | None:
        return None if dims is None else [None if d is None else dims_data((d,), namer)[0] for d in dims]

    items = None if value.items is None else [sizes_data(i.shape) for i in value.items]
    return {"length": dims_data((value.length,), namer)[0], "common": sizes_data(value.common), "items": items}


def optional_to_dict(value: OptionalValue, namer: Namer) -> dict[str, Any]:
    """Return an optional value as data for JSON."""
    inner: Any = None
    if isinstance(value.inner, SequenceValue):
        inner = sequence_to_dict(value.inner, namer)
    elif value.inner is not None and value.inner.shape is not None:
        inner = dims_data(value.inner.shape, namer)
    return {"held": inner, "condition": namer.formula(value.is_there)}


# The maximum number of elements whose shapes are listed.
_SHOWN = 3


def describe_value(value: Value | None, text: Callable[[Dim], str]) -> str:
    """Return a description of a value that is not a tensor, its sizes formatted by ``text``; empty for tensors."""
    if isinstance(value, OptionalValue):
        inner = describe_value(value.inner, text) or (
            _listed(value.inner.shape, text) if value.inner is not None else ""
        )
        return f"optional {inner}".strip()
    if not isinstance(value, SequenceValue):
        return ""
    if value.items and len(value.items) <= _SHOWN:
        return f"a sequence of {' and '.join(_listed(i.shape, text) for i in value.items)}"
    length = text(value.length)
    return f"a sequence of {length}" + (f", each {_listed(value.common, text)}" if value.common is not None else "")


def _listed(dims: CommonShape, text: Callable[[Dim], str]) -> str:
    if dims is None:
        return "an unknown shape"
    sizes = ["?" if d is None else text(d) for d in dims]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


# How many operands are shown of a node.
SHOWN = 2
# The maximum number of elements to show instead of the shape of an operand that holds the node's parameters.
_LISTED = 8


class NodeBlame(NamedTuple):
    """A node with a requirement, and the part of it that fails: ``broken`` is None if none is known to fail."""

    place: NodePlace
    op: Op
    broken: Constraint | None

    @property
    def requirement(self) -> Formula | None:
        """The requirement of the node: the part of it that fails, or else all of it."""
        return self.broken.requirement if self.broken is not None else self.op.formula

    def reason(self, asker: Requirements) -> str:
        """Return why the node requires it, with the axis counted from both ends if it is about one axis."""
        if self.op.kind == "require":
            return self._required(asker).text
        if self.broken is None:
            return ""
        return located_reason(self.place.inputs, [s.dims for s in self.op.operands], self.broken)

    def meeting(self, asker: Requirements) -> tuple[Dim, ...]:
        """Return the sizes that must be equal or broadcast, if that requirement fails; otherwise none."""
        if self.op.kind == "require":
            return _joined(self._required(asker).formula)
        return () if self.broken is None else _joined(self.broken.requirement)

    def code(self, asker: Requirements) -> str:
        """Return the code of the reason; empty if the operator words the reason itself."""
        if self.op.kind == "require":
            return self._required(asker).code
        return "" if self.broken is None else self.broken.code

    def _required(self, asker: Requirements) -> RequirementReason:
        assert self.op.formula is not None
        return asker.reasons.get((self.place.name, self.op.formula), RequirementReason())

    def shown(self) -> tuple[int, ...]:
        """Return the positions, among the given operands, of those that meet where it fails."""
        values = [v for v in self.place.inputs if v is not None]
        dims = {d for d in dims_of(self.requirement) if d != 1} if self.requirement is not None else set()
        touched = {n: dims & {*(known_dims(v) or ()), *(content_of(n, v) or ())} for n, v in enumerate(values)}
        first = next((n for n, sizes in touched.items() if sizes), 0)
        others = [n for n in range(len(values)) if n != first]
        # Prefer the other side of the failure, then any other operand involved, then the first one.
        second = sorted(others, key=lambda n: (not touched[n] - touched[first], not touched[n], n))[: SHOWN - 1]
        return tuple(sorted([first, *second]))[: len(values)]


def _joined(formula: Formula) -> tuple[Dim, ...]:
    """Return the sizes that a formula compares: two that must be equal, or those that must broadcast."""
    match formula:
        case Compatible(dims):
            return tuple(dict.fromkeys(d for d in dims if d != 1))
        case Comparison("==", left, right) if 0 not in (left, right):  # else it is about a remainder, not a size
            return left, right
        case AnyOf(parts) if parts and all(isinstance(p, Comparison) and p.operator == "==" for p in parts):
            sizes = dict.fromkeys(d for d in dims_of(formula) if d != 1)
            return tuple(sizes) if len(sizes) == 2 else ()
        case _:
            return ()


def blame(asker: Requirements, ops: Sequence[Op], sizes: Sizes | None, clause: Formula = TRUE) -> NodeBlame | None:
    """Return the first of some operations that fails at the given sizes, or else the first one.

    If several of its requirements fail, prefer the one worded like the clause.
    """
    known = [op for op in ops if op.origin in asker.places]
    for op in known if sizes is not None else ():
        assert op.origin is not None and sizes is not None
        constraint = failing_constraint(op, sizes, clause)
        if constraint is not None:
            return NodeBlame(asker.places[op.origin], op, constraint)
    return next((NodeBlame(asker.places[op.origin], op, None) for op in known if op.origin is not None), None)


def content_of(position: int, value: Value) -> tuple[Dim, ...] | None:
    """Return the elements of an integer, or a short list of integers, that a node takes after its first operand."""
    if not position or value.shape is None or len(value.shape) > 1:
        return None
    length = value.shape[0] if value.shape else 1
    if not isinstance(length, int) or length > _LISTED:
        return None
    return sizes_of(value.content, value.shape)


def shapes_at(blamed: NodeBlame, sizes: Sizes) -> str:
    """Return the operands that meet, at the given sizes: ``(1, 64, 25) and (1, 64, 26)``."""
    values = [v for v in blamed.place.inputs if v is not None]
    return " and ".join(_at(n, values[n], sizes) for n in blamed.shown())


def _at(position: int, value: Value, sizes: Sizes) -> str:
    content = content_of(position, value)
    if content is not None:
        listing = ", ".join(texts_at(content, sizes))
        return shorten_middle(f"[{listing}]" if value.shape else listing, 60)
    dims = known_dims(value)
    if dims is None or is_of_unknown_rank(dims):
        return shorten_middle(describe_value(value, lambda d: texts_at([d], sizes)[0]), 60) or "an unknown shape"
    return shape_at(dims, sizes)


# How many nodes are asked about one clause.
_MOST_NODES = 8
# The units for one clause: the answer about other clauses must not suffer from it.
_EFFORT = CALL // 6
# The most requirements of nodes to search for the fewest that imply a clause.
_PARTS = 12


class FailureEvidence(NamedTuple):
    """Sizes of inputs at which something fails, by name; and all sizes of the model there."""

    failing: dict[str, int] | None
    sizes: Sizes | None


class JointRequirement(NamedTuple):
    """One node's share of a joint clause: its operations, what it requires, and where it fails."""

    ops: tuple[Op, ...]
    required: Formula
    evidence: FailureEvidence


class BlamedOperations(NamedTuple):
    """The operations that a clause comes from, those of the node to blame first, and where it fails.

    ``parts`` are the shares of nodes that require it together only, those that only require larger sizes last; else
    empty.
    """

    ops: Sequence[Op]
    evidence: FailureEvidence
    parts: tuple[JointRequirement, ...] = ()


class _FirstFailure(NamedTuple):
    """A node that fails first at some sizes, with its requirements."""

    node: str | None
    required: Formula
    evidence: FailureEvidence


class BlameFinder:
    """Finds the nodes behind clauses of one model; ``theirs`` maps the model's sizes to those of its condition."""

    def __init__(
        self, checked: CheckedModel, requirements: OperationRequirements, theirs: Mapping[Symbol, Symbol]
    ) -> None:
        self._checked = checked
        self._requirements = requirements
        self._theirs = theirs

    def first(self, clause: Formula) -> FailureEvidence:
        """Return the smallest sizes at which a conjunct of the condition fails."""
        return self._evidence(self._checked.conditions.inputs.counterexample(clause))

    def blamed(self, clause: Formula, whole: Formula, first: FailureEvidence) -> BlamedOperations:
        """Return the nodes behind a conjunct of the condition, which fails at ``first``.

        ``whole`` is the same over the model's own sizes. If that takes too long, these are the nodes that fail there.
        """
        if not self._checked.asker.sequences:  # implications are decided for sizes; one axis may stand for several
            with suppress(EffortSpentError), share(_EFFORT):
                return self._search(clause, whole, first)
        return self.at_once(whole, first)

    def at_once(self, whole: Formula, first: FailureEvidence) -> BlamedOperations:
        """Return the nodes with exactly this requirement, or else those that fail at some sizes."""
        return BlamedOperations(self._requirements.of(whole, first.sizes), first)

    def _search(self, clause: Formula, whole: Formula, first: FailureEvidence) -> BlamedOperations:
        exact = self._requirements.exactly(whole)
        own = {op.origin for op in exact}
        evidence, failures = first, list[_FirstFailure]()
        for _ in range(_MOST_NODES):
            failed = [] if evidence.sizes is None else self._requirements.failing(evidence.sizes)
            if not failed:
                break
            node = failed[0].origin
            if node in own:
                mine = [op for op in exact if op.origin == node]
                return self._alone([*mine, *_others(exact, node)], evidence, failures, whole)
            failures.append(_FirstFailure(node, all_of(self._requirements.requirements_of(node)), evidence))
            evidence = self._beyond(clause, whole, [f.required for f in failures])
            if evidence.failing is None:
                break
        if exact:
            return self._alone(exact, first, failures, whole)
        if failures and evidence.failing is None and self._implied(whole, [f.required for f in failures]):
            return self._own_or_joint(whole, failures)
        return self.at_once(whole, first)

    def _own_or_joint(self, whole: Formula, failures: Sequence[_FirstFailure]) -> BlamedOperations:
        """Return the node that implies a clause by itself, or the nodes that imply it together."""
        for one in failures:
            if len(failures) == 1 or self._implied(whole, [one.required]):
                assert one.evidence.sizes is not None
                failed = self._requirements.failing(one.evidence.sizes)
                ops = [*(o for o in failed if o.origin == one.node), *_others(failed, one.node)]
                return self._alone(ops, one.evidence, failures, whole)
        shares = [(one, f) for one in failures for f in self._requirements.requirements_of(one.node)]
        if len(shares) <= _PARTS:
            shares = _fewest(shares, lambda few: self._implied(whole, [f for _, f in few]))
        parts = [self._part(one, [f for other, f in shares if other is one]) for one in failures]
        return _joint(p for p in parts if p is not None)

    def _alone(
        self, ops: Sequence[Op], evidence: FailureEvidence, failures: Sequence[_FirstFailure], whole: Formula
    ) -> BlamedOperations:
        """Return the node of the first operation; with those whose requirements its own was simplified by."""
        known = {one.node: one.evidence for one in failures}
        others = {c for c in self._checked.env.clauses if c != whole}
        own = [op for op in ops if op.origin == ops[0].origin]
        parts: dict[tuple[int, Formula], JointRequirement] = {}
        for op in own:
            reason = self._checked.asker.reasons.get((op.origin or "", op.formula)) if op.formula is not None else None
            if reason is None or not isinstance(reason.formula, Comparison) or not isinstance(op.formula, Comparison):
                continue
            # ``length == 7`` is ``batch*length // 7 == batch`` where a node before requires that 7 divide
            # ``batch*length``: if no other clause says the latter, it is a share of this one.
            gone = {*quotients_of(reason.formula)} - {*quotients_of(op.formula)}
            for other, formula in self._requirements.requiring_whole(gone, op.number):
                if formula not in others:
                    parts[other.number, formula] = JointRequirement(
                        (other,), formula, known.get(other.origin, evidence)
                    )
                    parts.setdefault((op.number, op.formula), JointRequirement((op,), reason.formula, evidence))
        return _joint(parts.values()) if parts else BlamedOperations(ops, evidence)

    def _part(self, one: _FirstFailure, shares: Sequence[Formula]) -> JointRequirement | None:
        """Return a node's share of a joint clause, simplified under the assumptions; None if it has none."""
        if not shares:
            return None
        assert one.evidence.sizes is not None
        ops = tuple(op for op in self._requirements.failing(one.evidence.sizes) if op.origin == one.node)
        try:
            required = all_of(Decision(assumptions_with(self._checked.env), shares).clauses)
        except ContradictionError:
            required = all_of(shares)
        return JointRequirement(ops, required, one.evidence)

    def _evidence(self, failing: dict[str, int] | None) -> FailureEvidence:
        return FailureEvidence(failing, None if failing is None else complete_sizes(self._checked, failing))

    def _beyond(self, clause: Formula, whole: Formula, required: Sequence[Formula]) -> FailureEvidence:
        """Return sizes at which a clause fails and some nodes run, with the other clauses holding if possible."""
        env, inputs = self._checked.env, self._checked.conditions.inputs
        others = [c for c in inputs.clauses if c != clause]
        own = [replace_in_formula(f, self._theirs) for f in required]
        if symbols_in(all_of(own)).keys() <= inputs.shown.keys():
            failing = inputs.failing(any_of((clause, negate(all_of([*others, *own])))))
            return self._evidence(failing or inputs.failing(any_of((clause, negate(all_of(own))))))
        return self._evidence(env.failing(any_of((whole, negate(all_of(required))))))

    def _implied(self, whole: Formula, required: Iterable[Formula]) -> bool:
        """Return whether a clause is proved to hold wherever some requirements and the assumptions do."""
        try:
            known = assumptions_with(self._checked.env)
        except ContradictionError:
            return False
        return Decision(known, [any_of((whole, negate(all_of(required))))]).verdict is Verdict.ALWAYS


def _joint(parts: Iterable[JointRequirement]) -> BlamedOperations:
    ordered = tuple(sorted(parts, key=lambda part: (_only_bounds(part), part.ops[0].number)))
    return BlamedOperations([op for part in ordered for op in part.ops], ordered[0].evidence, ordered)


def _only_bounds(part: JointRequirement) -> bool:
    """Return whether a node only requires larger sizes, as of windows that must fit: others explain a clause better."""
    return all(isinstance(c, Comparison) and c.operator in ("<=", "<") for c in clauses(part.required))


def _others(ops: Iterable[Op], node: str | None) -> list[Op]:
    return [op for op in ops if op.origin != node]


def _fewest(
    shares: Sequence[tuple[_FirstFailure, Formula]], implied: Callable[[Sequence[tuple[_FirstFailure, Formula]]], bool]
) -> list[tuple[_FirstFailure, Formula]]:
    """Return few shares that imply the clause: nodes met later require more, so the last ones are tried first."""
    needed = list(next((shares[n:] for n in reversed(range(len(shares))) if implied(shares[n:])), shares))
    for one in needed[1:]:
        rest = [s for s in needed if s is not one]
        if implied(rest):
            needed = rest
    return needed
