"""Check a model: give its inputs symbolic sizes, walk its nodes and combine their requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.sequences import sequences_of
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.logic.formulas import Comparison, at_most
from symbcast.core.program.sizes.assumptions import Assumption, Assumptions, check_min_size, read_assumptions
from symbcast.core.program.whole.program import Program
from symbcast.core.solver.budget import check_budget, limited
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.graphs.inputs.aliases import aliases_of, without_aliases
from symbcast.graphs.inputs.given import Given, read_given
from symbcast.graphs.model import Checked
from symbcast.graphs.requirements.condition import Conditions
from symbcast.graphs.requirements.lengths import LONG, VERY_LONG, TooLongError
from symbcast.graphs.requirements.recorder import Asker
from symbcast.graphs.requirements.refuted_cases import learn_from_refuted
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import OptionalValue, Value
from symbcast.graphs.walking.deciding import decider_of_content

if TYPE_CHECKING:
    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.front_end import FrontEnd
    from symbcast.graphs.inputs.given import ContentsLike
    from symbcast.graphs.inputs.inputs import Inputs
    from symbcast.graphs.model import Model
    from symbcast.graphs.walking.walk import Walk

MAX_WALKS = 3
"""The maximum number of walks through a model; bounds that are found late, and that help, cause another walk."""
_NAMED = 12
"""How many sizes of a model the error about an unknown size lists."""


class Asked(NamedTuple):
    """A question about a model, with what the caller knows about it.

    ``is_plain`` says that sizes stay as the rules of the nodes write them, without simplification by requirements.
    """

    assume: tuple[Assumption, ...]
    min_size: int
    given: Given
    runtime: str
    budget: float | None
    is_plain: bool = False


def read_asked(  # noqa: PLR0913 - each is something that is known, or asked
    front_end: FrontEnd,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: str | None = None,
    budget: float | None = None,
) -> Asked:
    """Read a caller's question and knowledge; ``runtime`` is one of the front end's; None for its default."""
    about = front_end.runtime(runtime)
    if runtime not in (None, about):
        raise ShapeTypeError(runtime, "a runtime", f"write one of {', '.join(map(repr, front_end.runtimes))}")
    check_min_size(min_size)
    if isinstance(assume, Mapping):
        word = "bind" if all(type(v) is int for v in assume.values()) else "shapes"
        raise ShapeTypeError(
            assume, "an assumption", f"write {word}={{...}} for known {'sizes' * (word == 'bind') or word}"
        )
    given = read_given(bind, shapes, values, min_size)
    return Asked(tuple(read_assumptions(assume)), min_size, given, about, check_budget(budget))


def checked(front_end: FrontEnd, model: Model, asked: Asked) -> Checked:
    """Walk through a model and return it with the results."""
    aliases = _aliases(front_end, model, asked.given)
    assume, given = without_aliases(asked.assume, asked.given, aliases) if aliases else (asked.assume, asked.given)
    written = {
        f"{aliases[name]} == {size}": f"{name} == {size}" for name, size in asked.given.bind.items() if name in aliases
    }
    asked = asked._replace(assume=assume, given=given)
    try:
        with limited(asked.budget):
            found = _repeated(front_end, model, asked)
    except AssumptionError as error:
        if written:
            raise AssumptionError(error.problem, [written.get(t, t) for t in error.clashing], error.hint) from None
        raise
    env, asker = found.env, found.asker
    model.settle(found.walk)

    again = _Again(front_end, model, asked)
    said = (text for _, text in model.said(found.inputs, asked.min_size) if text)
    return Checked(
        model.source,
        model,
        env,
        Conditions(env, asker, again.conditions),
        asker,
        found.walk,
        found.inputs,
        (*(a.text for a in found.assumptions), *said, *asked.given.texts()),
        asked.min_size,
        found.inputs.given,
        again,
        front_end.runtimes.get(asked.runtime, ""),
        aliases,
    )


@dataclass(frozen=True)
class _Again:
    """Asks another question about a model; unlike a function in `checked`, it pickles."""

    front_end: FrontEnd
    model: Model
    asked: Asked

    def __call__(self, given: Given | None = None, **changed: Any) -> Checked:
        """Return the model walked with other given values, assumptions or runtime, or with plain sizes."""
        asked = self.asked._replace(**changed) if given is None else self.asked._replace(given=given, **changed)
        return checked(self.front_end, self.model, asked)

    def conditions(self, more: Sequence[Assumption]) -> Conditions:
        """Return the conditions under more assumptions."""
        return self(assume=(*self.asked.assume, *more)).conditions


def _aliases(front_end: FrontEnd, model: Model, given: Given) -> dict[str, str]:
    """Return the model's own names of sizes by their aliases, before names of sizes are read in what is given."""
    known = Given({}, given.shapes, {})
    inputs = model.read_inputs(Program(on_conflict="record"), known.of((), model.input_names))
    return aliases_of(inputs, model.graph, front_end.layouts, known)


class _Walked(NamedTuple):
    """The result of a walk through a model; ``assumptions`` are the caller's."""

    env: Program
    asker: Asker
    walk: Walk
    inputs: Inputs
    assumptions: tuple[Assumption, ...]


def _repeated(front_end: FrontEnd, model: Model, asked: Asked) -> _Walked:
    """Walk through a model with short sizes; with long ones, if names for cases are still needed at the end."""
    if asked.is_plain:
        return _walked_with_short_sizes(front_end, model, asked, VERY_LONG, None)
    found = _learned(front_end, model, asked, LONG)
    if not found.asker.names_cases:
        return found
    whole = _learned(front_end, model, asked, VERY_LONG)
    return found if whole.asker.names_cases else whole


