"""Lay each clause of a model's condition to the nodes that require it.

A node requires a clause by itself if its own requirements imply it. Such a node fails wherever the clause does, so
only nodes that fail at the counterexample are candidates. The first of them is asked; if it can run where the clause
fails, sizes at which it does are the next counterexample, at which fewer nodes fail. If the nodes asked so far imply
the clause together and none does alone, the clause is joint: ``H % 6 == 0``, of ``H % 2 == 0`` and ``H % 3 == 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.effort import CALL, EffortSpentError, share
from symbcast.core.logic.formulas import Comparison, Formula, all_of, any_of, clauses, negate
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.graphs.findings.sizes import completed, knowing
from symbcast.graphs.requirements.settled import quotients_of

if TYPE_CHECKING:
    from symbcast.answers.report.failures import Sizes
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.operations.operation import Op
    from symbcast.graphs.findings.askers import Askers
    from symbcast.graphs.model import Checked

_TRIED = 8
"""How many nodes are asked about one clause."""
_EFFORT = CALL // 6
"""The units for one clause: the answer about other clauses must not suffer from it."""
_PARTS = 12
"""The most requirements of nodes to search for the fewest that imply a clause."""


class Evidence(NamedTuple):
    """Sizes of inputs at which something fails, by name; and all sizes of the model there."""

    failing: dict[str, int] | None
    sizes: Sizes | None


class Part(NamedTuple):
    """One node's share of a joint clause: its operations, what it requires, and where it fails."""

    ops: tuple[Op, ...]
    required: Formula
    evidence: Evidence


class Laid(NamedTuple):
    """The operations that a clause comes from, those of the node to blame first, and where it fails.

    ``parts`` are the shares of nodes that require it together only, those that only require larger sizes last; else
    empty.
    """

    ops: Sequence[Op]
    evidence: Evidence
    parts: tuple[Part, ...] = ()


class _Met(NamedTuple):
    """A node that fails first at some sizes, with its requirements."""

    node: str | None
    required: Formula
    evidence: Evidence


