"""Where a path goes: the sizes at which a run takes some of its paths, as one formula.

Paths that begin alike share their first questions, so they make a tree. The formula of a tree is put together from the
leaves on: a question whose two answers lead to the same is left out, and what both require stands once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, NamedTuple

from symbcast.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, clauses, negate
from symbcast.paths.places import Place
from symbcast.paths.steps import Step


class End(NamedTuple):
    """What a path ends in.

    Attributes:
        kind: ``"value"``, ``"error"``, or ``"open"`` where nothing is known of it.
        key: what tells ends of a kind apart.
        value: what is returned.
        error: the kind of the error, and its message.
        place: the line that fails.
    """

    kind: Literal["value", "error", "open"]
    key: Hashable = ""
    value: Any = None
    error: str = ""
    place: Place | None = None

    def is_same(self, other: End) -> bool:
        """Return whether two paths end in the same."""
        return (self.kind, self.key) == (other.kind, other.key)


class Branch(NamedTuple):
    """A path: its steps, and what it ends in."""

    steps: tuple[Step, ...]
    end: End


def region(branches: Sequence[Branch], is_wanted: Callable[[End], bool]) -> Formula:
    """Return the sizes at which a run comes to the end of a wanted path."""
    return _of(list(branches), 0, is_wanted)


def _of(branches: list[Branch], depth: int, is_wanted: Callable[[End], bool]) -> Formula:
    held: list[Formula] = []
    while True:
        if not any(is_wanted(b.end) for b in branches):
            return FALSE
        ended = [b for b in branches if len(b.steps) <= depth]
        if any(is_wanted(b.end) for b in ended):
            return all_of(held)
        branches = [b for b in branches if b not in ended] if ended else branches
        if len(branches) == 1:
            return all_of([*held, *(s.formula for s in branches[0].steps[depth:] if s.kind != "suppose")])
        step = branches[0].steps[depth]
        if step.kind != "decide":
            held += [step.formula] * (step.kind == "require")
            depth += 1
            continue
        first = [b for b in branches if b.steps[depth].formula == step.formula]
        second = [b for b in branches if b.steps[depth].formula != step.formula]
        found = _of(first, depth + 1, is_wanted)
        other = _of(second, depth + 1, is_wanted) if second else FALSE
        return all_of([*held, _either(step.formula, found, other)])


def _either(asked: Formula, found: Formula, other: Formula) -> Formula:
    """Return ``found`` where something holds and ``other`` where it does not."""
    if found == other:
        return found
    if found == FALSE:
        return all_of([negate(asked), *clauses(other)])
    if other == FALSE:
        return all_of([asked, *clauses(found)])
    ours, theirs = dict.fromkeys(clauses(found)), dict.fromkeys(clauses(other))
    common = [c for c in ours if c in theirs]
    left = all_of(c for c in ours if c not in theirs)
    right = all_of(c for c in theirs if c not in ours)
    if left == TRUE:
        return all_of([*common, any_of([asked, right])])
    if right == TRUE:
        return all_of([*common, any_of([negate(asked), left])])
    return all_of([*common, any_of([all_of([asked, left]), all_of([negate(asked), right])])])
