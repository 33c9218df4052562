"""Operators of a program: shape functions with their attributes set, which are recorded and answered for by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, ClassVar, NoReturn, TypeVar

from symbcast.algebra.arithmetic import join, join_members
from symbcast.algebra.bounds import Bounds
from symbcast.algebra.sequences import is_sequence
from symbcast.broadcasting import Emission, Joined, Rule, find_rule
from symbcast.broadcasting.constraints import Constraint, Origin
from symbcast.errors import OperatorError
from symbcast.logic.formulas import Formula, clauses
from symbcast.operators.context import Context, Dims
from symbcast.reasons import Reason
from symbcast.text.printing import shape_text

Reader = Callable[[str, str, Any], Any]
"""Returns an attribute of an operator, by name, as it is kept; raises `OperatorError` for what it cannot be."""


class Operator(Rule):
    """One operation on shapes with its attributes set; immutable.

    It emits constraints and an output as a rule does, and so is recorded, explained and exchanged as one.

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
        """Return the output of shapes, and tell what it requires of them."""

    @property
    def last_axes(self) -> int | None:
        """How many of the last axes of an operand it looks at; None where it takes no operand of unknown rank."""
        return None

    def expand(self, shapes: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """Return shapes of unknown rank as they are, where all axes that count are known and behind the others.

        A sequence of axes is one axis to the shape function then. Raises `OperatorError`.
        """
        needed = self.last_axes
        for shape in shapes:
            place = next((n for n, dim in enumerate(shape) if is_sequence(dim)), None)
            if place is None:
                continue
            if needed is None:
                raise OperatorError(self.name, f"takes no operand of unknown rank, as {shape_text(shape)} is")
            if place or len(shape) <= needed:
                axes = "the last axis" if needed == 1 else f"the last {needed} axes"
                raise OperatorError(self.name, f"{axes} of {shape_text(shape)} must be known, and no others be named")
        return list(shapes)

    def emit_open(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on operands some of which are of unknown rank, and the output dimensions."""
        return self.emit(self.expand(shapes))

    def check_shapes(self, shapes: Sequence[Sequence[Any]]) -> None:
        """Raise `OperatorError` for the number of operands, their ranks, or attributes that do not fit them."""
        if not self.variadic and len(shapes) != len(self.operands):
            raise OperatorError(self.name, f"takes {len(self.operands)} shapes, not {len(shapes)}")
        self.emit(shapes)

    def emit(self, shapes: Sequence[Sequence[Any]]) -> Emission:
        """Return the constraints on the operands and the output dimensions."""
        context = _Collector(self, len(shapes))
        found = self.output(context, [tuple(s) for s in shapes])
        members = [join_members(d) for d in found]
        return Emission(
            context.constraints, tuple(Joined(m) if len(m) > 1 else d for m, d in zip(members, found, strict=True))
        )


class _Collector(Context):
    """Collects what one operation requires; of sizes it knows nothing but that they are none below 0."""

    def __init__(self, operator: Operator, count: int) -> None:
        self.operator = operator
        self.bounds = Bounds({})
        self.constraints: list[Constraint] = []
        self._origin = Origin(operator.name, tuple(range(count)))

    def require(self, formula: Formula, reason: str) -> None:
        self.constraints += [
            Constraint(part, self._origin, Reason(self.operator.name, reason)) for part in clauses(formula)
        ]

    def refuse(self, reason: str) -> NoReturn:
        raise OperatorError(self.operator.name, reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        found = find_rule(rule, attributes)
        emission = found.emit_open(shapes) if any(map(is_sequence, chain.from_iterable(shapes))) else found.emit(shapes)
        for asked in emission.constraints:
            parts = clauses(asked.requirement)
            self.constraints += [Constraint(part, self._origin, asked.why, asked.details) for part in parts]
        return tuple(join(d) if isinstance(d, Joined) else d for d in emission.output)


_operators: dict[str, type[Operator]] = {}

O = TypeVar("O", bound=type[Operator])  # noqa: E741 - as R for rules


def reading(**kinds: Reader) -> Mapping[str, Reader]:
    """Return how the attributes of an operator are read."""
    return kinds


def recorded(operator: O) -> O:
    """Let an operator be found by its name."""
    _operators[operator.name] = operator
    return operator


def find_operator(name: str, attributes: Mapping[str, Any]) -> Operator:
    """Return the operator of a name with its attributes set. Raises `OperatorError`.

    >>> find_operator("transpose", {"order": [1, 0]}).concrete([(2, 3)])
    (3, 2)
    """
    import_module("symbcast.operators.recorded")
    if name not in _operators:
        raise OperatorError(name, "is no operator", f"the operators are {', '.join(_operators)}")
    return _operators[name](**attributes)


def operator_names() -> tuple[str, ...]:
    """Return the names of all operators."""
    import_module("symbcast.operators.recorded")
    return tuple(_operators)
