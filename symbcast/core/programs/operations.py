"""The operations of a program: how they were passed in, the requirements of each alone, and repeated ones.

The errors about them, and about invalid broadcasts, are data only. The layer that shows them writes the messages.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, NoneType
from typing import Any, Protocol, TypeAlias

from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import join_members
from symbcast.core.algebra.formulas import FALSE, AnyOf, Comparison, Compatible, Formula
from symbcast.core.algebra.symbols import SequenceSymbol, Unknown
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.characters import visible
from symbcast.core.effort import cached_uncounted
from symbcast.core.hooks import hooks
from symbcast.core.rules import Demand, Emission, Joined, OutputDim, Rule, find_rule, right_aligned
from symbcast.core.rules.declaration import REQUIRED_FORMULA, SIZE, Constraint, Origin
from symbcast.core.shapes import OpenShape, Shape, is_open, shape
from symbcast.core.solver.evaluation import normal_conjuncts
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import AnswerLike
from symbcast.errors import SymbcastError


def joins_spelled_out(formula: Formula) -> Formula:
    """Return a formula with its joins split into their members, where that is equivalent.

    This is equivalent given that these joins are defined: a join of joins is the join of all members;
    and if a join is 1 or ``t``, each of its members is 1 or ``t``.
    """
    match formula:
        case Compatible(dims):
            return Compatible(tuple(dict.fromkeys(m for d in dims for m in join_members(d))))
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same:
            members = join_members(data)
            return formulas.all_of(formulas.one_or_equal(m, target) for m in members) if len(members) > 1 else formula
        case _:
            return formula


def equalities(left: Shape, right: Shape) -> list[Formula]:
    """Return the equalities that make two shapes equal."""
    if left.rank != right.rank:
        return [FALSE]
    return [formulas.equal(a, b) for a, b in zip(left.values, right.values, strict=True)]


def size_requirements(dims: Iterable[Dim]) -> list[Formula]:
    """Return the requirements that make dimensions sizes: none for integers and symbols."""
    requirements: dict[Formula, None] = {}
    for dim in dims:
        if isinstance(dim, int):
            if dim < 0:  # a member of a join, not a size
                requirements[FALSE] = None
            continue
        if dim.is_Symbol:
            continue
        members = join_members(dim)
        if len(members) > 1:
            requirements[Compatible(members)] = None
            requirements.update(dict.fromkeys(size_requirements(members)))
        else:
            requirements.update(dict.fromkeys(formulas.definedness(dim)))
    return list(requirements)


Kind: TypeAlias = str
"""``"broadcast"``, ``"equal"``, ``"require"``, ``"assume"``, or the name of an operator, such as ``"matmul"``."""


# The rule for shapes that must be equal.
SAME = find_rule("none", {})


def emission_of(rule: Rule, operands: Sequence[Shape]) -> Emission:
    """Return the emission of a rule for shapes, whose ranks may be unknown."""
    dims = [s.values for s in operands]
    return rule.emit_open(dims) if any(map(is_open, operands)) else rule.emit(dims)


def demand_of(rule: Rule, operands: Sequence[Shape]) -> Demand:
    """Return the demand of a rule on shapes, whose ranks may be unknown."""
    dims = [s.values for s in operands]
    if not any(map(is_open, operands)):
        return rule.demand(dims)
    constraints, output = rule.emit_open(dims)
    return Demand(output, [c.requirement for c in constraints])


class Op(NamedTuple):
    """One operation of a `symbcast.ShapeEnv`.

    ``origin`` is the caller's name for it; ``operands`` are the shapes as passed, ``rule`` is the broadcast rule
    or the operator; ``formula`` and ``text`` are the requirement or assumption; ``output`` is the shape that
    was returned.
    """

    number: int
    kind: Kind
    origin: str | None
    operands: tuple[Shape, ...] = ()
    rule: Rule | None = None
    formula: Formula | None = None
    text: str = ""
    output: Shape | None = None

    @property
    def name(self) -> str:
        """Its display name: its origin, or its kind and number."""
        return self.origin if self.origin is not None else f"{self.kind}_{self.number}"

    @property
    def aligned(self) -> list[Sequence[Dim]]:
        """The operands of a broadcast as its rule aligns them: one axis represents all axes of unknown number."""
        dims: list[Sequence[Dim]] = [s.dims for s in self.operands]
        return self.rule.expand(dims) if self.rule is not None and any(map(is_open, self.operands)) else dims

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Its constraints, including those that make the dimensions of its operands sizes."""
        return (*self._size_constraints(), *self._own_constraints())

    def _size_constraints(self) -> Iterator[Constraint]:
        for position, operand in enumerate(self.operands):
            for axis, dim in enumerate(operand.dims):
                origin = Origin("size", (position,), axis, len(operand.dims), self.name)
                for need in size_requirements((dim,)):
                    yield Constraint(need, origin, SIZE)

    def _own_constraints(self) -> Iterator[Constraint]:
        if self.rule is not None:
            for constraint in emission_of(self.rule, self.operands).constraints:
                origin = constraint.origin._replace(operation=self.name)
                yield Constraint(constraint.requirement, origin, constraint.why, constraint.details)
        elif self.kind == "equal":
            for constraint in emission_of(SAME, self.operands).constraints:
                origin = constraint.origin._replace(rule="equal", operation=self.name)
                yield Constraint(constraint.requirement, origin, constraint.why, constraint.details)
        elif self.kind == "require" and self.formula is not None:
            for clause in formulas.clauses(self.formula):
                yield Constraint(clause, Origin("require", (), operation=self.name), REQUIRED_FORMULA)

    def __repr__(self) -> str:
        return f"<Op {visible(str(self))}>"

    def __str__(self) -> str:
        if self.rule is not None:
            return f"{self.name}: {self.rule.called} of {', '.join(map(str, self.operands))}"
        if self.kind == "equal":
            return f"{self.name}: {' equal to '.join(map(str, self.operands))}"
        return f"{self.name}: {self.kind} {self.text}"


