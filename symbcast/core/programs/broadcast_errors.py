"""Errors about invalid broadcasts, as data only. The layer that shows them writes the messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from symbcast.core.hooks import hooks
from symbcast.core.verdicts import AnswerLike
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.core.programs.operations import Op
    from symbcast.core.rules import Rule
    from symbcast.core.shapes import Shape


class FailedResult(AnswerLike, Protocol):
    """The parts of a result that its errors show: see `symbcast.Result`."""

    @property
    def rule(self) -> Rule: ...
    @property
    def operands(self) -> tuple[Shape, ...]: ...
    @property
    def shape(self) -> Shape | None: ...
    def explain(self) -> str: ...


class BroadcastError(SymbcastError, ValueError):
    """A broadcast is not valid.

    ``result`` is the answer that it comes from, None for an error of a whole program; ``binding`` is the requested
    sizes, None if there were none.
    """

    __module__ = "symbcast"  # the module where users find it, for tracebacks

    result: FailedResult | None

    def __init__(self, result: FailedResult, binding: Mapping[str, int] | None = None) -> None:
        super().__init__(result, binding)
        self.result = result
        self.binding = dict(binding) if binding is not None else None

    def __str__(self) -> str:
        return hooks.message(self)


class IncompatibleShapesError(BroadcastError):
    """The shapes never broadcast, or do not at the requested sizes."""

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
