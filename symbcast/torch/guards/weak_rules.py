"""Find rules that require less of sizes than torch does, with the help of torch's recorded guards.

A guard records either a requirement of a kernel or a choice between two branches that both work. So a guard that the
graph's condition does not imply does not prove that a rule is weak, but it gives sizes to test. The graph is run there
on fake tensors, which have no elements, so torch's kernels check sizes without computing anything.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.characters import clipped, sizes_text
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula, at_most, negate
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError
from symbcast.graphs.findings.sizes import knowing
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.torch.reading.graph import type_of
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.program.whole.program import Program
    from symbcast.torch.guards.arguments import Arguments
    from symbcast.torch.guards.guards import Guards

_UNTOLD = ("DynamicOutputShapeException", "DataDependentOutputException", "GuardOnDataDependentSymNode",
           "UnsupportedOperatorException")  # fmt: skip
"""Errors of fake tensors that are not about sizes: an operator depends on data or has no kernel for fake tensors."""


class Failure(NamedTuple):
    """A node that torch's kernels refuse at some sizes, and their error."""

    node: str
    op_type: str
    error: str


class WeakRules:
    """Finds sizes that the graph's condition allows but torch's kernels refuse.

    ``graph`` holds the graph's condition, ``guards`` the program's guards.
    """

    def __init__(self, program: Any, arguments: Arguments, graph: Program, guards: Guards) -> None:
        self._program = program
        self._arguments = arguments
        self._graph = graph
        self._guards = guards
        self._tried: dict[tuple[int, ...], Failure | None] = {}

    def found(self) -> Iterator[Unanalysed]:
        """Yield the nodes whose rules are too weak, each with the guard that revealed it."""
        seen: set[str] = set()
        for guard, formula in self._guards.needed:
            if not _is_one_sided(formula):
                continue
            for sizes in self._violating(formula):
                failure = self._failure(sizes)
                if failure is not None and failure.node not in seen:
                    seen.add(failure.node)
                    yield Unanalysed(failure.node, failure.op_type, _reason(failure, guard.text, sizes))

    def _violating(self, formula: Formula) -> Iterator[dict[str, int]]:
        """Yield the smallest sizes that the condition allows and a guard does not, then the smallest of 2 or more.

        A size of 1 often broadcasts where a larger size fails.
        """
        beyond = [at_most(2, s) for s in self._graph.shown]
        for besides in ([], beyond):
            sizes = self._smallest([*self._graph.clauses, negate(formula), *besides])
            if sizes is not None:
                yield sizes

    def _smallest(self, formulas: Iterable[Formula]) -> dict[str, int] | None:
        try:
            found = Decision(knowing(self._graph), formulas).witness()
        except ContradictionError:
            return None
        if found is None:
            return None
        return {name: found.get(s, max(1, self._graph.least(s))) for s, name in self._graph.shown.items()}

    def _failure(self, sizes: dict[str, int]) -> Failure | None:
        key = tuple(sizes.values())
        if key not in self._tried:
            self._tried[key] = failure_at(self._program, self._arguments, sizes)
        return self._tried[key]


def _is_one_sided(formula: Formula) -> bool:
    """Return whether a guard is more than ``!=``; torch uses ``!=`` to rule out 0 and 1, and kernels never need it."""
    match formula:
        case Comparison(operator):
            return operator != "!="
        case AllOf(parts) | AnyOf(parts):
            return any(map(_is_one_sided, parts))
        case _:
            return True


def _reason(failure: Failure, guard: str, sizes: Mapping[str, int]) -> str:
    said = f"torch guards {guard}, which the rule for {failure.op_type} does not require"
    return f"{said}; at {sizes_text(sizes)} torch says: {failure.error}"


def failure_at(program: Any, arguments: Arguments, sizes: Mapping[str, int]) -> Failure | None:
    """Return the node that torch's kernels refuse at some sizes; None if they refuse none or cannot decide."""
    torch, fx, fake = load(), load("torch.fx"), load("torch._subclasses.fake_tensor")
    symbolic = load("torch.fx.experimental.symbolic_shapes")
    # Data-dependent sizes are torch symbols; the sizes of inputs are numbers.
    shapes = symbolic.ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
    at: list[Any] = []

    class Run(fx.Interpreter):  # type: ignore[misc, name-defined]
        def run_node(self, node: Any) -> Any:
            at.append(node)
            return super().run_node(node)

    try:
        mode = fake.FakeTensorMode(allow_non_fake_inputs=True, shape_env=shapes, static_shapes=True)
        with _quiet(), mode, torch.no_grad():
            Run(program.graph_module).run(*_flat(program, arguments.without_elements(sizes)))
    except Exception as error:
        if type(error).__name__ in _UNTOLD:
            return None
        text = " ".join(str(error).partition("\n\nWhile executing")[0].split())
        return Failure(at[-1].name, type_of(at[-1].target), clipped(text, 200))
    return None


def _flat(program: Any, given: Iterable[Any]) -> list[Any]:
    """Return all arguments of the graph: stored tensors and user inputs."""
    own = iter(given)
    held = {**program.state_dict, **program.constants}
    specs = program.graph_signature.input_specs
    return [next(own) if s.kind.name == "USER_INPUT" else held[s.target] for s in specs]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch from logging that a kernel refused sizes."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before
