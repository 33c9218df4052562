"""Answers as StableHLO modules: functions of sizes for the condition, its checks and the output shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.public.answer import Answer
from symbcast.core.solver.budget import one_call
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.guards import Requirement
    from symbcast.core.shapes import Shape


class ModuleAnswer(Answer):
    """An answer that a StableHLO module can state as functions of sizes."""

    __slots__ = ()

    @one_call
    def to_stablehlo(self, *, open: bool | None = None, with_assumptions: bool = True) -> str:
        """Return a StableHLO module with functions of sizes: the condition, its checks, and the output shapes.

        ``@condition`` returns whether sizes meet the condition, ``@check`` asserts each requirement, with its operation
        and reason as the message, and ``@shape_NAME`` returns the shape of an output: of each operation of a program,
        each output of a model, and each array that a function returns. All take the sizes in the order of
        ``guard().parameters``. Comments name the outputs whose shapes sizes do not determine, and what the condition
        does not cover. See the README of `symbcast.answers.guards`. Raises `UnknownRankError` for sizes of a sequence.
        """
        from symbcast.answers.guards import stablehlo_source

        condition = self._decided(open, with_assumptions)
        return stablehlo_source(condition, self._shown, self._requirements(), self._outputs(), self._not_covered())

    def _requirements(self) -> Sequence[Requirement]:
        """Return the requirements of the condition, with the messages of their checks."""
        from symbcast.answers.guards import requirements_of

        return requirements_of(self.findings)

    def _outputs(self) -> Mapping[str, Shape | None]:
        """Return the output shapes by name; None for a shape that is unknown."""
        return {}

    def _not_covered(self) -> Iterator[str]:
        """Yield what the condition does not cover, as text."""
        parts = [str(part) for part in self.unanalysed]
        yield from (f"Not analysed: {part}" for part in parts)
        if self.verdict is Verdict.UNKNOWN and self.reason not in parts:
            yield f"Unknown: {self.reason}"