def distinct_names(ops: Iterable[Op]) -> Iterator[str]:
    """Yield a name for each operation, different from all others: a name that was there before gets a number.

    >>> [*distinct_names([Op(0, "equal", "a"), Op(1, "equal", "a"), Op(2, "equal", "b"), Op(3, "equal", "a")])]
    ['a', 'a#2', 'b', 'a#3']
    """
    counts: dict[str, int] = {}
    for op in ops:
        name = op.name
        while name in counts:
            counts[op.name] += 1
            name = f"{op.name}#{counts[op.name]}"
        counts[name] = 1
        yield name


def operation_requirements(op: Op) -> tuple[Formula, ...]:
    """Return the requirements of an operation as distinct clauses in normal form, with nested joins flattened."""
    if op.kind == "assume":
        return ()
    distinct: dict[Formula, None] = {}
    for operand in op.operands:
        for dim in operand.dims:
            if not isinstance(dim, int) and not dim.is_Symbol:
                distinct.update(dict.fromkeys(_clauses_of_size(dim)))
    columns, required = columns_and_requirements(op)
    for column in columns:
        if isinstance(column, Joined):
            distinct.update(dict.fromkeys(_clauses_of_join(column)))
    distinct.update(dict.fromkeys(normal_conjuncts(required)))
    return tuple(distinct)


@cached_uncounted(4096)
def _clauses_of_size(dim: Dim) -> list[Formula]:
    return normal_conjuncts(size_requirements((dim,)))


@cached_uncounted(4096)
def _clauses_of_join(column: Joined) -> list[Formula]:
    return normal_conjuncts([joins_spelled_out(Compatible(tuple(column)))])


def columns_and_requirements(op: Op, demand: Demand | None = None) -> tuple[Sequence[OutputDim], list[Formula]]:
    """Return the output axes of an operation, and its requirements other than that the joins among them be defined.

    ``demand`` is that of its rule on its operands, if the caller knows it.
    """
    if op.kind in ("require", "assume"):
        assert op.formula is not None
        return (), list(formulas.clauses(op.formula))
    is_of_any_rank = any(map(is_open, op.operands))
    if op.rule is None and not is_of_any_rank:
        left, right = op.operands
        return left.values, equalities(left, right)
    rule = SAME if op.rule is None else op.rule
    if not is_of_any_rank and rule.is_join([s.dims for s in op.operands]):
        return [Joined(size for _, size in column) for column in right_aligned([s.values for s in op.operands])], []
    output, required = demand_of(rule, op.operands) if demand is None else demand
    return output, [f for formula in required for f in formulas.clauses(joins_spelled_out(formula))]


# Operations of a program that occurred before: recognised by what the caller wrote, without reading it again.
#
# A model repeats its layers, so nearly every operation of a long program is one that the program already has. Its
# requirements are then among the earlier ones, and its output changes only if more is known about its sizes.


