"""The account of a model: proved requirements, nodes that may be open, and points that walks at single sizes decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.core.account import Account, Open, Sizes, joined
from symbcast.core.characters import listed
from symbcast.core.logic.formulas import FALSE, TRUE, all_of, clauses
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.model import Checked

_ALIKE = (2, 4)
"""Sizes that are tried for all dimensions, next to the smallest that meet the requirements."""


def account_of(checked: Checked) -> Account:
    """Return what is known about a model.

    Each requirement is proved: where it does not hold, the model fails whatever the open nodes need, since their
    outputs have sizes of their own. If all nodes are analysed, the requirements also suffice (with suitable data).
    """
    found = checked.conditions.inputs.account
    left = _open_parts(checked)
    if not left or found.can_work is False:
        return found
    working: tuple[Sizes, ...] = ()
    failing = tuple(_of_inputs(checked, point) for point in found.failing)
    for sizes in _candidates(checked, found.working):
        verdict, is_hopeless = _walked(checked, sizes)
        working = joined([*working, sizes]) if verdict is Verdict.ALWAYS else working
        failing = joined([*failing, sizes]) if verdict is Verdict.NEVER else failing
        if working or is_hopeless:
            break
    can_fail = True if failing else None
    is_analysed = not checked.walk.stopped and not left_open(checked)
    works = checked.conditions.proved if is_analysed else FALSE
    return Account(works, found.needed, (*left, *found.open), working, failing, True if working else None, can_fail)


def partial_reason(checked: Checked) -> str:
    """Return why the requirements may not suffice; empty if all nodes were analysed."""
    if checked.walk.stopped:
        return checked.walk.stopped
    count, undecided = left_open(checked), checked.conditions.undecided
    if count:
        return f"the conditions of {count} node{'s' * (count > 1)} were not checked completely"
    if not undecided:
        return ""
    asker, env = checked.asker, checked.env
    met = [s for s in symbols_in(undecided[0]) if s in asker.origins]
    inner = [s for s in met if s in asker.undecided] or met[:1]
    text = Namer.of(env.shown).formula(undecided[0])
    origins = listed([f"{env.shown.get(s, s.name)} is {asker.origins[s]}" for s in inner[:3]])
    return f"it may depend on sizes whether {text}, where {origins}"


def left_open(checked: Checked) -> int:
    """Return the number of nodes whose size conditions were not checked completely."""
    return len({u.node for u in checked.walk.unanalysed if not u.is_about_data})


def assumed_of(checked: Checked) -> Formula:
    """Return the assumptions about the sizes of inputs."""
    own = checked.asker.origins
    return all_of(c for c in clauses(checked.conditions.inputs.assumed) if own.keys().isdisjoint(symbols_in(c)))


def shown_of(checked: Checked) -> Mapping[Symbol, str]:
    """Return the names of the sizes of inputs."""
    shown = checked.conditions.inputs.shown
    return {s: name for s, name in shown.items() if s not in checked.asker.origins}


def _open_parts(checked: Checked) -> tuple[Open, ...]:
    """Return what is open about a model: nodes whose conditions were not checked, or that a walk did not reach."""
    reason = partial_reason(checked)
    if not reason:
        return ()
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for left in checked.walk.unanalysed:
        if not left.is_about_data:
            alike.setdefault((left.op_type, left.reason), {})[left.node] = None
    texts = [f"{next(iter(n))} ({kind}{_more(len(n) - 1)}): {why}" for (kind, why), n in alike.items()]
    stopped = checked.walk.stopped
    texts = [*([stopped] if stopped else []), *texts] or [reason]
    return tuple(Open(text, TRUE) for text in texts)


def _more(count: int) -> str:
    return f", and {count} more node{'s' * (count > 1)}" if count else ""


def _of_inputs(checked: Checked, point: Sizes) -> Sizes:
    names = set(shown_of(checked).values())
    return {name: size for name, size in point.items() if name in names}


def _candidates(checked: Checked, smallest: tuple[Sizes, ...]) -> Iterator[Sizes]:
    """Yield sizes that meet the requirements; none where a walk stopped at its budget, as each other one would."""
    if checked.walk.stopped:
        return
    for point in smallest:
        yield _of_inputs(checked, point)
    names, needed = shown_of(checked), (*checked.conditions.inputs.clauses, assumed_of(checked))
    if all(symbols_in(f).keys() <= names.keys() for f in needed):
        for size in _ALIKE:
            if all(holds_at(f, dict.fromkeys(names, size)) for f in needed):
                yield dict.fromkeys(names.values(), size)


def _walked(checked: Checked, sizes: Sizes) -> tuple[Verdict, bool]:
    """Return the verdict of a walk at sizes, UNKNOWN if nodes are open even then, and whether no sizes help."""
    if not all(isinstance(size, int) for size in sizes.values()):
        return Verdict.UNKNOWN, False
    given = checked.given._replace(bind={**checked.given.bind, **sizes})
    try:
        found = checked.again(given)
    except SymbcastError:
        return Verdict.UNKNOWN, False
    verdict = found.conditions.inputs.decided_verdict
    if not partial_reason(found) or verdict is Verdict.NEVER:
        return verdict, False
    # What does not depend on sizes stays open at any.
    return Verdict.UNKNOWN, len(found.walk.unanalysed) >= len(checked.walk.unanalysed)
