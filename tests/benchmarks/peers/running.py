"""What is alike in giving a program to any framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from benchmarks.peers.programs import Broadcast, Equal, Operand, Program

LIMIT = 2
"""Seconds after which a program is given up."""


class NotAskedError(Exception):
    """The framework has no way to be asked this."""


@dataclass(frozen=True)
class Answer:
    """What a framework says of a program, in its own words.

    ``outputs`` are the output shapes of the broadcasts, a text for each size (None for one that it does not know);
    ``conditions`` what it reports must hold, ``assumed`` what it takes for granted of all sizes. ``names`` has
    the names of the program for those it calls the sizes by; none where they are the same. ``refusal`` is why it gave
    up, if it did, and ``hinted`` whether it was shown an example.
    """

    outputs: Sequence[Sequence[str | None]]
    conditions: Sequence[str] = ()
    assumed: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    hinted: bool = False

    @property
    def shape(self) -> str:
        """The output of the last broadcast."""
        if self.refusal:
            return ""
        *_, last = self.outputs
        return ", ".join("?" if size is None else size for size in last)


class Run(ABC):
    """One program in one framework. Making it is not timed, `run` is, `answer` is not."""

    refusals: tuple[type[BaseException], ...] = ()

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sizes = self.symbols(program)
        self.outputs: list[Any] = []
        self.refusal = ""
        self.done = 0
        codes = {t: compile(t, "size", "eval") for step in program.steps for t in _texts(step)}
        values = {t: eval(code, dict(self.sizes)) for t, code in codes.items()}
        self._steps = [self._prepared(step, values) for step in program.steps]

    @abstractmethod
    def symbols(self, program: Program) -> dict[str, Any]:
        """Return the sizes of a program as this framework has them."""

    @abstractmethod
    def operand(self, sizes: tuple[Any, ...]) -> Any:
        """Return an operand of a shape."""

    @abstractmethod
    def broadcast(self, left: Any, right: Any) -> Any:
        """Broadcast operands, and return what comes out, which may be an operand again."""

    @abstractmethod
    def equal(self, left: Any, right: Any) -> None:
        """Ask that sizes be equal; raises `NotAskedError` where there is no way to."""

    @abstractmethod
    def answer(self) -> Answer:
        """Return what was answered."""

    def finish(self) -> None:  # noqa: B027 - most have nothing left to do
        """Do what is left to do for an answer; it is timed."""

    def close(self) -> None:  # noqa: B027 - most take nothing
        """Give back what was taken for the run."""

    def run(self) -> None:
        """Go through the steps, until the framework gives up."""
        outputs = self.outputs
        end = perf_counter() + LIMIT
        try:
            for is_equality, left, right in self._steps:
                if is_equality:
                    outputs.append(self.equal(left, right))
                else:
                    first = outputs[left] if type(left) is int else left
                    second = outputs[right] if type(right) is int else right
                    outputs.append(self.broadcast(first, second))
                self.done += 1
                if perf_counter() > end:
                    self.refusal = f"stopped after {LIMIT} s"
                    return
            self.finish()
        except self.refusals as error:
            self.refusal = str(error).strip() or type(error).__name__
        finally:
            self.done = max(self.done, 1)
            self.close()

    def broadcasts(self) -> list[Any]:
        """Return the outputs of the broadcasts that were done."""
        return [o for o, step in zip(self.outputs, self.program.steps, strict=False) if isinstance(step, Broadcast)]

    def _prepared(self, step: Broadcast | Equal, values: Mapping[str, Any]) -> tuple[bool, Any, Any]:
        if isinstance(step, Equal):
            return True, values[step.left], values[step.right]
        return False, self._operand(step.left, values), self._operand(step.right, values)

    def _operand(self, operand: Operand, values: Mapping[str, Any]) -> Any:
        return operand if isinstance(operand, int) else self.operand(tuple(values[t] for t in operand))


def _texts(step: Broadcast | Equal) -> list[str]:
    if isinstance(step, Equal):
        return [step.left, step.right]
    return [text for operand in (step.left, step.right) if not isinstance(operand, int) for text in operand]
