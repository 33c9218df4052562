"""What a module states about its sizes, held against what its operations require: assertions and hints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from symbcast.core.algebra.terms import symbols_of
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import Formula, equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.program.whole.program import Program
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError

if TYPE_CHECKING:
    from symbcast.graphs.model import Checked
    from symbcast.stablehlo.node_call import HloWalker


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


class Asked(NamedTuple):
    """What assertions or operations require: the node, in words, and as a formula."""

    node: str
    text: str
    formula: Formula


def gaps_of(
    operations: Checked, runs: Iterable[Asked], assertions: Checked, asserted: Iterable[Asked]
) -> Iterator[Gap]:
    """Yield the gaps between what a module's operations and its assertions require, each from a walk of its own."""
    env = operations.conditions.inputs
    is_open = any(not left.is_about_data for left in operations.walk.unanalysed)
    holds = None if is_open else _environment(env, env.clauses)  # what is not analysed may fail at these sizes
    for found in asserted:
        sizes = _failing(holds, found.formula)
        if sizes is not None:
            yield Gap("refuses", found.node, found.text, _of_inputs(operations, sizes))
    env = assertions.conditions.inputs
    holds = None if _is_open(assertions) else _environment(env, env.clauses)
    for found in runs:
        sizes = _failing(holds, found.formula)
        if sizes is not None:
            yield Gap("misses", found.node, found.text, _of_inputs(assertions, sizes))


def _of_inputs(checked: Checked, sizes: dict[str, int]) -> dict[str, int]:
    """Return sizes without those that only the walk has, such as counters of loops."""
    names = {checked.env.shown[s] for s in checked.asker.inputs if s in checked.env.shown}
    return {name: size for name, size in sizes.items() if name in names}


def _is_open(assertions: Checked) -> bool:
    """Return whether some assertions are not known, or are about data."""
    walk = cast("HloWalker", assertions.walk)
    return bool(walk.unknown_assertions or assertions.conditions.data)


def _environment(env: Program, holds: Iterable[Formula]) -> Program | None:
    """Return an environment with the sizes and assumptions of another one, in which formulas are assumed.

    Returns None if they hold at no sizes.
    """
    made = Program(on_conflict="record", budget=env.budget)
    for size in env.shown:
        made.met(size)
    try:
        made.assume(*env.assumptions, *map(Assumption, holds))
    except AssumptionError:
        return None
    return made


def _failing(env: Program | None, formula: Formula) -> dict[str, int] | None:
    """Return the smallest sizes that an environment allows and a formula does not; None if none were found."""
    if env is None:
        return None
    asked = env.fork()
    asked.require(Assumption(formula))
    return asked.counterexample()


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


def hints_of(checked: Checked) -> Iterator[Hint]:
    """Yield the hints of a module, each proven, refuted or open; and those that it could give on dynamic axes."""
    env, own = checked.conditions.inputs, checked.asker.origins.keys()
    runs = _environment(env, env.clauses)
    if runs is None:
        return
    for (node, axis), found in cast("HloWalker", checked.walk).stretches.items():
        meanings = {"nonexpanding": equal(found.size, found.result), "expanding": equal(found.size, 1)}
        is_open = not own.isdisjoint(symbols_of((found.size, found.result)))
        for kind, formula in meanings.items():
            if found.hint == kind:
                yield Hint(node, axis, kind, "open") if is_open else _held(runs, node, axis, kind, formula)
            elif not (found.hint or is_open or isinstance(found.size, int)) and _holds(runs, formula):
                yield Hint(node, axis, kind, "suggested")
                break


def _held(runs: Program, node: str, axis: int, kind: str, formula: Formula) -> Hint:
    if _holds(runs, formula):
        return Hint(node, axis, kind, "proven")
    sizes = _failing(runs, formula)
    return Hint(node, axis, kind, "open" if sizes is None else "wrong", sizes)


def _holds(env: Program, formula: Formula) -> bool:
    asked = env.fork()
    asked.require(Assumption(formula))
    return asked.verdict is Verdict.ALWAYS
