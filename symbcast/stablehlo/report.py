"""The report on a StableHLO module, and the gaps between its assertions and what its operations require."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, cast

from symbcast.answers.show.document import Document, Room, field, fields, words
from symbcast.core.algebra.formulas import Formula, equal
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.characters import sizes_text
from symbcast.core.programs.arguments import Assumption
from symbcast.core.programs.program import Program
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError
from symbcast.graphs.model import CheckedModel
from symbcast.graphs.report.graph_report import GraphReport
from symbcast.stablehlo.graph import ASSERTIONS, HINTED, UNASSERTED, HloWalker


@dataclass(frozen=True)
class Gap:
    """Sizes at which the assertions of a module and the requirements of its operations differ.

    Attributes:
        kind: ``"refuses"``: an assertion fails where the operations run; ``"misses"``: all assertions hold where an
            operation fails.
        node: the assertion, or the operation.
        text: what it requires.
        sizes: the smallest such sizes.
    """

    kind: Literal["refuses", "misses"]
    node: str
    text: str
    sizes: dict[str, int]

    def __str__(self) -> str:
        does = "refuses sizes that run" if self.kind == "refuses" else "fails at sizes that pass all assertions"
        return f"{self.node} {does}, such as {sizes_text(self.sizes)}: {self.text}"


class HloRequirement(NamedTuple):
    """What assertions or operations require: the node, in words, and as a formula."""

    node: str
    text: str
    formula: Formula


def gaps_of(
    operations: CheckedModel,
    runs: Iterable[HloRequirement],
    assertions: CheckedModel,
    asserted: Iterable[HloRequirement],
) -> Iterator[Gap]:
    """Yield the gaps between what a module's operations and its assertions require, each from a walk of its own."""
    env = operations.conditions.inputs
    # A custom call may refuse the very sizes that an assertion refuses.
    is_open = any(not left.is_about_data for left in operations.walk.unanalysed)
    holds = None if is_open else _environment(env, env.clauses)  # what is not analysed may fail at these sizes
    for requirement in asserted:
        sizes = _failing(holds, requirement.formula)
        if sizes is not None:
            yield Gap("refuses", requirement.node, requirement.text, _of_inputs(operations, sizes))
    env = assertions.conditions.inputs
    # An assertion that is not known might refuse these sizes.
    holds = None if _is_open(assertions) else _environment(env, env.clauses)
    for requirement in runs:
        sizes = _failing(holds, requirement.formula)
        if sizes is not None:
            yield Gap("misses", requirement.node, requirement.text, _of_inputs(assertions, sizes))


def _of_inputs(checked: CheckedModel, sizes: dict[str, int]) -> dict[str, int]:
    """Return sizes without those that only the walk has, such as counters of loops."""
    # Counters of loops are no sizes of inputs.
    names = {checked.env.shown[s] for s in checked.asker.inputs if s in checked.env.shown}
    return {name: size for name, size in sizes.items() if name in names}


def _is_open(assertions: CheckedModel) -> bool:
    """Return whether some assertions are not known, or are about data."""
    walk = cast("HloWalker", assertions.walk)
    return bool(walk.unknown_assertions or assertions.conditions.data)


def _environment(env: Program, holds: Iterable[Formula]) -> Program | None:
    """Return an environment with the sizes and assumptions of another one, in which formulas are assumed.

    Returns None if they hold at no sizes.
    """
    assumed = Program(on_conflict="record", budget=env.budget)
    for size in env.shown:
        assumed.met(size)
    try:
        assumed.assume(*env.assumptions, *map(Assumption, holds))
    except AssumptionError:
        return None
    return assumed


def _failing(env: Program | None, formula: Formula) -> dict[str, int] | None:
    """Return the smallest sizes that an environment allows and a formula does not; None if none were found."""
    if env is None:
        return None
    program = env.fork()
    program.require(Assumption(formula))
    return program.counterexample()


