"""Sizes at which guards accept inputs on which the graph fails, or refuse inputs on which the module runs.

The solver finds guards that are too wide: it returns the smallest sizes that satisfy the guards and violate the graph's
condition. Guards that are too narrow are found by running the module at the smallest sizes that violate exactly one
clause of the guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from symbcast.answers.explanation.names import Namer
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import Formula, negate
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError
from symbcast.graphs.findings.sizes import knowing
from symbcast.torch.guards.arguments import Arguments, error_of

if TYPE_CHECKING:
    from symbcast.core.program.whole.program import Program
    from symbcast.torch.guards.guards import Guards
    from symbcast.torch.reading.inputs import Inputs

Kind = Literal["too wide", "too narrow"]


class Disagreement(NamedTuple):
    """The smallest sizes at which the guards and the program disagree about a clause.

    ``kind`` is ``"too wide"`` if the guards accept sizes at which the program fails, and ``"too narrow"`` if they
    refuse sizes at which the module runs. ``clause`` is the violated clause: of the graph's condition if the guards are
    too wide, of the guards if they are too narrow. ``error`` is the program's error; ``was_run`` is False if the sizes
    are too large to run.
    """

    kind: Kind
    clause: str
    sizes: dict[str, int]
    error: str = ""
    was_run: bool = True

    def __str__(self) -> str:
        at = sizes_text(self.sizes)
        if self.kind == "too wide":
            failure = f": {self.error}" if self.error else ""
            return f"guards too wide: they accept {at}, which fails, because it needs {self.clause}{failure}"
        return f"guards too narrow: they refuse {at}, which runs, because they require {self.clause}"


class Comparison(NamedTuple):
    """The result of comparing the guards with the program.

    ``tried`` is the number of sizes that were run; ``unclear`` lists sizes at which a run contradicted the graph's
    condition, and sizes too large to run.
    """

    disagreements: tuple[Disagreement, ...]
    tried: int
    unclear: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether no disagreement was found."""
        return not self.disagreements

    def __str__(self) -> str:
        return "\n".join(map(str, self.disagreements)) or f"no disagreement at the {self.tried} sizes tried"


class Comparer:
    """Compares the guards, the graph and, if there is one, the module of a program."""

    def __init__(self, program: Any, inputs: Inputs, guards: Guards, graph: Program, module: Any) -> None:
        self._guards = guards
        self._graph = graph
        self._module = module
        self._program = program
        self._arguments = Arguments(program, inputs)
        self._inputs = inputs
        self._tried = 0
        self._unclear: list[str] = []

    def comparison(self) -> Comparison:
        """Return all disagreements, one per clause, at the smallest sizes."""
        found = [*self._too_wide()]
        if self._module is not None:
            found += [*self._too_narrow(), *self._fixed()]
        return Comparison(tuple(found), self._tried, tuple(self._unclear))

    def _too_wide(self) -> Iterator[Disagreement]:
        """Yield sizes that the guards accept and the graph does not."""
        namer = Namer.of(self._graph.shown)
        for clause in self._graph.clauses:
            sizes = self._smallest([*self._guards.env.clauses, negate(clause)])
            if sizes is None:
                continue
            error = self._run(self._runnable, sizes)
            if error == "":
                self._unclear.append(f"{sizes_text(sizes)} runs, although the graph requires {namer.formula(clause)}")
            else:
                yield Disagreement("too wide", namer.formula(clause), sizes, error or "", error is not None)

    @cached_property
    def _runnable(self) -> Any:
        """The exported program with its guards, as a module."""
        return self._program.module()

    def _too_narrow(self) -> Iterator[Disagreement]:
        """Yield sizes that the guards refuse and the module accepts."""
        namer = Namer.of(self._guards.env.shown)
        clauses = self._guards.env.clauses
        for n, clause in enumerate(clauses):
            others = [*clauses[:n], *clauses[n + 1 :]]
            for beside in ([*self._graph.clauses, *others], [*self._graph.clauses], others):
                sizes = self._smallest([negate(clause), *beside])
                if sizes is not None and self._run(self._module, sizes) == "":
                    yield Disagreement("too narrow", namer.formula(clause), sizes)
                    break

    def _fixed(self) -> Iterator[Disagreement]:
        """Yield other sizes at which the module runs, for axes that torch fixed although they were left open."""
        sizes = self._smallest(self._guards.env.clauses)
        opened = [s for s in self._guards.specialised if s.was_open]
        for n, fixed in enumerate(opened if sizes is not None else ()):
            if any(s.size == fixed.size for s in opened[:n]):
                continue
            alike = [s for s in opened if s.size == fixed.size]
            tried = [(t, size) for t in ([fixed], alike) for size in (1, fixed.size + 1) if size != fixed.size]
            for together, size in tried:
                if self._runs_fixed(sizes or {}, {s.source: size for s in together}):
                    shown = {**(sizes or {}), **{s.axis: size for s in together}}
                    yield Disagreement("too narrow", f"{fixed.axis} == {fixed.size}", shown)
                    break

    def _runs_fixed(self, sizes: dict[str, int], others: dict[str, int]) -> bool:
        """Return whether the module runs with other sizes on fixed axes."""
        arguments = self._arguments.at(sizes, others)
        self._tried += arguments is not None
        return arguments is not None and not error_of(self._module, arguments)

    def _run(self, module: Any, sizes: dict[str, int]) -> str | None:
        """Return the error of a module at some sizes, empty if it runs; None if the sizes are too large."""
        arguments = self._arguments.at(sizes)
        if arguments is None:
            self._unclear.append(f"{sizes_text(sizes)} is too large to run")
            return None
        self._tried += 1
        return error_of(module, arguments)

    def _smallest(self, formulas: Iterable[Formula]) -> dict[str, int] | None:
        """Return the smallest sizes at which formulas hold; None if there are none or none were found."""
        env = self._guards.env
        try:
            found = Decision(knowing(env), formulas).witness()
        except ContradictionError:
            return None
        if found is None:
            return None
        least: dict[str, int] = {name: max(1, env.least(s)) for s, name in env.shown.items()}
        return {**least, **{s.name: n for s, n in found.items() if isinstance(s, Symbol)}}
