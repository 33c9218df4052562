"""Operators of a program: shape functions with their attributes set, recorded and found by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, TypeVar

from symbcast.core.algebra.arithmetic import join, join_members
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import TRUE, Compatible, Formula, clauses
from symbcast.core.algebra.symbols import is_sequence
from symbcast.core.rules import Demand, Emission, Joined, OutputDim, Rule, find_rule
from symbcast.core.rules.constraints import Constraint, Origin, Reason
from symbcast.errors import OperatorError, RuleArgumentError
from symbcast.operators.context import Context, Dims
from symbcast.operators.reach import Reach, ReachError, expose_axes, is_of_each_axis, is_shape, of_one_rank, put_back

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.rules import AttributeValue
    from symbcast.core.rules.declaration import Parameter

Reader = Callable[[str, str, Any], Any]
"""Returns an attribute of an operator, by name, in normal form; raises `OperatorError` for an invalid value."""


class ExposedOperands(NamedTuple):
    """Operands as a shape function sees them, constraints on ranks, and the axes split off sequences."""

    shapes: list[Dims]
    constraints: list[Constraint]
    taken: list[tuple[Dim, Dims]]


class Operator(Rule):
    """One operation on shapes, with its attributes set; immutable.

    It emits constraints and an output like a rule, so it is recorded, explained and exchanged like one.

    Attributes:
        kinds: how each attribute is read.
    """

    family = "operators"
    summary = ""
    document = ""
    kinds: ClassVar[Mapping[str, Reader]] = {}

    def __init__(self, *, called: str = "", **attributes: Any) -> None:
        for name in attributes:
            if name not in self.kinds:
                raise OperatorError(self.name, f"has no attribute {name!r}")
        read = {name: self.kinds[name](self.name, name, value) for name, value in attributes.items()}
        self.called = called or self.name
        for parameter in self.parameters:
            value = read.get(parameter.name, parameter.default)
            setattr(self, parameter.name, self._chosen(parameter, value) if parameter.choices else value)
        self.check_attributes()
        self._is_set = True

    def _chosen(self, parameter: Parameter, value: Any) -> AttributeValue:
        try:
            return parameter.check(self.name, value)
        except RuleArgumentError as error:
            raise OperatorError(self.name, error.problem, error.hint) from None

    @abstractmethod
    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        """Return the output shape for some shapes, and state the requirements on them."""

    def written_attributes(self) -> Mapping[str, AttributeValue]:
        """Return the attributes for a message; one axis is written as a number."""
        found = self.attributes()
        axes = found.get("axes")
        return {**found, "axes": axes[0]} if isinstance(axes, tuple) and len(axes) == 1 else found

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """Return the reach into each operand; None for an operand whose rank must be known."""
        return [None] * len(shapes)

    def lay(self, shapes: Sequence[Dims]) -> ExposedOperands:
        """Return operands as `output` sees them, with each sequence of axes as one axis. Raises `ReachError`."""
        found = [expose_axes(s, reach) for s, reach in zip(shapes, self.reaches(shapes), strict=True)]
        asked = [self._of_rank(f.requirement, f.reason, (n,)) for n, f in enumerate(found) if f.requirement != TRUE]
        return ExposedOperands([f.dims for f in found], asked, [f.taken for f in found if f.taken is not None])

    def lay_alike(self, shapes: Sequence[Dims]) -> ExposedOperands:
        """Like `lay`, for operands that must have equal rank; the same axes are known in each. Raises `ReachError`."""
        seen = Operator.lay(self, shapes)
        found, equal_ranks = of_one_rank(shapes, seen.shapes)
        every = tuple(range(len(shapes)))
        more = (self._of_rank(f, "the operands must have the same rank", every) for f in equal_ranks)
        return ExposedOperands(found, [*seen.constraints, *more], seen.taken)

    def _of_rank(self, requirement: Formula, reason: str, operands: tuple[int, ...]) -> Constraint:
        return Constraint(requirement, Origin(self.name, operands), Reason(self.name, reason))

    def emit_open(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on operands, some of unknown rank, and the output dimensions.

        Raises `OperatorError` if they differ between ranks.
        """
        self._check_count(shapes)
        try:
            seen = self.lay([tuple(s) for s in shapes])
        except ReachError as error:
            raise OperatorError(self.name, str(error)) from None
        found = self.emit(seen.shapes)
        output = [join(d) if isinstance(d, Joined) else d for d in found.output]
        if not is_shape(output):
            raise OperatorError(self.name, "the output would have two sequences of axes, or a size made from one")
        return Emission([*seen.constraints, *found.constraints], put_back(found.output, seen.taken))

    def check_operands(self, shapes: Sequence[Sequence[Any]]) -> Demand | None:
        """Check as `check_shapes` does, for shapes that may have unknown rank."""
        if any(map(is_sequence, chain.from_iterable(shapes))):
            self.emit_open(shapes)
            return None
        self._check_count(shapes)
        return self.demand(shapes)

    def check_shapes(self, shapes: Sequence[Sequence[Any]]) -> None:
        """Raise `OperatorError` if the number of operands, their ranks or the attributes do not fit."""
        self._check_count(shapes)
        self.demand(shapes)

    def _check_count(self, shapes: Sequence[Sequence[Any]]) -> None:
        if not self.variadic and len(shapes) != len(self.operands):
            raise OperatorError(self.name, f"takes {len(self.operands)} shapes, not {len(shapes)}")

    def emit(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on the operands and the output dimensions."""
        context = _Collector(self, len(shapes))
        found = self.output(context, [tuple(s) for s in shapes])
        return Emission(context.constraints, _columns(found))

    def demand(self, shapes: Sequence[Sequence[Any]]) -> Demand:
        """Return the output dimensions and the requirements on the operands, without their reasons."""
        context = _Demanding(self)
        found = self.output(context, [tuple(s) for s in shapes])
        return Demand(_columns(found), context.asked)


def _columns(dims: Dims) -> tuple[OutputDim, ...]:
    """Return output dimensions with their joins as members."""
    members = [join_members(d) for d in dims]
    return tuple([Joined(m) if len(m) > 1 else d for m, d in zip(members, dims, strict=True)])


class _OneOperation(Context):
    """The context of one operation; the only known fact is that sizes are not negative."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.bounds = Bounds({})

    def refuse(self, reason: str) -> NoReturn:
        raise OperatorError(self.operator.written_name, reason)

    def emission(self, shapes: Sequence[Dims], rule: str, attributes: Mapping[str, Any]) -> Emission:
        """Return the emission of a rule that the operator applies."""
        found = find_rule(rule, attributes)
        is_of_any_rank = any(map(is_sequence, chain.from_iterable(shapes)))
        try:
            return found.emit_open(shapes) if is_of_any_rank else found.emit(shapes)
        except RuleArgumentError as error:
            self.refuse(error.problem)


class _Demanding(_OneOperation):
    """Collects the requirements of one operation, without their reasons. All ranks are known."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.asked: list[Formula] = []

    def require(self, formula: Formula, reason: str) -> None:
        self.asked += clauses(formula)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        if rule == "numpy" and not attributes:
            return tuple([self._join(sizes) for sizes in _right_aligned(shapes)])
        constraints, output = self.emission(shapes, rule, attributes)
        self.asked += [part for c in constraints for part in clauses(c.requirement)]
        return tuple([join(d) if isinstance(d, Joined) else d for d in output])

    def _join(self, sizes: Sequence[Dim]) -> Dim:
        """Return the join of the sizes of an axis; require that it be defined unless it always is."""
        distinct = [d for d in dict.fromkeys(sizes) if d != 1]
        if len(distinct) < 2:
            return distinct[0] if distinct else 1
        self.asked.append(Compatible(tuple(sizes)))
        return join(distinct)


def _right_aligned(shapes: Sequence[Dims]) -> list[list[Dim]]:
    """Return the sizes that meet on each axis of some shapes, aligned at the right."""
    rank = max(map(len, shapes), default=0)
    found: list[list[Dim]] = [[] for _ in range(rank)]
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            found[axis].append(size)
    return found


class _Collector(_OneOperation):
    """Collects the requirements of one operation, each with its reason."""

    def __init__(self, operator: Operator, count: int) -> None:
        super().__init__(operator)
        self.constraints: list[Constraint] = []
        self._origin = Origin(operator.name, tuple(range(count)))

    def require(self, formula: Formula, reason: str) -> None:
        for part in clauses(formula):
            if not is_of_each_axis(part):
                self.refuse(f"whether {reason} depends on an unknown number of elements")
            self.constraints.append(Constraint(part, self._origin, Reason(self.operator.name, reason)))

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        emission = self.emission(shapes, rule, attributes)
        for asked in emission.constraints:
            parts = clauses(asked.requirement)
            self.constraints += [Constraint(part, self._origin, asked.why, asked.details) for part in parts]
        return tuple(join(d) if isinstance(d, Joined) else d for d in emission.output)


_operators: dict[str, type[Operator]] = {}
_loaded: list[str] = []

O = TypeVar("O", bound=type[Operator])  # noqa: E741 - as R for rules


def reading(**kinds: Reader) -> Mapping[str, Reader]:
    """Return how the attributes of an operator are read."""
    return kinds


def recorded(operator: O) -> O:
    """Register an operator under its name."""
    _operators[operator.name] = operator
    return operator


def _load() -> None:
    if not _loaded:
        for name in ("products", "reshaping", "joining_and_slicing", "convolution", "resizing", "layers", "indexing"):
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
    found = _made.get(key)
    if found is None:
        found = find_operator(name, attributes)
        if len(_made) >= _MADE_AT_MOST:
            _made.clear()
        _made[key] = found
    return found


_MADE_AT_MOST = 1024
_made: dict[Hashable, Operator] = {}


def operator_names() -> tuple[str, ...]:
    """Return the names of all operators."""
    _load()
    return tuple(sorted(_operators))
