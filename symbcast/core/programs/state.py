"""The general state of a program: its operations, facts and outputs, and the assumptions that a clash needs.

With every operation it updates whether all requirements of the program can hold together.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.core.algebra.arithmetic import join, join_members, join_with, replace_symbols
from symbcast.core.algebra.formulas import FALSE, Compatible, Formula, all_of, different, operations_in
from symbcast.core.algebra.symbols import mentions_rest
from symbcast.core.algebra.terms import Dim, Symbol, Term, symbols_of
from symbcast.core.effort import DECIDED, EffortSpentError, Satisfiability, budget_share
from symbcast.core.programs.arguments import Assumption, linked_sizes, own_set
from symbcast.core.programs.facts import COMPARED_UP_TO, Facts
from symbcast.core.programs.operations import SAME, Key, Op, Repeatable, columns_and_requirements, size_requirements
from symbcast.core.programs.scope import NameTable
from symbcast.core.rules import Demand, Joined, OutputDim
from symbcast.core.rules.broadcast_rule import members_of
from symbcast.core.shapes import Shape, any_shape_of, is_open, shape_of
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import as_relation, holds_at, normal_conjuncts, symbols_in, value_at
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.size_sets import ALL
from symbcast.errors import DimensionError

if TYPE_CHECKING:
    from symbcast.core.solver.incremental import GrowingConjunction


# Whether all requirements so far can hold together: updated with every operation.
#
# The graph alone decides equalities and joins of plain sizes. Other formulas, and all formulas that share symbols with
# them, are in a growing conjunction that remembers sizes at which it holds: the next requirement usually holds there
# too.


# Units of effort for one question about an output; after as many undecided ones, no more are asked.
_EXCLUDED = 20_000
_UNDECIDED = 4
# So few formulas are decided by all tiers, for more effort.
_FEW = 12
_OF_FEW = 100_000
# How many sizes are remembered at which everything holds.
_SAMPLES = 4
_NOT_LENGTHENED: tuple[Any, Any] = (None, None)
Lengthened: TypeAlias = "Mapping[Formula, tuple[Formula, Term]]"
"""For a join, the shorter one that it implies and the one member that it has more."""


def _common_multiple(formula: Formula) -> int:
    """Return the least common multiple of the numbers by which a formula divides."""
    divisors = (o.args[1].constant for o in operations_in(formula) if o.kind in ("//", "%") and o.args[1].is_constant)
    return lcm(*(n for n in divisors if n)) or 1


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
        # Sizes at which the first formulas of the growing conjunction hold, and how many these are.
        self._samples: list[dict[Symbol, int]] = []
        self._sampled = 0

    def copy(self) -> RequirementGroups:
        """Return an independent copy."""
        copied = RequirementGroups(self.min_size)
        copied._growing = None if self._growing is None else self._growing.copy()
        copied._tied = set(self._tied)
        copies = {id(w): _Waiting(w.formula) for waiting in self._waiting.values() for w in waiting}
        copied._waiting = {s: [copies[id(w)] for w in waiting] for s, waiting in self._waiting.items()}
        copied._by_formula = {f: copies[id(w)] for f, w in self._by_formula.items() if id(w) in copies}
        copied._samples, copied._sampled = list(self._samples), self._sampled
        return copied

    def sizes(self) -> Mapping[Symbol, int]:
        """Return sizes at which everything connected to terms holds."""
        return {} if self._growing is None else self._growing.sizes

    @property
    def extent(self) -> int:
        """The number of formulas connected to terms."""
        return 0 if self._growing is None else len(self._growing)

    def is_tied(self, symbol: Symbol) -> bool:
        """Return whether a symbol is connected to terms."""
        return symbol in self._tied

    def excludes(self, formula: Formula) -> bool | None:
        """Return whether what is connected to terms contradicts a formula; None if that is undecided.

        Most formulas hold at one of the few sizes that earlier questions gave.
        """
        growing = self._growing
        symbols = symbols_in(formula).keys()
        if growing is None or self._tied.isdisjoint(symbols) or not symbols <= growing.sizes.keys():
            return False
        known = self._known_sizes(growing)
        if any(holds_at(formula, sizes) for sizes in known):
            return False
        # Often one size can be another, or all can be a multiple: microseconds show that, and a search milliseconds.
        near = [{**known[0], s: size} for s in symbols for size in (2 * known[0][s], known[0][s] + 1)]
        near.append(dict.fromkeys(growing.sizes, _common_multiple(formula)))
        if any(holds_at(formula, sizes) and growing.holds_at(sizes) for sizes in near):
            return False
        answer, sizes = growing.check([formula])
        if answer is Satisfiability.SATISFIABLE:
            self._samples = [sizes, *self._samples][:_SAMPLES]
        return None if answer is Satisfiability.UNKNOWN else answer is Satisfiability.UNSATISFIABLE

    def contradicts(self, formula: Formula, order: Iterable[Symbol]) -> bool | None:
        """Decide by all tiers whether few formulas contradict one; None if that is undecided, or there are more.

        ``order`` is that of all sizes: where effort runs out must not depend on their names.
        """
        if self._growing is None or len(self._growing) > _FEW:
            return None
        tied = self._growing.sizes
        sizes = AssumptionSet.of_names(tuple(dict.fromkeys([*(s for s in order if s in tied), *tied])))
        can_hold = Decision(sizes, [*self._growing.formulas, formula]).satisfiable
        return None if can_hold is None else not can_hold

    def _known_sizes(self, growing: GrowingConjunction) -> list[Mapping[Symbol, int]]:
        """Return sizes at which everything connected to terms holds, those of earlier questions too."""
        if self._sampled != len(growing):
            first, self._sampled = min(self._sampled, len(growing)), len(growing)
            self._samples = [s for s in self._samples if growing.holds_at(s, first)]
        return [growing.sizes, *({**growing.sizes, **s} for s in self._samples)]

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
            self._sampled = min(self._sampled, length)
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


class ProgramState:
    """The operations of a program in order, the facts that they established, and their output shapes.

    Nearly every operation of a real program broadcasts sizes that met before: these are looked up pair by pair. The
    others take the slow path: their requirements are added to the facts and admitted to the groups, or refused.

    ``requirements`` holds every distinct requirement; ``standing`` those that no later one implies: their conjunction
    is the condition of the program. ``refused`` holds the operations that cannot hold together with those before them;
    their requirements are in neither.
    """

    def __init__(self, min_size: int) -> None:
        self.min_size = min_size
        self.names = NameTable()
        self.facts = Facts(min_size)
        self.groups = RequirementGroups(min_size)
        self.ops: list[Op] = []
        self.assumptions: list[Assumption] = []
        self.requirements: set[Formula] = set()
        self.standing: dict[Formula, None] = {}
        self.refused: list[int] = []
        # Dimensions that are sizes wherever the requirements hold.
        self._sized: set[Dim] = set()
        self._pairs: dict[tuple[Dim, Dim], Dim] = {}
        self._alone: dict[Dim, Dim] = {}
        self._shortened: dict[Dim, Dim] = {}
        self._cached_at = (0, 0)
        self.repeatable: dict[Key, Repeatable] = {}
        # What was left open about the sizes of outputs.
        self._undecided: set[Formula] = set()
        # Counts the operations and assumptions that added requirements, or tried to.
        self._admitted = 0

    def copy(self) -> ProgramState:
        """Return an independent copy."""
        copied = ProgramState(self.min_size)
        copied.names, copied.facts, copied.groups = self.names.copy(), self.facts.copy(), self.groups.copy()
        copied.ops, copied.assumptions, copied.refused = self.ops.copy(), self.assumptions.copy(), self.refused.copy()
        copied.requirements, copied.standing, copied._sized = (
            self.requirements.copy(),
            self.standing.copy(),
            self._sized.copy(),
        )
        copied._pairs, copied._alone, copied._cached_at = self._pairs.copy(), self._alone.copy(), self._cached_at
        copied.repeatable, copied._admitted = self.repeatable.copy(), self._admitted
        copied._undecided = self._undecided.copy()
        return copied

    def known(self, left: Shape, right: Shape) -> Shape | None:
        """Return the join of two shapes if all pairs of their sizes met before, as in nearly every operation.

        A pair that did not may have one member other than 1, which is a size already: that is then the join.
        """
        lead = len(left) - len(right)
        if lead < 0:
            left, right, lead = right, left, -lead
        pairs = self._pairs
        try:
            if lead == 0:
                return shape_of([pairs[pair] for pair in zip(left.dims, right.dims)])  # noqa: B905 - equally long, and strict costs
            alone = [d if type(d) is int else self._alone[d] for d in left.dims[:lead]]
            return shape_of([*alone, *[pairs[pair] for pair in zip(left.dims[lead:], right.dims)]])  # noqa: B905
        except KeyError:
            return self._obvious(left, right, lead)

    def _obvious(self, left: Shape, right: Shape, lead: int) -> Shape | None:
        sizes: list[Dim] = []
        for a, b in zip(left.dims, (*[1] * lead, *right.dims), strict=True):
            joined = self._pairs.get((a, b))
            if joined is None:
                if a not in (1, b) and b != 1:
                    return None
                only = b if a == 1 else a
                if type(only) is not int and only not in self._sized:
                    return None
                joined = self._pairs[a, b] = self._pairs[b, a] = self.facts.dim(only)
            sizes.append(joined)
        return shape_of(sizes)

    def repeat(self, known: Repeatable, origin: str | None) -> Shape | None:
        """Add an operation again, and return its output."""
        _, kind, _, operands, rule, _, _, output = known.op
        self.ops.append(Op(len(self.ops), kind, origin, operands, rule, None, "", output))
        return output

    def renew(self, key: Key) -> Repeatable:
        """Return a repeatable operation with its output as it is simplified now."""
        op, columns, _ = self.repeatable[key]
        output = self._shape(op, columns)
        self._take_sizes(output)
        renewed = self.repeatable[key] = Repeatable(op._replace(output=output), columns, self.version)
        return renewed

    @property
    def version(self) -> int:
        """A number that grows whenever an output may be simplified further."""
        return self.facts.version + self._admitted

    def add(self, op: Op, key: Key | None = None, demand: Demand | None = None) -> bool:
        """Add an operation and its output; return whether all operations so far can hold together.

        ``key`` recognises the operation if it is repeated; ``demand`` is that of its rule on its operands, if known.
        """
        columns, required = columns_and_requirements(op, demand)
        can_hold = self._admit(op, columns, required)
        # The output of a replayed operation that cannot hold is kept, because later ones may use its unknown sizes.
        output = None if can_hold else op.output
        if output is None and op.kind != "require":
            output = self._shape(op, columns, can_hold)
        # Only a replayed operation comes with an output, which may have been edited.
        if output is not None and len(output.dims) != len(columns) and not is_open(output):
            raise DimensionError(str(output), f"must have rank {len(columns)}, like the output of {op.name}")
        op = op._replace(output=output)
        self.ops.append(op)
        self._take_sizes(output, can_hold)
        if not can_hold:
            self.refused.append(op.number)
            return False
        if key is not None:
            self.repeatable[key] = Repeatable(op, columns, self.version)
        if (
            op.rule is not None
            and not any(map(is_open, op.operands))
            and op.rule.is_join([s.dims for s in op.operands])
            and output is not None
        ):
            self._remember(op.operands, output)
        return True

    def _shape(self, op: Op, columns: Sequence[OutputDim], can_hold: bool = True) -> Shape:
        """Return the output shape of an operation from its axes."""
        sizes = [self._output(column, can_hold) for column in columns]
        if any(map(is_open, op.operands)):
            return any_shape_of((op.rule or SAME).rolled([s.values for s in op.operands], sizes))
        return shape_of(sizes)

    def _take_sizes(self, output: Shape | None, can_hold: bool = True) -> None:
        """Record that the axes of an output are over sizes of this program, and are sizes if the operation can hold."""
        sizes = [d for d in (() if output is None else output.dims) if type(d) is not int]
        self.names.sizes.update(dict.fromkeys(sizes))
        if can_hold:
            self._sized.update(sizes)

    def sizes(self) -> dict[Symbol, int]:
        """Return sizes at which all admitted requirements hold, or nearly all."""
        return {**self.facts.least_sizes(self.names.order), **self.groups.sizes()}

    def assume(self, op: Op) -> bool:
        """Add an assumption that the earlier ones allow; return whether the requirements can still hold."""
        assert op.formula is not None
        self.ops.append(op)
        self.assumptions.append(Assumption(op.formula, op.text))
        can_hold = self._suppose(op.formula)
        if not can_hold:
            self.refused.append(op.number)
        return can_hold

    def drop_last(self) -> Op:
        """Remove the record of the last operation, which was refused."""
        op = self.ops.pop()
        self.refused.pop()
        if op.kind == "assume":
            self.assumptions.pop()
        return op

    @staticmethod
    def replayed(ops: Iterable[Op], min_size: int, names: NameTable) -> ProgramState:
        """Return the state after recorded operations, with their recorded outputs; it takes over ``names``."""
        state = ProgramState(min_size)
        state.names = names
        for op in ops:
            shapes = [(s, False) for s in (*op.operands, *(() if op.output is None else (op.output,)))]
            state.names.bind_all(shapes)
            if op.kind == "assume":
                state.assume(op)
            else:
                state.add(op)
        return state

    def _suppose(self, formula: Formula) -> bool:
        admission = RequirementAdmission((), self.facts, self.groups)
        admission.require([formula])
        can_hold = admission.admit()
        self._admitted += 1
        self._forget_what_is_stale()
        return can_hold

    def _admit(self, op: Op, columns: Sequence[OutputDim], required: Sequence[Formula]) -> bool:
        """Add an operation's requirements, that its operands are sizes and that its columns join; all or none."""
        joined = [column for column in columns if isinstance(column, Joined)]
        sized = [d for operand in op.operands for d in operand.dims if type(d) is not int and d not in self._sized]
        needed = size_requirements([d for d in sized if not isinstance(d, Symbol)])
        if not (needed or required or joined):
            self._sized.update(sized)
            return True
        admission = RequirementAdmission(self.requirements, self.facts, self.groups)
        try:
            admission.require(needed)
            admission.require(required)
            for column in joined:
                admission.join(column)
            can_hold = admission.admit()
        except BaseException:
            admission.undo()
            raise
        self._admitted += bool(admission.new) or not can_hold
        if can_hold:
            self._sized.update(sized)
            self.requirements.update(admission.new)
            self.standing.update(admission.new)
            for shorter, _ in admission.lengthened.values():
                self.standing.pop(shorter, None)
        self._forget_what_is_stale()
        return can_hold

    def _output(self, column: OutputDim, can_hold: bool) -> Dim:
        """Return the size of an output axis; an impossible one becomes a fresh unknown, or stays as it was passed."""
        if type(column) is int or type(column) is Symbol:
            return self._short(self.facts.dim(column)) if can_hold else column
        members = members_of(column)
        if any(map(mentions_rest, members)):
            return join(members)  # as many axes as the longest operand has, whatever is known of their sizes
        distinct = [m for m in dict.fromkeys(members) if m != 1]
        if len(distinct) > 1:
            return self._short(self.facts.join(distinct)) if can_hold else self.names.fresh(0, None)
        only = distinct[0] if distinct else 1
        return self._short(self.facts.dim(only)) if can_hold else only

    def _short(self, dim: Dim) -> Dim:
        """Return a size of an output as short as all requirements imply: with numbers for sizes, and fewer members.

        The facts know the sets of plain sizes, and so not that ``H//2 + 1`` cannot be 1 where H is at least 2.
        """
        if isinstance(dim, int):
            return dim
        short = self._shortened.get(dim)
        if short is None:
            short = self._shortened[dim] = self._shorter(dim)
        return short

    def _shorter(self, dim: Dim) -> Dim:
        tied = [s for s in dict.fromkeys(symbols_of((dim,))) if self.groups.is_tied(s)]
        if not tied and all(isinstance(m, Symbol) for m in join_members(dim)):
            return dim  # the facts know all about plain sizes
        dim = replace_symbols(dim, {s: n for s in tied if (n := self._only(s)) is not None})
        only = dim if isinstance(dim, int) else self._only(dim)
        if only is not None:
            return only
        members = join_members(dim)
        return reduce(join_with, self._uncovered(members)) if 1 < len(members) <= COMPARED_UP_TO else dim

    def _only(self, dim: Dim) -> int | None:
        """Return the only value of a size wherever all requirements hold; None if it may have several."""
        symbols = dict.fromkeys(symbols_of((dim,)))
        size = value_at(dim, {**dict.fromkeys(symbols, 1), **self.groups.sizes()})
        if size is None or not (any(map(self.groups.is_tied, symbols)) or self.facts.may_be_only(dim, size)):
            return None
        return size if self._is_excluded(different(dim, size)) else None

    def _uncovered(self, members: Sequence[Dim]) -> list[Dim]:
        """Drop members that are 1 or equal to another one, starting with the last ones."""
        needed = list(members)
        for member in reversed(members):
            others = [m for m in needed if m is not member]
            if any(self._is_excluded(all_of((different(member, 1), different(member, o)))) for o in others):
                needed = others
        return needed

    def _is_excluded(self, formula: Formula) -> bool:
        """Return whether everything so far is proved to contradict a formula."""
        if formula in self._undecided or len(self._undecided) >= _UNDECIDED:
            return False
        is_excluded = None
        with suppress(EffortSpentError), budget_share(_EXCLUDED):
            is_excluded = self.facts.decides(formula) is False or self.groups.excludes(formula)
        if is_excluded is None:
            with suppress(EffortSpentError), budget_share(_OF_FEW):
                is_excluded = self.groups.contradicts(formula, self.names.order)
        if is_excluded is None:
            self._undecided.add(formula)
        return bool(is_excluded)

    def _remember(self, operands: Sequence[Shape], output: Shape) -> None:
        """Cache the joins of the sizes of two operands until more is known about them."""
        if len(operands) != 2:
            return
        long, short = sorted(operands, key=len, reverse=True)
        lead = len(long) - len(short)
        self._alone.update(zip(long.dims[:lead], output.dims, strict=False))
        for left, right, joined in zip(long.dims[lead:], short.dims, output.dims[lead:], strict=True):
            self._pairs[left, right] = self._pairs[right, left] = joined

    def _forget_what_is_stale(self) -> None:
        known = self.facts.version, self.groups.extent
        if self._cached_at != known:
            self._cached_at = known
            self._pairs.clear()
            self._alone.clear()
            self._shortened.clear()


