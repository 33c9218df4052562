"""Findings of runs: what the condition asks, each conjunct with the line that fails first where it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symbcast.explanation.names import Namer
from symbcast.explanation.words import in_words
from symbcast.logic.formulas import FALSE, Formula
from symbcast.report.failures import shape_at
from symbcast.solver.counterexamples import breaking
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symbcast.algebra.symbols import Symbol
    from symbcast.operators.context import Dims
    from symbcast.paths.answer import PathsAnswer
    from symbcast.paths.regions import Branch


@dataclass(frozen=True, kw_only=True)
class PathFinding:
    """A conjunct of the condition of a run; or, where it works at no sizes that are known, a line that fails.

    Attributes:
        file: The file of the line that fails first at `counterexample`; empty where that is not known.
        line: Its number, from 1.
        source: Its text.
        operation: What the line does there, such as ``"matmul"``; empty where the code itself raises.
        operands: The shapes that meet there.
        formula: What must hold.
        text: The same as text, which `symbcast.Condition` reads back.
        words: The same in words.
        error: The kind of the error, and why it is raised.
        counterexample: The smallest sizes at which this fails and, if possible, nothing else does.
        sizes_there: The operands at these sizes.
        fix: What to do.
    """

    file: str = ""
    line: int = 0
    source: str = ""
    operation: str = ""
    operands: tuple[Dims, ...] = ()
    formula: Formula = field(repr=False)
    text: str
    words: str
    error: str = ""
    counterexample: dict[str, int] | None = field(default=None, hash=False)
    sizes_there: str = ""
    fix: str = ""

    @property
    def works(self) -> str:
        """When the run works, as far as this finding tells: "works only when N is even"."""
        return "works for no sizes" if self.formula == FALSE else f"works only when {self.words}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


def findings_of(paths: PathsAnswer) -> Iterator[PathFinding]:
    """Yield what a run asks, the line that fails first where each conjunct does not hold."""
    namer = Namer.of(paths.names)
    decision = paths.decision
    if decision.verdict is Verdict.ALWAYS:
        return
    for clause in decision.clauses:
        sizes = decision.counterexample() if clause == FALSE else breaking(decision, clause)
        branch = None if sizes is None else paths.failing_at(sizes)
        if branch is not None or paths.complete:
            yield _finding(paths, clause, sizes, branch, namer)


def _finding(
    paths: PathsAnswer, clause: Formula, sizes: Mapping[Symbol, int] | None, branch: Branch | None, namer: Namer
) -> PathFinding:
    place = branch.end.place if branch is not None else None
    step = branch.steps[-1] if branch is not None and branch.steps and branch.steps[-1].error else None
    operands = () if step is None else tuple(o for o in step.operands if o)
    text, said = namer.formula(clause), in_words(clause, namer)
    return PathFinding(
        file="" if place is None else place.file,
        line=0 if place is None else place.line,
        source="" if place is None else place.source,
        operation="" if step is None else step.operation,
        operands=operands,
        formula=clause,
        text=text,
        words="no sizes will do" if clause == FALSE else said,
        error="" if branch is None else branch.end.error,
        counterexample=None if sizes is None else {name: sizes[s] for s, name in paths.names.items()},
        sizes_there="" if sizes is None else " beside ".join(shape_at(o, sizes) for o in operands),
        fix="" if clause == FALSE else f"call it only where {text}, or check that before",
    )
