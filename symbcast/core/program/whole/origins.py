"""The operations that a condition or a contradiction comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.logic.formulas import Compatible, Formula, negate
from symbcast.core.program.operations.operation import Op
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.solver.groups.connectivity import Ties
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.whole.trace import Trace


Needs: TypeAlias = "Callable[[Op], tuple[Formula, ...]]"
"""Returns the requirements of an operation as distinct clauses, in the symbols of the decision."""


def clash(trace: Trace, knowledge: Knowledge, needs: Needs) -> tuple[Op, ...]:
    """Return the fewest operations that cannot hold together, in order."""
    from symbcast.core.solver.conflicts.conflicts import smallest_conflict

    groups = _distinct((op for op in trace.ops if op.kind != "assume"), needs)
    refused = [trace.ops[n] for n in trace.refused]
    # Everything before the first refused operation can hold, so if only one was refused, it is in every clash.
    required = [n for n, (op, _) in enumerate(groups) if len(refused) == 1 and op is refused[0]]
    found = smallest_conflict([asked for _, asked in groups], knowledge, required, trace.sizes())
    return tuple(groups[n][0] for n in found)


def clashing_clauses(
    ops: Sequence[Op], knowledge: Knowledge, needs: Needs
) -> tuple[tuple[Op, tuple[Formula, ...]], ...]:
    """Return the fewest clauses of some operations that cannot hold together, by operation.

    ``ops`` are the fewest operations that cannot hold together, so each of them requires one of these clauses.
    """
    from symbcast.core.solver.conflicts.conflicts import smallest_conflict

    asked = [(op, clause) for op in ops for clause in needs(op)]
    found = smallest_conflict([(clause,) for _, clause in asked], knowledge) if len(asked) > len(ops) else ()
    kept = [asked[n] for n in found] or asked
    return tuple((op, tuple(clause for other, clause in kept if other is op)) for op in ops)


class Origins:
    """Finds the operations that the conjuncts of a condition come from."""

    def __init__(self, trace: Trace, order: Iterable[Symbol], assumed: Sequence[Formula], needs: Needs) -> None:
        self._min_size = trace.min_size
        self._assumed = [f for f in assumed if symbols_in(f)]
        self._ties = Ties(order)
        self._ties.tie(self._assumed)
        asked = [(op, [f for f in needs(op) if symbols_in(f)]) for op in trace.ops if op.kind != "assume"]
        for _, formulas in asked:
            self._ties.tie(formulas)
        self._asking: dict[Hashable, list[Op]] = defaultdict(list)
        self._near: dict[Symbol, dict[tuple[Formula, ...], Op]] = defaultdict(dict)
        for op, formulas in asked:
            for formula in formulas:
                self._asking[_key(formula)].append(op)
            for root, tied in self._ties.sorted(formulas).items():
                self._near[root].setdefault(tuple(tied), op)
        self._known: dict[Symbol, Knowledge] = {}
        self._members = dict(self._ties.all())

    def of(self, clause: Formula) -> tuple[tuple[Op, ...], bool]:
        """Return the operations that require a clause, or else the fewest that imply it, and which of the two it is."""
        asking = self._asking.get(_key(clause))
        if asking:
            return tuple(asking), True
        from symbcast.core.solver.conflicts.conflicts import smallest_conflict

        # Only operations that share symbols with the clause, directly or through others, can be relevant to it.
        root = self._ties.find(next(iter(symbols_in(clause))))
        near = self._near[root]
        groups = [*near, (negate(clause),)]
        found = smallest_conflict(groups, self._knowledge(root), required=(len(near),))
        found = found or tuple(range(len(groups)))  # together they imply it, even if a smaller set might
        ops = list(near.values())
        return tuple(ops[n] for n in found if n < len(ops)), False

    def _knowledge(self, root: Symbol) -> Knowledge:
        if root not in self._known:
            symbols = self._members[root]
            assumed = [f for f in self._assumed if not symbols_in(f).keys().isdisjoint(symbols)]
            domains = {s: own_set(s, self._min_size) for s in symbols}
            self._known[root] = Knowledge(symbols, domains, assumed)
        return self._known[root]


def _distinct(ops: Iterable[Op], needs: Needs) -> list[tuple[Op, Sequence[Formula]]]:
    """Return the first operation of each distinct set of requirements, and these requirements."""
    found: dict[tuple[Formula, ...], Op] = {}
    for op in ops:
        asked = needs(op)
        if asked:
            found.setdefault(asked, op)
    return [(op, asked) for asked, op in found.items()]


def _key(formula: Formula) -> Hashable:
    """Return a key that is equal for formulas that differ only in order."""
    return frozenset(formula.dims) if isinstance(formula, Compatible) else formula
