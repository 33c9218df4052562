"""Which operations a condition, or a contradiction, comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.formulas import Compatible, Formula, negate
from symbcast.programs.op import Op
from symbcast.programs.operations import needs

if TYPE_CHECKING:
    from symbcast.deciding.knowledge import Knowledge
    from symbcast.programs.trace import Trace


def clash(trace: Trace, knowledge: Knowledge) -> tuple[Op, ...]:
    """Return the fewest operations that cannot hold together, in order."""
    from symbcast.deciding.clashes import smallest_clash

    groups = _distinct(op for op in trace.ops if op.kind != "assume")
    refused = [trace.ops[n] for n in trace.refused]
    # What came before the first operation that was refused can hold: if it is the only one, it is in every clash.
    required = [n for n, (op, _) in enumerate(groups) if len(refused) == 1 and op is refused[0]]
    found = smallest_clash([asked for _, asked in groups], knowledge, required)
    return tuple(groups[n][0] for n in found)


class Origins:
    """Finds the operations that the conjuncts of a condition come from."""

    def __init__(self, trace: Trace, knowledge: Knowledge) -> None:
        self._groups = _distinct(op for op in trace.ops if op.kind != "assume")
        self._knowledge = knowledge
        self._asking: dict[Hashable, list[Op]] = defaultdict(list)
        for op in trace.ops:
            for formula in needs(op):
                self._asking[_key(formula)].append(op)

    def of(self, clause: Formula) -> tuple[Op, ...]:
        """Return the operations that ask a clause by themselves, or else the fewest that imply it together."""
        asking = self._asking.get(_key(clause))
        if asking:
            return tuple(asking)
        from symbcast.deciding.clashes import smallest_clash

        groups = [*(asked for _, asked in self._groups), (negate(clause),)]
        found = smallest_clash(groups, self._knowledge, required=(len(groups) - 1,))
        return tuple(self._groups[n][0] for n in found if n < len(self._groups))


def _distinct(ops: Iterable[Op]) -> list[tuple[Op, Sequence[Formula]]]:
    """Return the operations that ask something, the first of those that ask the same, with what they ask."""
    found: dict[tuple[Formula, ...], Op] = {}
    for op in ops:
        asked = needs(op)
        if asked:
            found.setdefault(asked, op)
    return [(op, asked) for asked, op in found.items()]


def _key(formula: Formula) -> Hashable:
    """Return what is alike for formulas that say the same in another order."""
    return frozenset(formula.dims) if isinstance(formula, Compatible) else formula