Key: TypeAlias = "tuple[Hashable, ...]"
"""An operation as it was written: what is called with which attributes, then the operands.

Equal keys mean the same operation everywhere in one program, and equal first parts the same operator in all programs.
"""


class Repeatable(NamedTuple):
    """An operation of a program, its output axes before facts simplify them, and the state that its output is for."""

    op: Op
    columns: Sequence[OutputDim]
    state: int


def operation_key(kind: Hashable, attributes: Mapping[str, Any], shapes: Iterable[Any]) -> Key | None:
    """Return the key of an operation; None if one of its parts has none.

    Types are part of a key: ``(True, 3) == (1, 3)``, but the first is not a shape.

    >>> operation_key("transpose", {"order": (1, 0)}, ["N, 3"]), operation_key("reduce", {"axes": object()}, ["N"])
    ((('transpose', 'order', (1, 0)), 'N, 3'), None)
    """
    called: list[Hashable] = [kind]
    for name, value in attributes.items():
        frozen = value if type(value) in _EXACT else _frozen(value)
        if frozen is _NO_KEY:
            return None
        called += (name, frozen)
    key: list[Hashable] = [tuple(called)]
    for operand in shapes:
        own = type(operand)
        if own is str:
            key.append(operand)
        elif own is Shape or own is OpenShape:
            key.append(operand.raw)
        else:
            frozen = _frozen(operand)
            if frozen is _NO_KEY:
                try:
                    # The present sizes of the object, which may change.
                    frozen = shape(operand).raw
                except SymbcastError:
                    return None  # whoever reads it next reports the error
            key.append((own, frozen))
    return tuple(key)


def is_repeatable(read: Shape, value: object) -> bool:
    """Return whether an operand means the same each time that it is read: it makes no unknown sizes or sequences."""
    return isinstance(value, Shape) or not any(isinstance(s, _MADE_ANEW) for s in symbols_of(read.dims))


_MADE_ANEW = (Unknown, SequenceSymbol)
_NO_KEY = object()
# Types whose values are equal to no value of another of them.
_EXACT = frozenset({int, str, NoneType, EllipsisType})
_OTHERS = frozenset({bool, float})


def _frozen(value: Any) -> Hashable:
    """Return the key of an attribute or a tuple of sizes."""
    own = type(value)
    if own in _EXACT:
        frozen: Hashable = value
        return frozen
    if own in _OTHERS:
        return own, value
    if own is tuple or own is list:
        if _EXACT.issuperset(map(type, value)):
            return tuple(value)
        parts = tuple([_frozen(part) for part in value])
        return _NO_KEY if _NO_KEY in parts else parts
    if own.__module__ == "sympy.core.symbol" and own.__name__ == "Symbol":
        return own, value
    return _NO_KEY


# Errors about invalid broadcasts and programs, as data only.


class FailedAnswer(AnswerLike, Protocol):
    """An answer that an error is about."""

    def explain(self) -> str: ...


class BroadcastError(SymbcastError, ValueError):
    """A broadcast is not valid, or a program, model or function fails at the sizes that were asked for.

    ``result`` is the answer that it comes from, None if an operation was refused; ``binding`` is the requested sizes,
    None if there were none.
    """

    __module__ = "symbcast"  # the module where users find it, for tracebacks

    result: FailedAnswer | None

    def __init__(self, result: FailedAnswer, binding: Mapping[str, int] | None = None) -> None:
        super().__init__(result, binding)
        self.result = result
        self.binding = dict(binding) if binding is not None else None

    def __str__(self) -> str:
        return hooks.message(self)


class IncompatibleShapesError(BroadcastError):
    """The shapes never broadcast, or something fails at the requested sizes."""

    __module__ = "symbcast"  # the module where users find it, for tracebacks


class IncompatibleProgramError(IncompatibleShapesError):
    """No sizes allow an operation of a program together with the operations before it.

    ``operation`` is the refused one; ``operations`` are the fewest, including it, that cannot hold together.
    """

    __module__ = "symbcast"  # the module where users find it, for tracebacks

    def __init__(self, operation: Op, operations: Sequence[Op], assumptions: Sequence[str] = ()) -> None:
        SymbcastError.__init__(self, operation, operations, assumptions)
        self.operation = operation
        self.operations = tuple(operations)
        self.assumptions = tuple(assumptions)
        self.result = self.binding = None


class ConditionalBroadcastError(BroadcastError):
    """The shapes broadcast only for some sizes, but all were required."""

    __module__ = "symbcast"  # the module where users find it, for tracebacks