@dataclass(frozen=True)
class Hint:
    """What is known about an axis of the operand of a ``dynamic_broadcast_in_dim``.

    Attributes:
        node: the operation.
        axis: the axis of its operand.
        kind: ``"expanding"``: its size is 1; ``"nonexpanding"``: its size is the result's.
        status: ``"proven"`` or ``"open"`` for a hint in the module, ``"wrong"`` if it fails at some sizes at which the
            module runs, ``"suggested"`` for one that holds and that the module does not give.
        sizes: the smallest sizes at which a wrong hint fails.
    """

    node: str
    axis: int
    kind: str
    status: Literal["proven", "wrong", "open", "suggested"]
    sizes: dict[str, int] | None = None


def hints_of(checked: CheckedModel) -> Iterator[Hint]:
    """Yield the hints of a module, each proven, refuted or open; and those that it could give on dynamic axes."""
    env, own = checked.conditions.inputs, checked.asker.origins.keys()
    runs = _environment(env, env.clauses)
    if runs is None:
        return
    for (node, axis), stretch in cast("HloWalker", checked.walk).stretches.items():
        meanings = {"nonexpanding": equal(stretch.size, stretch.result), "expanding": equal(stretch.size, 1)}
        is_open = not own.isdisjoint(symbols_of((stretch.size, stretch.result)))
        for kind, formula in meanings.items():
            if stretch.hint == kind:
                yield Hint(node, axis, kind, "open") if is_open else _hint(runs, node, axis, kind, formula)
            elif not (stretch.hint or is_open or isinstance(stretch.size, int)) and _holds(runs, formula):
                yield Hint(node, axis, kind, "suggested")
                break


def _hint(runs: Program, node: str, axis: int, kind: str, formula: Formula) -> Hint:
    if _holds(runs, formula):
        return Hint(node, axis, kind, "proven")
    sizes = _failing(runs, formula)
    return Hint(node, axis, kind, "open" if sizes is None else "wrong", sizes)


def _holds(env: Program, formula: Formula) -> bool:
    program = env.fork()
    program.require(Assumption(formula))
    return program.verdict is Verdict.ALWAYS


# How many gaps the answer in words shows.
_SHOWN = 2


class HloReport(GraphReport):
    """The input sizes at which a function of a module runs, every shape in it, and the requirements of each node."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Where the module's assertions refuse sizes that would run, and where they let sizes pass that do not.

        The module is walked without its assertions, and for its assertions alone. Those about data are left out.

        >>> from symbcast.stablehlo import check
        >>> report = check('''
        ... func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        ...   %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        ...   %two = stablehlo.constant dense<2> : tensor<i32>
        ...   %enough = stablehlo.compare GE, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        ...   stablehlo.custom_call @shape_assertion(%enough) {error_message = "Expected value >= 2",
        ...       has_side_effect = true} : (tensor<i1>) -> ()
        ...   return %x : tensor<?xf32>
        ... }''')
        >>> (gap,) = report.gaps
        >>> gap.kind, gap.text, gap.sizes
        ('refuses', 'the module asserts it: Expected value >= 2', {'arg0_0': 1})
        """
        walked = [
            HloReport(self._checked.again(self._checked.known_inputs, runtime=r)) for r in (UNASSERTED, ASSERTIONS)
        ]
        operations, assertions = (
            [HloRequirement(f.operation, f.reason or f.words, f.formula) for f in r.findings] for r in walked
        )
        return tuple(gaps_of(walked[0]._checked, operations, walked[1]._checked, assertions))

    def _document(self, *room: Room) -> Document:

        document = super()._document(*room)
        gaps = self.gaps if cast("HloWalker", self._checked.walk).is_asserting else ()
        if not gaps:
            return document
        rows = [field("assertions" if not n else "", words(str(gap)), most=2) for n, gap in enumerate(gaps[:_SHOWN])]
        more = f"{len(gaps) - _SHOWN} more; .gaps has them all" if len(gaps) > _SHOWN else ""
        return document.replace(blocks=(*document.blocks, fields([*rows, field("and", words(more), most=1)])))

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints of dynamic broadcasts, each proven, refuted or open, and those that could be given.

        The module is walked for them once more.
        """
        return tuple(hints_of(self._checked.again(self._checked.known_inputs, runtime=HINTED)))
