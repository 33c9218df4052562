"""Operators of a program: shape functions, each declared once, recorded and found by name; and their argument.

The argument of a shape function is a `Context`: knowledge about sizes, and methods that state requirements.
"""

from __future__ import annotations

from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar, cast

from symbcast.core.algebra import formulas, symbols
from symbcast.core.algebra.arithmetic import floor_divide, join, join_members, modulo
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import FALSE, TRUE, Compatible, Formula
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules import AttributeValue, Demand, Emission, Joined, Kind, OutputDim, Parameter, Rule, find_rule
from symbcast.core.rules.declaration import Constraint, Origin, Reason
from symbcast.core.solver.evaluation import evaluated
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text
from symbcast.errors import OperatorError, RuleArgumentError
from symbcast.operators import attributes as attribute_types
from symbcast.operators.reach import Reach, ReachError, expose_axes, is_of_each_axis, is_shape, of_one_rank, put_back

# The argument of shape functions.


Dims: TypeAlias = "tuple[Dim, ...]"

TWICE = "no axis may be named twice"


class Context(ABC):
    """One operation of a program, as a shape function sees it.

    A shape function states its requirements with `equal`, `at_most`, `is_size`, `require` and `broadcast`, each with a
    reason for users: a clause that says what must hold, such as ``"the inner sizes must be equal"``. It refuses errors
    that no sizes could fix, such as a wrong rank.
    """

    @cached_property
    def bounds(self) -> Bounds:
        """Known lower bounds of sizes; unless a subclass knows more, that sizes are not negative."""
        return Bounds({})

    @abstractmethod
    def require(self, formula: Formula, reason: str) -> None:
        """Require that a formula hold."""

    @abstractmethod
    def refuse(self, reason: str) -> NoReturn:
        """Report that the operation is valid at no sizes, because of its ranks or attributes, and abort it."""

    def refuse_if(self, is_wrong: object, reason: str) -> None:
        """Refuse the operation if its ranks or attributes are wrong."""
        if is_wrong:
            self.refuse(reason)

    @abstractmethod
    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        """Broadcast shapes by one of the project's rules, and return the output."""

    def equal(self, left: Dim, right: Dim, reason: str) -> None:
        """Require that two sizes be equal."""
        if left is not right and left != right:
            self.require(formulas.equal(left, right), reason)

    def at_most(self, left: Dim, right: Dim, reason: str) -> None:
        """Require that one size be at most another."""
        if not self.bounds.is_at_most(left, right):
            self.require(formulas.at_most(left, right), reason)

    def one_of(self, size: Dim, allowed: Iterable[Dim], reason: str) -> None:
        """Require that a size be one of the allowed ones."""
        self.require(formulas.any_of(formulas.equal(size, a) for a in allowed), reason)

    def divide(self, size: Dim, count: Dim, reason: str) -> Dim:
        """Require that a size be a multiple of a count, and return the quotient."""
        self.require(formulas.equal(modulo(size, count), 0), reason)
        return floor_divide(size, count)

    def same_shape(self, dims: Dims, expected: Dims, reason: str) -> None:
        """Require that two tensors have the same shape."""
        if len(dims) != len(expected):
            self.refuse(reason)
        for left, right in zip(dims, expected, strict=True):
            self.equal(left, right, reason)

    def is_size(self, dim: Dim, reason: str) -> None:
        """Require that a dimension be defined and not negative."""
        needs = ([] if dim >= 0 else [FALSE]) if isinstance(dim, int) else formulas.definedness(dim)
        for need in needs:
            self.require(need, reason)

    def are_sizes(self, dims: Iterable[Dim], reason: str) -> None:
        """Require that each dimension be defined and not negative."""
        for dim in dims:
            self.is_size(dim, reason)

    def filled(self, dims: Iterable[Dim], reason: str) -> None:
        """Require that no size be 0."""
        for dim in dims:
            self.at_most(1, dim, reason)

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail; None if that depends on the sizes."""
        value = evaluated(formula)
        return True if value == TRUE else False if value == FALSE else None

    def is_positive(self, dims: Iterable[Dim]) -> bool:
        """Return whether all sizes are known to be at least 1."""
        return all(self.bounds.is_at_least(d, 1) for d in dims)

    def empty(self, dims: Iterable[Dim]) -> Formula:
        """Return the condition that one of the given sizes is 0."""
        return formulas.any_of(formulas.equal(d, 0) for d in dims if not self.bounds.is_at_least(d, 1))

    def axis(self, axis: int, rank: int) -> int:
        """Return an axis counted from the front; refuse one that is out of range."""
        if not -rank <= axis < rank:
            counted = f"{rank} {'axis' if rank == 1 else 'axes'}"
            self.refuse(f"axis {axis} is out of range for {counted}{f' ({-rank} to {rank - 1})' if rank else ''}")
        return axis % rank if rank else 0

    def distinct_axes(self, axes: Iterable[int], rank: int, reason: str) -> list[int]:
        """Return axes counted from the front; refuse an axis that is named twice, for the given reason."""
        counted = [self.axis(a, rank) for a in axes]
        if len(set(counted)) < len(counted):
            self.refuse(reason)
        return counted


# Shapes that an operand must have: weights, states, caches and masks.


class OptionalOperand(NamedTuple):
    """An optional operand: its name, and its shape if known."""

    name: str
    dims: Dims | None


def expect_shape(context: Context, what: str, dims: Dims | None, expected: Sequence[Dim | None]) -> None:
    """Require that an operand, if known, have the given shape; None means any size."""
    if dims is None:
        return
    if len(dims) != len(expected):
        context.refuse(f"{what} must have rank {len(expected)}, but has {len(dims)}")
    for axis, (size, target) in enumerate(zip(dims, expected, strict=True)):
        if target is not None:
            context.equal(size, target, f"axis {axis} of {what} must be {dim_text(target)}")


def expect_one_of(context: Context, what: str, dims: Dims | None, allowed: Sequence[Dims], reason: str) -> None:
    """Require that an operand, if known, have one of the allowed shapes."""
    if dims is None:
        return
    shapes = [shape for shape in allowed if len(shape) == len(dims)]
    if not shapes:
        ranks = ", ".join(str(n) for n in sorted({len(shape) for shape in allowed}))
        context.refuse(f"the rank of {what} must be one of {ranks}, and is {len(dims)}")
    context.require(formulas.any_of(formulas.all_of(map(formulas.equal, dims, shape)) for shape in shapes), reason)


# Operators: shape functions, recorded and found by name.


Reader: TypeAlias = Callable[[str, str, Any], Any]
"""Returns an attribute of an operator, by name, in normal form; raises `OperatorError` for an invalid value."""

ReachFunction: TypeAlias = "Callable[..., Sequence[Reach | None]]"
"""Returns the reach into each operand, from the operands and the attributes as keywords."""


class ExposedOperands(NamedTuple):
    """Operands as a shape function sees them, constraints on ranks, and the axes split off sequences."""

    shapes: list[Dims]
    constraints: list[Constraint]
    taken: list[tuple[Dim, Dims]]


class Declaration(NamedTuple):
    """What `operator` is told about a shape function; its docstring explains the fields.

    Attributes:
        takes_all: Whether the function takes all operands as one sequence.
    """

    function: Callable[..., Any]
    takes_all: bool = False
    reach: Sequence[Reach | None] | ReachFunction | None = None
    of_equal_rank: bool = False
    has_parts: bool = False
    named_by: str = ""
    written_attributes: Callable[[Mapping[str, AttributeValue]], Mapping[str, AttributeValue]] | None = None
    written_operands: Callable[..., Sequence[Sequence[Any]]] | None = None


class Operator(Rule):
    """One operation on shapes, with its attributes set; immutable. `operator` makes the class from a shape function.

    It emits constraints and an output like a rule, so it is recorded, explained and exchanged like one.

    Attributes:
        kinds: How each attribute is read.
        least: The fewest operands.
        most: The most operands; None for any number.
        values: The attributes that the shape function takes.
    """

    family = "operators"
    summary = ""
    document = ""
    kinds: ClassVar[Mapping[str, Reader]] = {}
    least: ClassVar[int] = 0
    most: ClassVar[int | None] = None
    declaration: Declaration
    part: int
    values: Mapping[str, Any]

    def __init__(self, *, called: str = "", **attributes: Any) -> None:
        for name in attributes:
            if name not in self.kinds:
                raise OperatorError(self.name, f"has no attribute {name!r}")
        self.called = called or self.name
        self.values = values = {}
        for parameter in self.parameters:
            name, value = parameter.name, parameter.default
            if name in attributes:
                value = self.kinds[name](self.name, name, attributes[name])
            values[name] = self._chosen(parameter, value) if parameter.choices else value
            setattr(self, name, values[name])
        # The part is chosen from what the function returns; the function does not take it.
        values.pop("part", None)
        self.check_attributes()
        self._is_set = True

    def _chosen(self, parameter: Parameter, value: Any) -> AttributeValue:
        try:
            return parameter.check(self.name, value)
        except RuleArgumentError as error:
            raise OperatorError(self.name, error.problem, error.hint) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return find_operator, (self.name, self.attributes())  # no module has the class

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        """Return the output shape for some shapes, and state the requirements on them."""
        declaration = self.declaration
        operands = (shapes,) if declaration.takes_all else shapes
        if not declaration.has_parts:
            dims: Dims = declaration.function(context, *operands, **self.values)
            return dims
        stated = SilentContext(context) if self.part else context
        parts: Sequence[Dims] = declaration.function(stated, *operands, **self.values)
        count = len(parts)
        return parts[self.part] if self.part < count else context.refuse(f"part {self.part} must be one of {count}")

    @property
    def written_name(self) -> str:
        """The name that the caller used, for messages."""
        named_by = self.declaration.named_by
        return str(getattr(self, named_by)).lower() if named_by else self.called

    def written_attributes(self) -> Mapping[str, AttributeValue]:
        """Return the attributes for a message; one axis is written as a number."""
        attributes, written = self.attributes(), self.declaration.written_attributes
        if written:
            return written(attributes)
        axes = attributes.get("axes")
        return {**attributes, "axes": axes[0]} if isinstance(axes, tuple) and len(axes) == 1 else attributes

    def written_operands(self, shapes: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Return the operands for a message."""
        written = self.declaration.written_operands
        return written(shapes, **self.values) if written else shapes

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """Return the reach into each operand; None for an operand whose rank must be known."""
        reach = self.declaration.reach
        if reach is None:
            return [None] * len(shapes)
        return (reach(shapes, **self.values) if callable(reach) else reach)[: len(shapes)]

    def expose(self, shapes: Sequence[Dims]) -> ExposedOperands:
        """Return operands as `output` sees them, with each sequence of axes as one axis. Raises `ReachError`."""
        exposed = [expose_axes(s, reach) for s, reach in zip(shapes, self.reaches(shapes), strict=True)]
        ranks = [self._rank_constraint(e.requirement, e.reason, (n,)) for n, e in enumerate(exposed)]
        constraints = [c for c in ranks if c.requirement != TRUE]
        dims = [e.dims for e in exposed]
        if self.declaration.of_equal_rank:
            dims, equal_ranks = of_one_rank(shapes, dims)
            every, reason = tuple(range(len(shapes))), "the operands must have the same rank"
            constraints += [self._rank_constraint(f, reason, every) for f in equal_ranks]
        return ExposedOperands(dims, constraints, [e.taken for e in exposed if e.taken is not None])

    def _rank_constraint(self, requirement: Formula, reason: str, operands: tuple[int, ...]) -> Constraint:
        return Constraint(requirement, Origin(self.name, operands), Reason(self.name, reason))

    def emit_open(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on operands, some of unknown rank, and the output dimensions.

        Raises `OperatorError` if they differ between ranks.
        """
        self._check_count(shapes)
        try:
            seen = self.expose([tuple(s) for s in shapes])
        except ReachError as error:
            raise OperatorError(self.name, str(error)) from None
        emission = self.emit(seen.shapes)
        output = [join(d) if isinstance(d, Joined) else d for d in emission.output]
        if not is_shape(output):
            raise OperatorError(self.name, "the output would have two sequences of axes, or a size made from one")
        return Emission([*seen.constraints, *emission.constraints], put_back(emission.output, seen.taken))

    def check_operands(self, shapes: Sequence[Sequence[Any]]) -> Demand | None:
        """Check as `check_shapes` does, for shapes that may have unknown rank."""
        if any(map(symbols.is_sequence, chain.from_iterable(shapes))):
            self.emit_open(shapes)
            return None
        self._check_count(shapes)
        return self.demand(shapes)

    def check_shapes(self, shapes: Sequence[Sequence[Any]]) -> None:
        """Raise `OperatorError` if the number of operands, their ranks or the attributes do not fit."""
        self._check_count(shapes)
        self.demand(shapes)

    def _check_count(self, shapes: Sequence[Sequence[Any]]) -> None:
        count = len(shapes)
        if not self.variadic and count != len(self.operands):
            raise OperatorError(self.name, f"takes {len(self.operands)} shapes, not {count}")
        if count < self.least or (self.most is not None and count > self.most):
            limit = f"at least {self.least}" if count < self.least else f"at most {self.most}"
            raise OperatorError(self.written_name, f"takes {limit} shapes, not {count}")

    def emit(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on the operands and the output dimensions."""
        context = _Collector(self, len(shapes))
        output = self.output(context, [tuple(s) for s in shapes])
        return Emission(context.constraints, _columns(output))

    def demand(self, shapes: Sequence[Sequence[Any]]) -> Demand:
        """Return the output dimensions and the requirements on the operands, without their reasons."""
        context = _Demanding(self)
        output = self.output(context, [tuple(s) for s in shapes])
        return Demand(_columns(output), context.requirements)


def _columns(dims: Dims) -> tuple[OutputDim, ...]:
    """Return output dimensions with their joins as members."""
    members = [join_members(d) for d in dims]
    return tuple([Joined(m) if len(m) > 1 else d for m, d in zip(members, dims, strict=True)])


class _OneOperation(Context):
    """The context of one operation; the only known fact is that sizes are not negative."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def refuse(self, reason: str) -> NoReturn:
        raise OperatorError(self.operator.written_name, reason)

    def emission(self, shapes: Sequence[Dims], rule: str, attributes: Mapping[str, Any]) -> Emission:
        """Return the emission of a rule that the operator applies."""
        applied = find_rule(rule, attributes)
        is_of_any_rank = any(map(symbols.is_sequence, chain.from_iterable(shapes)))
        try:
            return applied.emit_open(shapes) if is_of_any_rank else applied.emit(shapes)
        except RuleArgumentError as error:
            self.refuse(error.problem)


class _Demanding(_OneOperation):
    """Collects the requirements of one operation, without their reasons. All ranks are known."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.requirements: list[Formula] = []

    def require(self, formula: Formula, reason: str) -> None:
        self.requirements += formulas.clauses(formula)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        # The usual rule without a rule: a program asks it for each operation.
        if rule == "numpy" and not attributes:
            return tuple([self._join(sizes) for sizes in _right_aligned(shapes)])
        constraints, output = self.emission(shapes, rule, attributes)
        self.requirements += [part for c in constraints for part in formulas.clauses(c.requirement)]
        return tuple([join(d) if isinstance(d, Joined) else d for d in output])

    def _join(self, sizes: Sequence[Dim]) -> Dim:
        """Return the join of the sizes of an axis; require that it be defined unless it always is."""
        distinct = [d for d in dict.fromkeys(sizes) if d != 1]
        if len(distinct) < 2:
            return distinct[0] if distinct else 1
        self.requirements.append(Compatible(tuple(sizes)))
        return join(distinct)


def _right_aligned(shapes: Sequence[Dims]) -> list[list[Dim]]:
    """Return the sizes that meet on each axis of some shapes, aligned at the right."""
    rank = max(map(len, shapes), default=0)
    columns: list[list[Dim]] = [[] for _ in range(rank)]
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            columns[axis].append(size)
    return columns


class _Collector(_OneOperation):
    """Collects the requirements of one operation, each with its reason."""

    def __init__(self, operator: Operator, count: int) -> None:
        super().__init__(operator)
        self.constraints: list[Constraint] = []
        self._origin = Origin(operator.name, tuple(range(count)))

    def require(self, formula: Formula, reason: str) -> None:
        for part in formulas.clauses(formula):
            if not is_of_each_axis(part):
                self.refuse(f"whether {reason} depends on an unknown number of elements")
            self.constraints.append(Constraint(part, self._origin, Reason(self.operator.name, reason)))

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        emission = self.emission(shapes, rule, attributes)
        for constraint in emission.constraints:
            parts = formulas.clauses(constraint.requirement)
            self.constraints += [Constraint(part, self._origin, constraint.why, constraint.details) for part in parts]
        return tuple(join(d) if isinstance(d, Joined) else d for d in emission.output)


class SilentContext(Context):
    """A context that ignores requirements because they are already stated elsewhere."""

    def __init__(self, context: Context) -> None:
        self.bounds = context.bounds
        self._context = context

    def require(self, formula: Formula, reason: str) -> None:
        """Require nothing."""

    def refuse(self, reason: str) -> NoReturn:
        """Refuse through the wrapped context."""
        self._context.refuse(reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        """Broadcast shapes through the wrapped context."""
        return self._context.broadcast(*shapes, rule=rule, **attributes)


# The declaration of operators.


# The files that declare operators.
FAMILIES = ("products", "reshaping", "joining_and_slicing", "indexing", "convolution", "resizing", "layers")

_operators: dict[str, type[Operator]] = {}
_loaded: list[str] = []

F = TypeVar("F", bound=Callable[..., Any])


def operator(  # noqa: PLR0913 - what can be declared
    name: str,
    *,
    operands: Sequence[str] = (),
    reach: Sequence[Reach | None] | ReachFunction | None = None,
    of_equal_rank: bool = False,
    has_parts: bool = False,
    choices: Mapping[str, tuple[str, ...]] = {},
    named_by: str = "",
    written_attributes: Callable[[Mapping[str, AttributeValue]], Mapping[str, AttributeValue]] | None = None,
    written_operands: Callable[..., Sequence[Sequence[Any]]] | None = None,
) -> Callable[[F], F]:
    """Declare a shape function as an operator, which programs record, pickle and write in JSON by its name.

    The annotations of the function tell its parameters apart. ``Dims`` is an operand, ``Dims | None`` an optional
    operand, ``Sequence[Dims]`` all operands. A type of `symbcast.operators.attributes` is an attribute, and reads it.
    Other parameters are options of front ends and have defaults.

    Args:
        name: The name in programs and in JSON, and of the method.
        operands: The names of the operands, if they differ from the parameters.
        reach: The reach into each operand, or a function that returns them; without it, all ranks must be known.
        of_equal_rank: Whether all operands have the same rank; the same axes are then known in each.
        has_parts: Whether the function returns several shapes. The attribute ``part`` selects one; the first part
            states the requirements of the whole operation.
        choices: The words that an attribute accepts.
        named_by: The attribute that names the operator in messages.
        written_attributes: Returns the attributes for a message, from those that differ from their defaults.
        written_operands: Returns the operands for a message, from the operands, and the attributes by keyword.
    """

    def declare(function: F) -> F:
        types, defaults = _parameters(function)
        takes_all = "Sequence[Dims]" in types.values()
        tensors = [n for n, t in types.items() if t in ("Dims", "Dims | None")]
        readers = {n: getattr(attribute_types, t).__metadata__[0] for n, t in types.items() if _is_attribute(t)}
        attributes = [
            Parameter(n, defaults[n], choices.get(n, ()), Kind.WORD if n in choices else Kind.INTEGER) for n in readers
        ]
        if has_parts:
            attributes.append(Parameter("part", 0))
            readers["part"] = attribute_types.natural
        least = sum(types[n] == "Dims" for n in tensors)
        members = {
            "__doc__": function.__doc__,
            "name": name,
            "operands": tuple(operands or tensors) or Operator.operands,
            "variadic": takes_all or least < len(tensors),
            "least": least,
            "most": None if takes_all else len(tensors),
            "parameters": tuple(attributes),
            "kinds": readers,
            "declaration": Declaration(
                function, takes_all, reach, of_equal_rank, has_parts, named_by, written_attributes, written_operands
            ),
        }
        _operators[name] = cast("type[Operator]", ABCMeta(name, (Operator,), members))
        return function

    return declare


def _parameters(function: Callable[..., Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the annotations of a shape function's parameters after the context, and the defaults."""
    # `inspect` costs more to import than all operators: a function tells both by itself.
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return {n: function.__annotations__[n] for n in names}, {**defaults, **(function.__kwdefaults__ or {})}


def _is_attribute(annotation: str) -> bool:
    return hasattr(getattr(attribute_types, annotation, None), "__metadata__")


def _load() -> None:
    if not _loaded:
        for name in FAMILIES:
            import_module(f"symbcast.operators.{name}")
        _loaded.append("all")  # only now: another thread must not find the operators half loaded


def find_operator(name: str, attributes: Mapping[str, Any]) -> Operator:
    """Return the operator with a name and given attributes. Raises `OperatorError`.

    >>> find_operator("transpose", {"order": [1, 0]}).concrete([(2, 3)])
    (3, 2)
    """
    _load()
    if name not in _operators:
        raise OperatorError(name, "is not an operator", f"the operators are {', '.join(operator_names())}")
    return _operators[name](**attributes)


def operator_called(key: Hashable, name: str, attributes: Mapping[str, Any]) -> Operator:
    """Return what `find_operator` does; operators with equal keys are made once, as they are immutable."""
    operator_of_key = _by_key.get(key)
    if operator_of_key is None:
        operator_of_key = find_operator(name, attributes)
        if len(_by_key) >= _MOST_KEYS:
            # All at once: what is used again is soon made again.
            _by_key.clear()
        _by_key[key] = operator_of_key
    return operator_of_key


_MOST_KEYS = 1024
_by_key: dict[Hashable, Operator] = {}


def operator_names() -> tuple[str, ...]:
    """Return the names of all operators."""
    _load()
    return tuple(sorted(_operators))
