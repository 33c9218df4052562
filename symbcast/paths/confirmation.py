"""Compare paths with real calls: at pairwise different sizes, at 0 and 1, and where a requirement is violated.

The result of a path is a claim about all its sizes, so one call that disagrees refutes it. A wrong shape shows up where
sizes differ; a missing requirement shows up at 0, at 1, or where sizes differ; a requirement that is too strong shows
up where only it is violated and the function still works. A call fails as predicted if it raises at the predicted line;
the kind of its error is reported, because traced code may raise another one. Only an error that tracing itself may have
caused needs a call with an error of a related kind.

A refuted path is left unknown, and the reason states both what the function did and what the trace predicted. If calls
agreed where all sizes are 2 or more, and one at sizes of 0 or 1 does not, only those sizes are left unknown.

The number of calls is limited. Each path is always called at sizes as different as it allows; the rest of
`Limits.calls` is spent on violated requirements first, then on sizes 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symbcast.core.algebra.formulas import Formula, all_of, equal, negate
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.programs.scope import Scope
from symbcast.core.structs import NamedTuple
from symbcast.paths.audit import audited
from symbcast.paths.exploration import Exploration, ObservedCall, PathOutcome, unsteady_exploration
from symbcast.paths.real_calls import (
    CallsWithNumbers,
    Limits,
    NumbersBySymbol,
    PointCondition,
    PointSearch,
    RaisedError,
)
from symbcast.paths.sizes import SizeAsKeyError
from symbcast.paths.steps import NOWHERE, CodePlace, PathStep, UntracedError


class _Prediction(NamedTuple):
    """The prediction for the sizes of a path, or for sizes that violate one of its requirements."""

    outcome: int
    length: int
    """The number of steps of the outcome that lead here."""
    is_violated: bool = False


# How many families of sizes of 0 and 1 are left unknown; with more, the paths are.
MAX_EXCEPTIONS = 8
# How many paths that were not traced to their end are called, for a point at which they work or fail.
MAX_OPEN_CALLS = 8


class _Exception(NamedTuple):
    """Sizes of 0 or 1 at which calls refute a prediction that they confirm at larger sizes."""

    prediction: _Prediction
    family: Formula
    error: UntracedError
    raised: RaisedError | None = None
    """What calls raise there, if the family is one point without data: then nothing is left unknown."""

    def ended(self, steps: tuple[PathStep, ...], home: str) -> PathOutcome:
        """Return the outcome of these sizes, after some steps."""
        if self.raised is None:
            return PathOutcome(steps, untraced=self.error)
        error = self.raised.error.with_traceback(None)
        return PathOutcome(steps, error=error, place=_line_of(self.raised, home), is_confirmed=True)


@dataclass
class _Goal:
    """A search for sizes for a call: the prediction to test, and the sizes that are fixed."""

    prediction: _Prediction
    fixed: dict[Symbol, int]
    is_first: bool = False
    is_other: bool = False
    """Whether other sizes are preferred than for the first goal."""


def confirm(
    exploration: Exploration, calls: CallsWithNumbers, scope: Scope, *, home: str = "", limits: Limits | None = None
) -> Exploration:
    """Return an exploration without the results that real calls refute.

    A refuted outcome becomes untraced; if a requirement is refuted, so do all outcomes of paths through it. An outcome
    with a doubtful error, which tracing itself may have caused, needs a call that agrees.
    """
    try:
        return _Confirmation(exploration, calls, scope, home, limits or Limits()).confirmed()
    except _UnsteadyError as error:
        return unsteady_exploration(error.what.what, error.what.place, exploration.data)


class _UnsteadyError(Exception):
    """Two calls at the same sizes behaved differently."""

    def __init__(self, what: UntracedError) -> None:
        super().__init__(what)
        self.what = what


class _Confirmation:
    def __init__(
        self, exploration: Exploration, calls: CallsWithNumbers, scope: Scope, home: str, limits: Limits
    ) -> None:
        self.exploration, self.calls, self.scope, self.home = exploration, calls, scope, home
        self.names = scope.names
        self.outcomes = list(exploration.outcomes)
        self._left, self._sure, self._audits = limits.calls, limits.sure, limits.audits
        self._points = PointSearch(tuple(scope.names), scope.min_size, limits.effort)
        self._assumed = tuple(PointCondition(a.formula) for a in scope.assumptions)
        # The outcomes that at least one call agreed with.
        self._agreed: set[int] = set()
        # The outcomes at whose sizes a call agreed with a prediction; if several are possible, data decide which.
        self._met: set[int] = set()
        self._called: set[tuple[int, ...]] = set()
        self._read: dict[Formula, PointCondition] = {}
        # The original steps of each outcome; those in `outcomes` are cut where a call refutes them.
        self._steps = [o.steps for o in exploration.outcomes]
        ends = [_Prediction(n, len(steps)) for n, steps in enumerate(self._steps)]
        self._ends = [e for e in ends if self.outcomes[e.outcome].untraced is None]
        # The requirements whose violation a call confirmed, keyed by the formulas up to and including each.
        self._confirmed: set[tuple[Formula, ...]] = set()
        # The predictions that a call confirmed where all sizes are 2 or more.
        self._regular: set[_Prediction] = set()
        self._exceptions: list[_Exception] = []
        # The kinds of errors raised where a requirement is violated, if they are not as predicted.
        self._kinds: dict[tuple[Formula, ...], str] = {}
        # The errors raised by outcomes, if they are not of the predicted kind.
        self._raised: dict[int, BaseException] = {}
        # The sizes of each call, and its results for the data that were tried.
        self._results_at: list[tuple[NumbersBySymbol, list[Any]]] = []
        # The outcomes that a call refuted at sizes of the whole path.
        self._refuted: set[int] = set()
        self._open = [a.steps for a in exploration.pending]
        self._open += [o.steps for o in exploration.outcomes if o.untraced is not None]

    def confirmed(self) -> Exploration:
        for goal in self._goals():
            if not (goal.is_first or (self._left > 0 and self._points.effort > 0)):
                break  # the first goals come first
            if self._is_open(goal.prediction):
                continue
            at = self._near(goal)
            if goal.is_first:
                at = next((p for p in (at, self._at_hand(goal.prediction)) if p and self.calls.is_small(p)), None)
            if at is not None and tuple(at.values()) not in self._called and self.calls.is_small(at):
                self._called.add(tuple(at.values()))
                self._compare(goal, at)
        for number, outcome in enumerate(self.outcomes):
            self.outcomes[number] = self._closed(outcome, number)
        self._call_open()
        self._leave_exceptions()
        exploration = audited(replace(self.exploration, outcomes=self.outcomes), self.calls, self.scope, self._audits)
        # A complete answer needs no points of calls, unless data decide.
        return replace(
            exploration, observed=() if exploration.is_complete and not exploration.data else tuple(self._observed())
        )

    def _call_open(self) -> None:
        """Call the paths that were not traced to their end: sizes at which they work, or fail, are known then."""
        opened = [n for n, o in enumerate(self.exploration.outcomes) if o.untraced and not o.untraced.is_compiled]
        for number in opened[:MAX_OPEN_CALLS]:
            at = self._at_hand(_Prediction(number, len(self._steps[number])))
            if at is not None and self.calls.is_small(at) and tuple(at.values()) not in self._called:
                self._called.add(tuple(at.values()))
                self._results_at.append((at, list(self._results(at))))

    def _results(self, at: NumbersBySymbol) -> Iterator[Any]:
        """Yield results of calls at some sizes until one does not raise."""
        for real in self.calls.results(at):
            self._left -= 1
            yield real
            if not isinstance(real, RaisedError):
                return

    def _observed(self) -> Iterator[ObservedCall]:
        """Yield sizes at which the function works, or fails without any data: other data might make it work."""
        for at, results in self._results_at:
            raised = [r for r in results if isinstance(r, RaisedError)]
            if any(isinstance(r.error, UntracedError) for r in raised):  # the function kept a size of a trace
                continue
            named = {name: at[s] for s, name in self.names.items()}
            if len(raised) < len(results):
                yield ObservedCall(named)
            elif raised and self.calls.is_without_data(at):
                error = f"{type(raised[0].error).__name__}: {raised[0].error}"
                yield ObservedCall(named, error, _line_of(raised[0], self.home))

    def _leave_exceptions(self) -> None:
        """Split off the sizes at which predictions are refuted, as paths that fail or are unknown."""
        places: dict[tuple[bool, tuple[Formula, ...]], list[_Exception]] = {}
        for exception in self._exceptions:
            end, length, is_violated = exception.prediction
            begin = tuple(s.formula for s in self._steps[end][: length + is_violated])
            places.setdefault((is_violated, begin), []).append(exception)
        for (is_violated, begin), exceptions in sorted(places.items(), key=lambda item: -len(item[0][1])):
            length = len(begin) - is_violated
            split: list[PathStep] = []
            for exception in exceptions:
                steps = self._steps[exception.prediction.outcome][:length]
                decided = (*steps, *split, PathStep("decide", exception.family, NOWHERE))
                self.outcomes.append(exception.ended(decided, self.home))
                split.append(PathStep("decide", negate(exception.family), NOWHERE))

            for number, original in enumerate(self._steps):
                outcome = self.outcomes[number]
                if is_violated or len(original) == length:
                    more = _inserted(outcome.steps, split, length, begin, original)
                    self.outcomes[number] = replace(outcome, steps=more)
            if is_violated:
                pending = self.exploration.pending
                pending[:] = [a._replace(steps=_inserted(a.steps, split, length, begin, a.steps)) for a in pending]

    def _closed(self, outcome: PathOutcome, number: int) -> PathOutcome:
        if number in self._refuted:
            # The operation that was traced wrongly may also have added wrong requirements.
            steps = outcome.steps
            length = next((n for n in range(len(steps)) if self._is_doubtful(steps[: n + 1])), len(steps))
            outcome = replace(outcome, steps=steps[:length])
        if self._kinds:
            begins = [tuple(s.formula for s in outcome.steps[: n + 1]) for n in range(len(outcome.steps))]
            kinds = (self._kinds.get(b, s.error) for s, b in zip(outcome.steps, begins, strict=True))
            outcome = replace(
                outcome, steps=tuple(s._replace(error=k) for s, k in zip(outcome.steps, kinds, strict=True))
            )
        if number in self._raised and outcome.untraced is None:
            outcome = replace(outcome, error=self._raised[number].with_traceback(None))
        if outcome.is_doubtful and number not in self._agreed and outcome.untraced is None:
            untraced = UntracedError(_cannot_follow(outcome.error), outcome.place)
            return replace(outcome, raw=None, untraced=untraced)
        return replace(outcome, raw=None, is_confirmed=number in self._met)

    # Choose the sizes for calls.

    def _goals(self) -> Iterator[_Goal]:
        yield from (_Goal(end, {}, True) for end in self._ends)
        yield from (_Goal(violated, {}) for violated in self._requirements())
        # Paths that differ only at even sizes agree at 2 and 3: these sizes are composite.
        yield from (_Goal(end, {}, is_other=True) for end in self._ends)
        # An error of other code may have the same line and type where sizes differ, and not where they are equal.
        failing = [e for e in self._ends if self.outcomes[e.outcome].error is not None]
        yield from (_Goal(end, dict.fromkeys(self.names, size)) for end in failing for size in (4, 2))
        for size in (0, 1):
            for end in self._ends:
                yield from (_Goal(end, {s: size}) for s in self.names)
            for violated in self._requirements():
                yield from (_Goal(violated, {s: size}) for s in self.names)

    def _near(self, goal: _Goal) -> dict[Symbol, int] | None:
        """Return sizes for a call; for a requirement, preferably sizes that violate nothing else."""
        prediction, hand = goal.prediction, self.outcomes[goal.prediction.outcome].sizes
        conditions, at = self._conditions(prediction), None
        later = (
            self._read_steps(self._steps[prediction.outcome][prediction.length + 1 :]) if prediction.is_violated else []
        )
        # Where nothing else is violated, a call shows whether this requirement is needed.
        if later:
            at = self._points.near((*conditions, *later), goal.fixed, hand)
        return at or self._points.near(conditions, goal.fixed, hand, is_other=goal.is_other)

    def _requirements(self) -> Iterator[_Prediction]:
        """Yield a violation for each distinct requirement that does not depend on data."""
        nodes: dict[tuple[int, Formula], int] = {}
        for end in self._ends:
            node = 0  # a node of the tree of all steps: paths that begin alike share requirements
            for length, step in enumerate(self._steps[end.outcome]):
                key = node, step.formula
                is_new = key not in nodes
                node = nodes.setdefault(key, len(nodes) + 1)
                if is_new and self._can_violate(step):
                    yield _Prediction(end.outcome, length, True)

    def _is_doubtful(self, steps: Sequence[PathStep]) -> bool:
        """Return whether the last step is a requirement that no call confirmed."""
        return steps[-1].kind == "require" and tuple(s.formula for s in steps) not in self._confirmed

    def _can_violate(self, step: PathStep) -> bool:
        """Return whether a step is a requirement on input sizes only."""
        return step.kind == "require" and self._condition(step.formula).symbols <= self.names.keys()

    def _at_hand(self, prediction: _Prediction) -> dict[Symbol, int] | None:
        """Return the sizes with which the path was run, if all its conditions hold there."""
        hand = self.outcomes[prediction.outcome].sizes
        at = {s: hand.get(s, 2) for s in self.names}
        return at if all(c.holds(at) for c in self._conditions(prediction)) else None

    def _conditions(self, prediction: _Prediction) -> list[PointCondition]:
        """Return the assumptions and the conditions that lead to a prediction, without those that depend on data."""
        steps = self._steps[prediction.outcome]
        conditions = [*self._assumed, *self._read_steps(steps[: prediction.length])]
        if prediction.is_violated:
            conditions.append(self._condition(negate(steps[prediction.length].formula)))
        return conditions

    def _read_steps(self, steps: Sequence[PathStep]) -> list[PointCondition]:
        read = [self._condition(s.formula) for s in steps]
        return [c for c in read if c.symbols <= self.names.keys()]

    def _condition(self, formula: Formula) -> PointCondition:
        if formula not in self._read:
            self._read[formula] = PointCondition(formula)
        return self._read[formula]

    def _is_open(self, prediction: _Prediction) -> bool:
        """Return whether the prediction was already withdrawn."""
        outcome = self.outcomes[prediction.outcome]
        return outcome.untraced is not None and (not prediction.is_violated or len(outcome.steps) <= prediction.length)

    # Calling and comparing.

    def _compare(self, goal: _Goal, at: NumbersBySymbol) -> None:
        """Call at some sizes, and withdraw the predictions there if the calls refute them."""
        possible = self._possible(goal.prediction, at)
        if possible is None or any(self._is_exception(f, at) for f in possible):
            return
        sure = self._sure if goal.is_first else 1
        unlike: list[RaisedError] = []
        has_agreed = False
        results: list[Any] = []
        self._results_at.append((at, results))
        for number, real in enumerate(self.calls.results(at), 1):
            self._left -= 1
            results.append(real)
            alike = [f for f in possible if self._is_alike(f, real, at)]
            fits = bool(alike) or self._is_of_data(possible, real)
            self._agreed.update(f.outcome for f in alike if not f.is_violated)
            # A single wrong result refutes a prediction. An error refutes it only if no data are found with which a
            # call agrees.
            unlike += [real] if isinstance(real, RaisedError) and not fits else []
            # Without data, two calls at the same sizes must do the same: this function has a state.
            if has_agreed and not fits and not self.calls.has_data:
                raise _UnsteadyError(self._otherwise(possible[0], real, at))
            if not fits and not isinstance(real, RaisedError):
                self._refute(possible, real, at)
                return
            has_agreed = has_agreed or fits
            if has_agreed and number >= sure:
                break
        if has_agreed:
            if all(at[s] > 1 for s in self.names):
                self._regular.update(possible)
            self._met.update(f.outcome for f in possible if not f.is_violated)
            violated = [self._steps[f.outcome][: f.length + 1] for f in possible if f.is_violated]
            self._confirmed.update(tuple(s.formula for s in steps) for steps in violated)
        elif unlike and not any(self.calls.is_of_data(r.error) for r in unlike):
            self._refute(possible, unlike[0], at)

    def _except(self, prediction: _Prediction, family: Formula, real: Any, at: NumbersBySymbol) -> None:
        """Except sizes from a prediction; an error at one point where all arrays are empty is certain."""
        # Arrays without elements have no other data: np.average with weights of no elements fails for certain.
        is_point = self.names.keys() <= self._condition(family).symbols
        is_certain = is_point and isinstance(real, RaisedError) and self.calls.is_without_data(at)
        raised = real if is_certain and not isinstance(real.error, UntracedError) else None
        self._exceptions.append(_Exception(prediction, family, self._otherwise(prediction, real, at), raised))

    def _possible(self, prediction: _Prediction, at: NumbersBySymbol) -> list[_Prediction] | None:
        """Return all predictions that are possible at some sizes, depending on data; None if any is unknown."""
        if not self.exploration.data:
            return [prediction]
        # A path that was not followed to its end may do anything at these sizes.
        if any(self._broken(steps, at) is None for steps in self._open):
            return None
        possible = []
        for end in self._ends:
            broken = self._broken(self._steps[end.outcome], at)
            if broken is None:
                possible.append(end)
            elif self._can_violate(self._steps[end.outcome][broken]):
                possible.append(_Prediction(end.outcome, broken, True))
        return None if any(map(self._is_open, possible)) else possible

    def _broken(self, steps: Sequence[PathStep], at: NumbersBySymbol) -> int | None:
        """Return the index of the first step that fails at some sizes; steps that depend on data are skipped."""
        for number, step in enumerate(steps):
            condition = self._condition(step.formula)
            if condition.symbols <= self.names.keys() and not condition.holds(at):
                return number
        return None

    def _is_of_data(self, possible: Sequence[_Prediction], real: Any) -> bool:
        """Return whether a call fails at a line with a requirement on data, which may be violated."""
        if not isinstance(real, RaisedError):
            return False
        steps = (s for f in possible for s in self.outcomes[f.outcome].steps[: f.length])
        required = (s for s in steps if s.kind == "require" and s.place in real.lines)
        if any(not self._condition(s.formula).symbols <= self.names.keys() for s in required):
            return True
        return any(place in real.lines for f in possible for place in self.outcomes[f.outcome].data_lines)

    def _is_alike(self, prediction: _Prediction, real: Any, at: NumbersBySymbol) -> bool:
        if isinstance(real, RaisedError):
            return self._raises(prediction, real)
        outcome = self.outcomes[prediction.outcome]
        return not prediction.is_violated and outcome.error is None and self.calls.fits(outcome.raw, real, at)

    def _raises(self, prediction: _Prediction, real: RaisedError) -> bool:
        """Return whether an error was predicted at its line."""
        outcome = self.outcomes[prediction.outcome]
        if prediction.is_violated:
            step = self._steps[prediction.outcome][prediction.length]
            place, kind = step.place, step.error
        elif outcome.error is not None and (not outcome.is_doubtful or _is_related(outcome.error, real.error)):
            place, kind = outcome.place, type(outcome.error).__name__
        else:
            return False
        if place != NOWHERE and place not in real.lines:
            return False
        if type(real.error).__name__ != kind:
            self._note_kind(prediction, real.error)
        return True

    def _note_kind(self, prediction: _Prediction, error: BaseException) -> None:
        """Note the kind of error that a call raises where another kind was predicted: the first one is reported."""
        if not prediction.is_violated:
            self._raised.setdefault(prediction.outcome, error)
            return
        key = tuple(s.formula for s in self._steps[prediction.outcome][: prediction.length + 1])
        self._kinds.setdefault(key, type(error).__name__)

    def _refute(self, possible: Sequence[_Prediction], real: Any, at: NumbersBySymbol) -> None:
        """Mark the predictions at some sizes as unknown, with the reason; perhaps only at these small sizes."""
        # Broadcasting hides mistakes at 0 and 1: if larger sizes agreed, only this family of small ones is withdrawn.
        family = self._family(possible, at)
        if family is not None:
            for prediction in possible:
                self._except(prediction, family, real, at)
            return
        for prediction in possible:
            error = self._otherwise(prediction, real, at)
            steps = self._steps[prediction.outcome]  # as traced: another prediction here may have cut the outcome's
            if not prediction.is_violated:
                self._refuted.add(prediction.outcome)
                self._forget(prediction.outcome, len(steps), error)
                continue
            # All other paths through this requirement are equally doubtful.
            begin = [s.formula for s in steps[: prediction.length + 1]]
            for number, outcome in enumerate(self.outcomes):
                if [s.formula for s in outcome.steps[: prediction.length + 1]] == begin:
                    self._forget(number, prediction.length, error)
            self.exploration.pending[:] = [
                a._replace(steps=a.steps[: prediction.length])
                if [s.formula for s in a.steps[: prediction.length + 1]] == begin
                else a
                for a in self.exploration.pending
            ]

    def _is_exception(self, prediction: _Prediction, at: NumbersBySymbol) -> bool:
        """Return whether a prediction was already refuted for a family of sizes."""
        return any(e.prediction == prediction and self._condition(e.family).holds(at) for e in self._exceptions)

    def _family(self, possible: Sequence[_Prediction], at: NumbersBySymbol) -> Formula | None:
        """Return the sizes of 0 and 1 at which predictions are refuted; None if they may be wrong elsewhere too."""
        small = [s for s in self.names if at[s] < 2]
        if not small or not self._regular.issuperset(possible) or len(self._exceptions) >= MAX_EXCEPTIONS:
            return None
        hand = self.outcomes[possible[0].outcome].sizes
        # It is one size if calls refute them where all others are 2 or more, and otherwise all that are 0 or 1 here.
        for size in small if len(small) > 1 else ():
            there = self._points.near(self._conditions(possible[0]), {size: at[size]}, hand)
            if there and self.calls.is_small(there) and all(there[s] > 1 for s in self.names if s is not size):
                reals = list(self._results(there))
                if not any(self._is_alike(f, real, there) for real in reals for f in possible):
                    return equal(size, at[size])
        return all_of(equal(s, at[s]) for s in small)

    def _forget(self, number: int, length: int, error: UntracedError) -> None:
        outcome = self.outcomes[number]
        self.outcomes[number] = replace(
            outcome, steps=outcome.steps[:length], untraced=outcome.untraced or error, value=None, raw=None
        )

    def _otherwise(self, prediction: _Prediction, real: Any, at: NumbersBySymbol) -> UntracedError:
        outcome = self.outcomes[prediction.outcome]
        if isinstance(outcome.error, SizeAsKeyError):
            return UntracedError(
                "a size is hashed, as the key of a dict, set or cache, which is not followed", outcome.place
            )
        if not isinstance(real, RaisedError) and not prediction.is_violated and outcome.is_doubtful:
            limit = self.calls.limit_of(outcome.error)
            return UntracedError(limit or _cannot_follow(outcome.error), outcome.place)
        if prediction.is_violated:
            step = self._steps[prediction.outcome][prediction.length]
            was, place = f"{step.error} ({step.reason})", step.place
        elif outcome.error is not None:
            was, place = f"{type(outcome.error).__name__} ({str(outcome.error)[:80]})", outcome.place
        else:
            was, place = f"the result {self.calls.text(outcome.raw, at)}", NOWHERE
        if isinstance(real, RaisedError):
            did, place = f"raised {type(real.error).__name__} ({str(real.error)[:80]})", _line_of(real, self.home)
        else:
            did = f"returned {self.calls.text(real)}"
        sizes = sizes_text({name: at[s] for s, name in self.names.items()})
        return UntracedError(f"at {sizes} the real call {did}; the trace predicted {was}", place)


def _inserted(
    steps: tuple[PathStep, ...],
    more: Sequence[PathStep],
    at: int,
    begin: tuple[Formula, ...],
    original: Sequence[PathStep],
) -> tuple[PathStep, ...]:
    """Return steps with more of them at a place, if the original steps begin with some formulas."""
    is_through = len(steps) >= at and tuple(s.formula for s in original[: len(begin)]) == begin
    return (*steps[:at], *more, *steps[at:]) if is_through else steps


def _is_related(traced: BaseException, real: BaseException) -> bool:
    """Return whether one of two errors is a kind of the other."""
    kinds = type(traced), type(real)
    # If only `Exception` is common, they may be unrelated.
    return Exception not in kinds and (isinstance(real, kinds[0]) or isinstance(traced, kinds[1]))


# Classes of a trace in messages of errors, and what they are to the reader.
_CLASSES = {"Size": "a size", "Dimension": "a size", "Real": "a number that sizes decide"}
_CLASSES |= {"SymbolicArray": "an array without data", "DataText": "text that data decide"}


def _cannot_follow(error: BaseException | None) -> str:
    """Return why a trace cannot follow a line that raises an error in the trace only, in words of the user's code."""
    text = str(error).partition("\n")[0]
    for name, words in _CLASSES.items():
        text = re.sub(rf"'?\b(?:symbcast\.[\w.]*)?{name}\b'?(?: object)?", words, text)
    return f"the trace cannot follow this line ({type(error).__name__}: {text[:120]}); real calls work"


def _line_of(real: RaisedError, home: str) -> CodePlace:
    """Return the innermost line of the user's own code in the traceback of a real error."""
    own = [p for p in real.lines if home and p.file.startswith(home)]
    return (own or real.lines or (NOWHERE,))[-1]
