"""Hold what is claimed of data against calls at small sizes: "it works" says that suitable data exist, "it fails" none.

Neither is proved where data choose the path: the trace takes numbers that data decide for independent unless it knows
how they are related. So each claim is held against calls with many kinds of data; one that returns shows that suitable
data exist. Where none is found, it is open: at the sizes of 0, 1 and 2 that all such points have in common, and at all
sizes of these paths if there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice, product

from symbcast.core.algebra.formulas import Formula, all_of, equal, negate
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.scope import Scope
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.paths.conclusions import Conclusions
from symbcast.paths.exploration import Exploration, PathOutcome
from symbcast.paths.real_calls import CallsWithNumbers, NumbersBySymbol, RaisedError
from symbcast.paths.steps import NOWHERE, CodePlace, PathStep, UntracedError

# The largest size of a point, how many sizes differ between points, and how many points there are at most.
LARGEST, MAX_NAMES, MAX_POINTS = 3, 4, 64
# How many families of points are left open; with more, all sizes are.
MAX_FAMILIES = 8


def audited(exploration: Exploration, calls: CallsWithNumbers, scope: Scope, most_calls: int) -> Exploration:
    """Return an exploration without the claims about data that calls at small sizes do not support."""
    if not calls.has_data or not (exploration.data or any(o.data_lines for o in exploration.outcomes)):
        return exploration
    conclusions = Conclusions(scope, exploration)
    claimed: list[NumbersBySymbol] = []
    refuted: list[tuple[NumbersBySymbol, RaisedError]] = []
    for at in filter(calls.is_small, _points(scope)):
        is_claimed = holds_at(conclusions.works, at)
        if most_calls <= 0:
            break
        if not is_claimed and holds_at(conclusions.formula, at):
            continue
        error: RaisedError | None = None
        for real in calls.results(at):
            most_calls -= 1
            error = real if isinstance(real, RaisedError) else None
            if error is None:
                break
        if error is None and not is_claimed:
            where = sizes_text({name: at[s] for s, name in scope.names.items()})
            what = f"at {where} the real call returned for some data; the trace predicted that it fails for all"
            return Exploration([PathOutcome((), untraced=UntracedError(what))], data=exploration.data)
        if is_claimed:
            claimed.append(at)
            refuted += [] if error is None else [(at, error)]
    families = _families([at for at, _ in refuted], claimed) if most_calls > 0 else None
    return _without(exploration, calls, refuted, families) if refuted else exploration


def _points(scope: Scope) -> Iterator[NumbersBySymbol]:
    """Yield small sizes that the assumptions allow, those of the smallest sum first."""
    names = list(scope.names)
    domains = [[n for n in range(LARGEST + 1) if n in own_set(s, scope.min_size)] for s in names[:MAX_NAMES]]
    # Data rarely choose by more sizes: the others are as small as they can be without being 0 or 1.
    others = [own_set(s, scope.min_size).least(2) or 0 for s in names[MAX_NAMES:]]
    points = (dict(zip(names, (*at, *others), strict=True)) for at in sorted(product(*domains), key=sum))
    allowed = (p for p in points if all(holds_at(a.formula, p) for a in scope.assumptions))
    yield from islice(allowed, MAX_POINTS)


def _without(
    exploration: Exploration,
    calls: CallsWithNumbers,
    refuted: Sequence[tuple[NumbersBySymbol, RaisedError]],
    families: Sequence[Formula] | None,
) -> Exploration:
    """Leave the refuted points open on the paths that may lead there; a point without any data fails."""
    outcomes: list[PathOutcome] = []
    for outcome in exploration.outcomes:
        if not outcome.works or not any(_may_lead_to(outcome, at) for at, _ in refuted):
            outcomes.append(outcome)
            continue
        untraced = UntracedError("no call found data that lead here", _last_line(outcome))
        if families is None:
            outcomes.append(replace(outcome, value=None, raw=None, untraced=untraced))
            continue
        steps = outcome.steps
        for family in families:
            there = (*steps, PathStep("decide", family, NOWHERE))
            steps = (*steps, PathStep("decide", negate(family), NOWHERE))
            points = [(at, e) for at, e in refuted if holds_at(family, at)]
            if len(symbols_in(family)) == len(points[0][0]) and calls.is_without_data(points[0][0]):
                error = points[0][1]
                place = (error.lines or (NOWHERE,))[-1]
                outcomes.append(PathOutcome(there, error=error.error.with_traceback(None), place=place))
            else:
                outcomes.append(PathOutcome(there, untraced=untraced))
        outcomes.append(replace(outcome, steps=steps))
    return replace(exploration, outcomes=outcomes)


def _may_lead_to(outcome: PathOutcome, at: NumbersBySymbol) -> bool:
    """Return whether the steps of a path that sizes decide hold at some sizes."""
    return all(holds_at(s.formula, at) for s in outcome.steps if symbols_in(s.formula).keys() <= at.keys())


def _last_line(outcome: PathOutcome) -> CodePlace:
    return next((s.place for s in reversed(outcome.steps) if s.kind == "decide" and s.place.file), NOWHERE)


def _families(refuted: Sequence[NumbersBySymbol], claimed: Sequence[NumbersBySymbol]) -> list[Formula] | None:
    """Return the values of few sizes at which all claims are refuted; None if there are too many, or larger sizes."""
    families: list[Formula] = []
    for at in refuted:
        if any(holds_at(f, at) for f in families):
            continue
        small = [s for s in at if at[s] < LARGEST]
        parts = (some for count in range(1, len(at) + 1) for some in combinations(small, count))
        family = next((part for part in parts if _is_refuted(part, at, refuted, claimed)), None)
        if family is None or len(families) == MAX_FAMILIES:
            return None
        families.append(all_of(equal(s, at[s]) for s in family))
    return families


def _is_refuted(
    names: Sequence[Symbol], at: NumbersBySymbol, refuted: Sequence[NumbersBySymbol], claimed: Sequence[NumbersBySymbol]
) -> bool:
    return all(p in refuted for p in claimed if all(p[s] == at[s] for s in names))
