"""The requirements of one operation: added to the facts and admitted to the groups either completely or not at all."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import join_members, join_with
from symbcast.core.broadcasting import Joined
from symbcast.core.logic.formulas import FALSE, Compatible, Formula
from symbcast.core.program.facts.consistency import Groups
from symbcast.core.program.facts.facts import COMPARED_UP_TO, Facts
from symbcast.core.solver.groups.normal_form import flattened

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim, Term


class Asking:
    """The requirements of one operation. Once one of them cannot hold, the rest is skipped.

    ``new`` are those that no earlier operation has; ``lengthened`` maps some of them to the shorter join that they
    extend and the one additional member.
    """

    def __init__(self, asked: Container[Formula], facts: Facts, groups: Groups) -> None:
        self.new: dict[Formula, None] = {}
        self.lengthened: dict[Formula, tuple[Formula, Term]] = {}
        self._asked = asked
        self._facts = facts
        self._groups = groups
        self._mark = facts.mark()
        self.can_hold = True

    def ask(self, formulas: Iterable[Formula]) -> None:
        """Require that formulas hold."""
        if not self.can_hold:
            return
        found = [f for f in flattened(formulas) if not self._is_old(f)]
        if not found:
            return
        self.new.update(dict.fromkeys(found))
        self.can_hold = FALSE not in found and self._facts.tell(found)

    def join(self, column: Joined) -> None:
        """Require that the join of a column be defined."""
        distinct = [m for m in dict.fromkeys(column) if m != 1]
        if len(distinct) < 2:
            return
        longest, *others = sorted(distinct, key=lambda d: -len(join_members(d)))
        if len(others) == 1 and len(join_members(longest)) > COMPARED_UP_TO and _is_plain(others[0]):
            self._lengthen(longest, others[0])
            return
        if self.can_hold and len({self._facts.dim(m) for m in distinct}) == 1:
            return  # sizes known to be equal can always be joined
        self.ask([Compatible(tuple(dict.fromkeys(m for d in distinct for m in join_members(d))))])

    def admit(self) -> bool:
        """Admit everything to the groups; undo the additions to the facts if it cannot hold."""
        self.can_hold = self.can_hold and (not self.new or self._groups.admit(list(self.new), self.lengthened))
        if self.can_hold:
            self._facts.keep()
        else:
            self.undo()
        return self.can_hold

    def undo(self) -> None:
        """Undo the additions to the facts."""
        self._facts.undo(self._mark)

    def _is_old(self, formula: Formula) -> bool:
        return formula in self._asked or formula in self.new

    def _lengthen(self, joined: Any, added: Any) -> None:
        """Require that a long, defined join remain defined with one more member, without checking the old members."""
        after = join_with(joined, added)
        if after is joined or not self.can_hold:
            return
        formula = Compatible(join_members(after))
        if self._is_old(formula):
            return
        self.new[formula] = None
        self.lengthened[formula] = Compatible(join_members(joined)), added
        self.can_hold = self._facts.tell_join(joined, added, after)


def _is_plain(dim: Dim) -> bool:
    return not isinstance(dim, int) and len(join_members(dim)) == 1