class Layer:
    """Finds the nodes behind clauses of one model; ``theirs`` maps the model's sizes to those of its condition."""

    def __init__(self, checked: Checked, askers: Askers, theirs: Mapping[Symbol, Symbol]) -> None:
        self._checked = checked
        self._askers = askers
        self._theirs = theirs

    def first(self, clause: Formula) -> Evidence:
        """Return the smallest sizes at which a conjunct of the condition fails."""
        return self._evidence(self._checked.conditions.inputs.counterexample(clause))

    def laid(self, clause: Formula, whole: Formula, first: Evidence) -> Laid:
        """Return the nodes behind a conjunct of the condition, which fails at ``first``.

        ``whole`` is the same over the model's own sizes. If that takes too long, these are the nodes that fail there.
        """
        if not self._checked.asker.sequences:  # implications are decided for sizes; one axis may stand for several
            with suppress(EffortSpentError), share(_EFFORT):
                return self._laid(clause, whole, first)
        return self.at_once(whole, first)

    def at_once(self, whole: Formula, first: Evidence) -> Laid:
        """Return the nodes with exactly this requirement, or else those that fail at some sizes."""
        return Laid(self._askers.of(whole, first.sizes), first)

    def _laid(self, clause: Formula, whole: Formula, first: Evidence) -> Laid:
        exact = self._askers.exactly(whole)
        own = {op.origin for op in exact}
        found, met = first, list[_Met]()
        for _ in range(_TRIED):
            failed = [] if found.sizes is None else self._askers.failing(found.sizes)
            if not failed:
                break
            node = failed[0].origin
            if node in own:
                mine = [op for op in exact if op.origin == node]
                return self._alone([*mine, *_others(exact, node)], found, met, whole)
            met.append(_Met(node, all_of(self._askers.all_asked(node)), found))
            found = self._beyond(clause, whole, [m.required for m in met])
            if found.failing is None:
                break
        if exact:
            return self._alone(exact, first, met, whole)
        if met and found.failing is None and self._implied(whole, [m.required for m in met]):
            return self._own_or_joint(whole, met)
        return self.at_once(whole, first)

    def _own_or_joint(self, whole: Formula, met: Sequence[_Met]) -> Laid:
        """Return the node that implies a clause by itself, or the nodes that imply it together."""
        for one in met:
            if len(met) == 1 or self._implied(whole, [one.required]):
                assert one.evidence.sizes is not None
                failed = self._askers.failing(one.evidence.sizes)
                ops = [*(o for o in failed if o.origin == one.node), *_others(failed, one.node)]
                return self._alone(ops, one.evidence, met, whole)
        shares = [(one, f) for one in met for f in self._askers.all_asked(one.node)]
        if len(shares) <= _PARTS:
            shares = _fewest(shares, lambda kept: self._implied(whole, [f for _, f in kept]))
        parts = [self._part(one, [f for other, f in shares if other is one]) for one in met]
        return _joint(p for p in parts if p is not None)

    def _alone(self, ops: Sequence[Op], evidence: Evidence, met: Sequence[_Met], whole: Formula) -> Laid:
        """Return the node of the first operation; with those whose requirements its own was simplified by.

        ``length == 7`` is ``batch*length // 7 == batch`` where a node before requires that 7 divide ``batch*length``.
        If no other clause says the latter, it is a share of this one.
        """
        known = {one.node: one.evidence for one in met}
        others = {c for c in self._checked.env.clauses if c != whole}
        own = [op for op in ops if op.origin == ops[0].origin]
        parts: dict[tuple[int, Formula], Part] = {}
        for op in own:
            reason = self._checked.asker.reasons.get((op.origin or "", op.formula)) if op.formula is not None else None
            if reason is None or not isinstance(reason.formula, Comparison) or not isinstance(op.formula, Comparison):
                continue
            gone = {*quotients_of(reason.formula)} - {*quotients_of(op.formula)}
            for other, asked in self._askers.asking_whole(gone, op.number):
                if asked not in others:
                    parts[other.number, asked] = Part((other,), asked, known.get(other.origin, evidence))
                    parts.setdefault((op.number, op.formula), Part((op,), reason.formula, evidence))
        return _joint(parts.values()) if parts else Laid(ops, evidence)

    def _part(self, one: _Met, shares: Sequence[Formula]) -> Part | None:
        """Return a node's share of a joint clause, simplified under the assumptions; None if it has none."""
        if not shares:
            return None
        assert one.evidence.sizes is not None
        ops = tuple(op for op in self._askers.failing(one.evidence.sizes) if op.origin == one.node)
        try:
            required = all_of(Decision(knowing(self._checked.env), shares).clauses)
        except ContradictionError:
            required = all_of(shares)
        return Part(ops, required, one.evidence)

    def _evidence(self, failing: dict[str, int] | None) -> Evidence:
        return Evidence(failing, None if failing is None else completed(self._checked, failing))

    def _beyond(self, clause: Formula, whole: Formula, met: Sequence[Formula]) -> Evidence:
        """Return sizes at which a clause fails and some nodes run, with the other clauses holding if possible."""
        env, inputs = self._checked.env, self._checked.conditions.inputs
        others = [c for c in inputs.clauses if c != clause]
        own = [put_in(f, self._theirs) for f in met]
        if symbols_in(all_of(own)).keys() <= inputs.shown.keys():
            found = inputs.failing(any_of((clause, negate(all_of([*others, *own])))))
            return self._evidence(found or inputs.failing(any_of((clause, negate(all_of(own))))))
        return self._evidence(env.failing(any_of((whole, negate(all_of(met))))))

    def _implied(self, whole: Formula, required: Iterable[Formula]) -> bool:
        """Return whether a clause is proved to hold wherever some requirements and the assumptions do."""
        try:
            known = knowing(self._checked.env)
        except ContradictionError:
            return False
        return Decision(known, [any_of((whole, negate(all_of(required))))]).verdict is Verdict.ALWAYS


def _joint(parts: Iterable[Part]) -> Laid:
    kept = tuple(sorted(parts, key=lambda part: (_only_bounds(part), part.ops[0].number)))
    return Laid([op for part in kept for op in part.ops], kept[0].evidence, kept)


def _only_bounds(part: Part) -> bool:
    """Return whether a node only requires larger sizes, as of windows that must fit: others explain a clause better."""
    return all(isinstance(c, Comparison) and c.operator in ("<=", "<") for c in clauses(part.required))


def _others(ops: Iterable[Op], node: str | None) -> list[Op]:
    return [op for op in ops if op.origin != node]


def _fewest(
    shares: Sequence[tuple[_Met, Formula]], implied: Callable[[Sequence[tuple[_Met, Formula]]], bool]
) -> list[tuple[_Met, Formula]]:
    """Return few shares that imply the clause: nodes met later require more, so the last ones are tried first."""
    kept = list(next((shares[n:] for n in reversed(range(len(shares))) if implied(shares[n:])), shares))
    for one in kept[1:]:
        rest = [s for s in kept if s is not one]
        if implied(rest):
            kept = rest
    return kept
