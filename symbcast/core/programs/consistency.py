"""Whether all requirements of a program can hold together, updated with every operation."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.core.algebra.arithmetic import join_members, join_with
from symbcast.core.algebra.formulas import FALSE, Compatible, Formula
from symbcast.core.algebra.terms import Dim, Symbol, Term
from symbcast.core.effort import EffortSpentError
from symbcast.core.programs.assumptions import own_set
from symbcast.core.programs.facts import COMPARED_UP_TO, Facts
from symbcast.core.rules import Joined
from symbcast.core.solver.budget import DECIDED, Satisfiability, budget_share
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.normal_form import as_relation, normal_conjuncts, symbols_in
from symbcast.core.solver.size_sets import ALL

if TYPE_CHECKING:
    from symbcast.core.solver.incremental import GrowingConjunction


# Whether all requirements so far can hold together: updated with every operation.
#
# The graph alone decides equalities and joins of plain sizes. Other formulas, and all formulas that share symbols with
# them, are in a growing conjunction that remembers sizes at which it holds: the next requirement usually holds there
# too.


_NOT_LENGTHENED: tuple[Any, Any] = (None, None)
Lengthened: TypeAlias = "Mapping[Formula, tuple[Formula, Term]]"
"""For a join, the shorter one that it implies and the one member that it has more."""


class _Waiting:
    """A formula over plain sizes that shares no symbols with terms yet."""

    __slots__ = ("formula",)

    def __init__(self, formula: Formula) -> None:
        self.formula = formula


class RequirementGroups:
    """The requirements on terms and everything connected to them, and those still waiting to be checked."""

    def __init__(self, min_size: int) -> None:
        self.min_size = min_size
        self._growing: GrowingConjunction | None = None
        self._tied: set[Symbol] = set()
        self._waiting: dict[Symbol, list[_Waiting]] = {}
        self._by_formula: dict[Formula, _Waiting] = {}

    def copy(self) -> RequirementGroups:
        """Return an independent copy."""
        copied = RequirementGroups(self.min_size)
        copied._growing = None if self._growing is None else self._growing.copy()
        copied._tied = set(self._tied)
        copies = {id(w): _Waiting(w.formula) for waiting in self._waiting.values() for w in waiting}
        copied._waiting = {s: [copies[id(w)] for w in waiting] for s, waiting in self._waiting.items()}
        copied._by_formula = {f: copies[id(w)] for f, w in self._by_formula.items() if id(w) in copies}
        return copied

    def sizes(self) -> Mapping[Symbol, int]:
        """Return sizes at which everything connected to terms holds."""
        return {} if self._growing is None else self._growing.sizes

    def admit(self, formulas: Sequence[Formula], lengthened: Lengthened) -> bool:
        """Add formulas unless they provably cannot hold together with the others; return whether they were added.

        The graph already contains them, and found no contradiction. ``lengthened`` names the joins among them
        that replace a shorter one.
        """
        tied = [f for f in formulas if self._is_tied(f, lengthened)]
        plain = [f for f in formulas if f not in tied] if tied else list(formulas)
        moved: list[tuple[Symbol, list[_Waiting]]] = []
        if tied and not self._tie(tied, plain, moved):
            self._waiting.update(moved)
            self._by_formula.update((w.formula, w) for _, waiting in moved for w in waiting)
            return False
        for formula in plain:
            self._wait(formula, lengthened)
        return True

    def _is_tied(self, formula: Formula, lengthened: Lengthened) -> bool:
        """Return whether the graph cannot decide a formula, alone or together with formulas that share its symbols."""
        shorter, added = lengthened.get(formula, _NOT_LENGTHENED)
        if added is not None and added.is_Symbol and shorter in self._by_formula:
            return added in self._tied  # the shorter join waits, so nothing is connected to its members
        return not _is_plain(formula) or not self._tied.isdisjoint(symbols_in(formula))

    def _wait(self, formula: Formula, lengthened: Lengthened) -> None:
        """Store a formula under each of its symbols, for when one of these is connected to a term."""
        shorter, added = lengthened.get(formula, _NOT_LENGTHENED)
        waiting = None if shorter is None else self._by_formula.pop(shorter, None)
        symbols: Iterable[Any]
        if waiting is None:
            waiting, symbols = _Waiting(formula), symbols_in(formula)
        else:
            symbols = (added,)
            waiting.formula = formula
        self._by_formula[formula] = waiting
        for symbol in symbols:
            self._waiting.setdefault(symbol, []).append(waiting)

    def _tie(self, tied: Sequence[Formula], plain: list[Formula], moved: list[tuple[Symbol, list[_Waiting]]]) -> bool:
        """Add formulas, and all that wait for their symbols, to the growing conjunction, if it can then hold."""
        growing = self._grown()
        length = len(growing)
        symbols: set[Symbol] = set()
        ahead, done = list(tied), set(tied)
        # A formula brings its symbols, and each symbol the formulas that waited for it.
        while ahead:
            formula = ahead.pop()
            growing.add(formula)
            for symbol in symbols_in(formula):
                if symbol in self._tied or symbol in symbols:
                    continue
                symbols.add(symbol)
                own = own_set(symbol, self.min_size)
                if own is not ALL:
                    growing.add(set_formula(symbol, own))
                waiting = self._waiting.pop(symbol, [])
                moved.append((symbol, waiting))
                for formula_waiting in waiting:
                    self._by_formula.pop(formula_waiting.formula, None)
                also = [*(w.formula for w in waiting), *(f for f in plain if symbol in symbols_in(f))]
                ahead += [f for f in also if f not in done]
                done.update(also)
        answer = Satisfiability.UNKNOWN
        with suppress(EffortSpentError), budget_share(DECIDED):
            answer = growing.can_hold()
        # An undecided conjunction counts as possible: an operation is refused only with proof.
        if answer is Satisfiability.UNSATISFIABLE:
            growing.shrink(length)
            return False
        self._tied.update(symbols)
        plain[:] = [f for f in plain if f not in done]
        return True

    def _grown(self) -> GrowingConjunction:
        if self._growing is None:
            from symbcast.core.solver.incremental import GrowingConjunction

            self._growing = GrowingConjunction()
        return self._growing


def _is_plain(formula: Formula) -> bool:
    """Return whether the graph and the sets of sizes decide a formula, together with other plain formulas."""
    if len(symbols_in(formula)) > 1:
        return as_relation(formula) is not None
    try:
        solution_set(formula)
    except NotPeriodicError:
        return False
    return True


class RequirementAdmission:
    """The requirements of one operation. Once one of them cannot hold, the rest is skipped.

    ``new`` are those that no earlier operation has; ``lengthened`` maps some of them to the shorter join that they
    extend and the one additional member.
    """

    def __init__(self, earlier: Container[Formula], facts: Facts, groups: RequirementGroups) -> None:
        self.new: dict[Formula, None] = {}
        self.lengthened: dict[Formula, tuple[Formula, Term]] = {}
        self._earlier = earlier
        self._facts = facts
        self._groups = groups
        self._mark = facts.mark()
        self.can_hold = True

    def require(self, formulas: Iterable[Formula]) -> None:
        """Require that formulas hold."""
        if not self.can_hold:
            return
        new = [f for f in normal_conjuncts(formulas) if not self._is_old(f)]
        if not new:
            return
        self.new.update(dict.fromkeys(new))
        self.can_hold = FALSE not in new and self._facts.add(new)

    def join(self, column: Joined) -> None:
        """Require that the join of a column be defined."""
        distinct = [m for m in dict.fromkeys(column) if m != 1]
        if len(distinct) < 2:
            return
        longest, *others = sorted(distinct, key=lambda d: -len(join_members(d)))
        if len(others) == 1 and len(join_members(longest)) > COMPARED_UP_TO and _is_one_size(others[0]):
            self._lengthen(longest, others[0])
            return
        if self.can_hold and len({self._facts.dim(m) for m in distinct}) == 1:
            return  # sizes known to be equal can always be joined
        self.require([Compatible(tuple(dict.fromkeys(m for d in distinct for m in join_members(d))))])

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
        return formula in self._earlier or formula in self.new

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
        self.can_hold = self._facts.add_join(joined, added, after)


def _is_one_size(dim: Dim) -> bool:
    return not isinstance(dim, int) and len(join_members(dim)) == 1