def _learned(front_end: FrontEnd, model: Model, asked: Asked, longest: int) -> _Walked:
    """Walk through a model, and again with the bounds it learned, as long as they help and new ones are learned."""
    walked = partial(_walked_with_short_sizes, front_end, model, asked, longest)
    found, known = walked(None), 0
    for _ in range(MAX_WALKS - 1):
        if found.asker.names_cases:
            learn_from_refuted(found.asker, partial(_runs_nowhere, front_end, model, asked, found.asker))
        learned = found.asker.learned_count
        if learned == known or not found.asker.bounds.answers_more():
            break
        found, known = walked(found.asker), learned
    return found


def _runs_nowhere(front_end: FrontEnd, model: Model, asked: Asked, asker: Asker, case: Assumption) -> bool:
    """Return whether a walk through a model shows that it runs at no sizes at which an assumption holds."""
    known = (Assumption(at_most(low, s)) for s in asker.given if (low := asker.bounds.least(s)))
    try:
        found = _walked_with_short_sizes(
            front_end, model, asked._replace(assume=(*asked.assume, *known, case)), LONG, None
        )
    except AssumptionError:
        return True
    return found.env.decided_verdict is Verdict.NEVER


def _walked_with_short_sizes(
    front_end: FrontEnd, model: Model, asked: Asked, longest: int, before: Asker | None
) -> _Walked:
    """Walk through a model; if its sizes become too long, with names for those that depend on cases."""
    try:
        return _walked(front_end, model, asked, longest, before)
    except TooLongError:
        return _walked(front_end, model, asked, None, before)


def _walked(front_end: FrontEnd, model: Model, asked: Asked, longest: int | None, before: Asker | None) -> _Walked:
    """Walk through a model, with all assumptions about its inputs and the bounds from an earlier walk."""
    env = _environment(asked.assume, asked.budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, asked.runtime, Bounds({}), longest, is_plain=asked.is_plain)
    walk = front_end.walk(model, front_end, asker)
    inputs = model.read_inputs(env, asked.given, are_open=asked.min_size <= 1)
    for symbol in dict.fromkeys(s for s in inputs.symbols if s not in inputs.integers):
        asker.bounds.learn(symbol, asked.min_size)
        if asked.min_size:
            asker.assume(at_most(asked.min_size, symbol))
    for formula, _ in model.said(inputs, asked.min_size):
        asker.assume(formula)
    _learn(asker, env.assumptions)
    asker.start(inputs.symbols, inputs.held, before)
    for flag in inputs.flags:
        asker.assume(at_most(flag, 1))
    for value in inputs.values.values():
        _mark_input(value, asker)
    walk.top.values.update(inputs.values)
    walk.graph(model.graph, walk.top)
    asker.restate_all()
    _check_names(assumptions, asker)
    model.note(walk)
    return _Walked(env, asker, walk, inputs, assumptions)


def _environment(assume: Sequence[Assumption], budget: float | None) -> Program:
    """Return an environment with assumptions about sizes, by name or label, that the model brings later."""
    env = Program(on_conflict="record", budget=budget)
    for size in (s for a in assume for s in symbols_in(a.formula)):
        if isinstance(size, Unknown):
            env.named(size.name)
    env.assume(assume)
    return env


def _mark_input(value: Value, asker: Asker) -> None:
    """Mark the elements of an input as decided by data, except those that the caller gave."""
    found = decider_of_content(value.content, value.shape, asker)
    value.decided_by = Decider.DATA if found is None else found
    if isinstance(value, OptionalValue) and value.held is not None:
        _mark_input(value.held, asker)


def _learn(asker: Asker, assumptions: Iterable[Assumption]) -> None:
    """Record the lower bounds that assumptions state, and the quotients that they state to be integers."""
    bounds = asker.bounds
    for assumption in assumptions:
        if isinstance(assumption.formula, Comparison):
            asker.settled.take(assumption.formula)
        match assumption.formula:
            case Comparison("<=" | "==", int(least), Symbol() as size):
                bounds.learn(size, least)
            case Comparison("==", Symbol() as size, int(least)):
                bounds.learn(size, least)


def _check_names(assumptions: Iterable[Assumption], asker: Asker) -> None:
    """Raise `AssumptionError` if an assumption uses a size that the model does not have."""
    known = {s.name for s in (*asker.inputs, *asker.origins)}
    for assumption in assumptions:
        met = (s for s in symbols_in(assumption.formula) if sequences_of([s]) or s.name not in known)
        strange = [s.name for s in met if asker.sequences.isdisjoint(sequences_of([s]))]
        if strange:
            names = list(dict.fromkeys(s.name for s in (*asker.inputs, *asker.origins)))
            shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
            hint = f"its sizes are {shown}" if names else "all its sizes are numbers"
            raise AssumptionError(
                f"{assumption.text!r} mentions {strange[0]}, which the model does not have", hint=hint
            )


class Present(NamedTuple):
    """The names of a model's sizes and inputs, which select the parts of a question about many models that apply."""

    sizes: tuple[str, ...]
    inputs: tuple[str, ...]


def names_in(front_end: FrontEnd, model: Model, given: Given) -> Present:
    """Return the names in a model, its aliases, and the names in what is given for its inputs."""
    inputs = model.input_names
    found = model.read_inputs(Program(), given.of((), inputs))
    sizes = (s.name for s in (*found.symbols, *found.held))
    return Present((*sizes, *_aliases(front_end, model, given)), inputs)