# How many assumptions are left out one by one. Each takes as long as recording the operations that clash.
TRIED = 12


def needed_assumptions(state: ProgramState, clash: Sequence[Op]) -> list[Assumption]:
    """Return assumptions together with which some operations cannot hold, each of them needed, in order.

    Among more than `TRIED` that share sizes with the operations, some may not be needed.
    """
    operations = [op for op in clash if op.kind != "assume"]
    needed = _linked(state.assumptions, operations)
    if len(needed) > TRIED:
        return needed
    for assumption in list(needed):
        others = [a for a in needed if a is not assumption]
        if _clash(state, others, operations):
            needed = others
    return needed


def _linked(assumptions: Sequence[Assumption], operations: Iterable[Op]) -> list[Assumption]:
    """Return the assumptions that share sizes with operations, directly or through others."""
    own = {s for op in operations for c in op.constraints for s in symbols_in(c.requirement)}
    symbols = [frozenset(symbols_in(a.formula)) for a in assumptions]
    linked = linked_sizes(own, symbols)
    return [a for a, own_symbols in zip(assumptions, symbols, strict=True) if not linked.isdisjoint(own_symbols)]


def _clash(state: ProgramState, assumptions: Iterable[Assumption], operations: Iterable[Op]) -> bool:
    """Return whether operations cannot hold together under some assumptions."""
    assumed = [Op(0, "assume", None, formula=a.formula, text=a.text) for a in assumptions]
    renumbered = [op._replace(number=n) for n, op in enumerate([*assumed, *operations])]
    return bool(ProgramState.replayed(renumbered, state.min_size, state.names.copy()).refused)
