"""Operators of a program: shape functions with their attributes set, recorded and found by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, TypeVar

from symbcast.core.algebra.arithmetic import join, join_members
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.sequences import is_sequence
from symbcast.core.broadcasting import Emission, Joined, Rule, find_rule
from symbcast.core.broadcasting.constraints import Constraint, Origin
from symbcast.core.logic.formulas import TRUE, Formula, clauses
from symbcast.core.reasons import Reason
from symbcast.errors import OperatorError, RuleArgumentError
from symbcast.operators.context import Context, Dims
from symbcast.operators.reach import Reach, ReachError, is_of_each_axis, is_shape, laid, of_one_rank, put_back

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Reader = Callable[[str, str, Any], Any]
"""Returns an attribute of an operator, by name, in normal form; raises `OperatorError` for an invalid value."""


class Seen(NamedTuple):
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
            setattr(self, parameter.name, parameter.check(self.name, value) if parameter.choices else value)
        self.check_attributes()
        self._is_set = True

    @abstractmethod
    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        """Return the output shape for some shapes, and state the requirements on them."""

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """Return the reach into each operand; None for an operand whose rank must be known."""
        return [None] * len(shapes)

    def lay(self, shapes: Sequence[Dims]) -> Seen:
        """Return operands as `output` sees them, with each sequence of axes as one axis. Raises `ReachError`."""
        found = [laid(s, reach) for s, reach in zip(shapes, self.reaches(shapes), strict=True)]
        asked = [self._of_rank(f.requirement, f.reason, (n,)) for n, f in enumerate(found) if f.requirement != TRUE]
        return Seen([f.dims for f in found], asked, [f.taken for f in found if f.taken is not None])

    def lay_alike(self, shapes: Sequence[Dims]) -> Seen:
        """Like `lay`, for operands that must have equal rank; the same axes are known in each. Raises `ReachError`."""
        seen = Operator.lay(self, shapes)
        found, equal_ranks = of_one_rank(shapes, seen.shapes)
        every = tuple(range(len(shapes)))
        more = (self._of_rank(f, "the operands must have the same rank", every) for f in equal_ranks)
        return Seen(found, [*seen.constraints, *more], seen.taken)

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

    def check_operands(self, shapes: Sequence[Sequence[Any]]) -> None:
        """Check as `check_shapes` does, for shapes that may have unknown rank."""
        if any(map(is_sequence, chain.from_iterable(shapes))):
            self.emit_open(shapes)
        else:
            self.check_shapes(shapes)

    def check_shapes(self, shapes: Sequence[Sequence[Any]]) -> None:
        """Raise `OperatorError` if the number of operands, their ranks or the attributes do not fit."""
        self._check_count(shapes)
        self.emit(shapes)

    def _check_count(self, shapes: Sequence[Sequence[Any]]) -> None:
        if not self.variadic and len(shapes) != len(self.operands):
            raise OperatorError(self.name, f"takes {len(self.operands)} shapes, not {len(shapes)}")

    def emit(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on the operands and the output dimensions."""
        context = _Collector(self, len(shapes))
        found = self.output(context, [tuple(s) for s in shapes])
        members = [join_members(d) for d in found]
        return Emission(
            context.constraints, tuple(Joined(m) if len(m) > 1 else d for m, d in zip(members, found, strict=True))
        )


class _Collector(Context):
    """Collects the requirements of one operation; the only known fact is that sizes are not negative."""

    def __init__(self, operator: Operator, count: int) -> None:
        self.operator = operator
        self.bounds = Bounds({})
        self.constraints: list[Constraint] = []
        self._origin = Origin(operator.name, tuple(range(count)))

    def require(self, formula: Formula, reason: str) -> None:
        for part in clauses(formula):
            if not is_of_each_axis(part):
                self.refuse(f"whether {reason} depends on an unknown number of elements")
            self.constraints.append(Constraint(part, self._origin, Reason(self.operator.name, reason)))

    def refuse(self, reason: str) -> NoReturn:
        raise OperatorError(self.operator.name, reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        found = find_rule(rule, attributes)
        is_of_any_rank = any(map(is_sequence, chain.from_iterable(shapes)))
        try:
            emission = found.emit_open(shapes) if is_of_any_rank else found.emit(shapes)
        except RuleArgumentError as error:
            self.refuse(error.problem)
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
        for name in ("products", "layout", "parts", "windows", "layers", "indexing"):
            import_module(f"symbcast.operators.recorded.{name}")
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


def operator_names() -> tuple[str, ...]:
    """Return the names of all operators."""
    _load()
    return tuple(sorted(_operators))
