"""What all paths of a run say together: one condition, its part on input sizes, its part on data, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product

from symbcast.core.account import Account, OpenPart, Sizes, distinct_points
from symbcast.core.algebra import formulas
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula
from symbcast.core.algebra.terms import Dim, Symbol, term
from symbcast.core.effort import counted_call
from symbcast.core.programs.arguments import Assumption, assumption_set
from symbcast.core.programs.program import Program
from symbcast.core.programs.scope import Scope
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at, normal_conjuncts, replace_in_formula, symbols_in
from symbcast.core.solver.f4_products.projection import literals_of, project
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import LazyAccount, Possible, Verdict, possible, verdict_of
from symbcast.paths.exploration import Exploration, ObservedCall, PathOutcome
from symbcast.paths.regions import Branch, End, PathRegions, ShortConditions
from symbcast.paths.steps import CodePlace, PathStep

# Split a condition into requirements on input sizes only and requirements on data.
#
# A run works at some input sizes if suitable data exist: if the data-dependent sizes can be chosen so that the
# condition holds, together with the facts that always hold for them. `symbcast.core.solver.f4_products.projection`
# eliminates these sizes. The condition implies the result, so the result is necessary. This module proves that it is
# also sufficient if the data are suitable: at all input sizes that it allows, one of a few choices makes the condition
# hold.


# How many choices of the data-dependent sizes are tried to prove that suitable data exist.
MAX_CHOICES = 64
# How many literals the facts about data may have together, so that choices are tried.
MAX_NEEDS = 2_000


class DataSplit(NamedTuple):
    """A condition split into requirements on inputs and on data.

    Attributes:
        inputs: the requirements on input sizes: necessary, and sufficient for suitable data.
        data: the clauses that mention data-dependent sizes.
        is_proved: whether suitable data are proved to exist at all input sizes that ``inputs`` allows.
        shown: where it is not: input sizes at which some choice of the data meets the condition.
    """

    inputs: Formula
    data: tuple[Formula, ...] = ()
    is_proved: bool = True
    shown: Formula = FALSE


def split_by_data(
    whole: Formula, own: frozenset[Symbol], always: Sequence[Formula], assumptions: AssumptionSet
) -> DataSplit:
    """Return the requirements of a condition on inputs only, and on data.

    ``own`` are the data-dependent sizes, ``always`` the facts that always hold for them, and ``assumptions`` the
    assumptions about the input sizes.
    """
    parts = formulas.clauses(whole)
    data = tuple(c for c in parts if not own.isdisjoint(symbols_in(c)))
    if not data:
        return DataSplit(whole)
    bounds = [f for s in sorted(own, key=lambda s: str(s.name)) for f in _bounds(s)]
    inputs = formulas.all_of(project(parts, own, [*always, *bounds], {}).inputs)
    known = [f for f in (*always, *bounds) if not own.isdisjoint(symbols_in(f))]
    is_small = sum(map(literals_of, known)) <= MAX_NEEDS
    ways = list(_ways(formulas.all_of([*parts, *known]), own)) if is_small else []
    # Each choice is one way to choose the data; that together they cover `inputs` is one question for the solver.
    covers = (
        inputs == FALSE
        or Decision(assumptions, [formulas.any_of([formulas.negate(inputs), *ways])]).verdict is Verdict.ALWAYS
    )
    return DataSplit(inputs, data) if covers else DataSplit(inputs, data, False, formulas.any_of(ways))


def _bounds(size: Symbol) -> Iterator[Formula]:
    if size.lower:
        yield Comparison("<=", size.lower, size)
    if size.upper is not None:
        yield Comparison("<=", size, size.upper)


def _ways(needs: Formula, own: frozenset[Symbol]) -> Iterator[Formula]:
    """Yield, for some choices of the data-dependent sizes, the input sizes at which these meet the needs."""
    sizes = [s for s in symbols_in(needs) if s in own]
    choices = [_choices(s, needs, own) for s in sizes]
    for chosen in islice(product(*choices), MAX_CHOICES):
        way = formulas.all_of(normal_conjuncts([replace_in_formula(needs, dict(zip(sizes, chosen, strict=True)))]))
        yield way
        if way == TRUE:
            return


def _choices(size: Symbol, needs: Formula, own: frozenset[Symbol]) -> list[Dim]:
    """Return values to try for a data-dependent size: small numbers, and the terms compared with it."""
    numbers = [size.lower, size.lower + 1] if size.upper is None or size.upper > size.lower else [size.lower]
    return list(dict.fromkeys([*numbers, *_compared(size, needs, own)]))


def _compared(size: Symbol, needs: Formula, own: frozenset[Symbol]) -> Iterator[Dim]:
    for part in (p for c in formulas.clauses(needs) for p in _comparisons(c)):
        if size in symbols_in(part):
            difference = term(part.right) - term(part.left)
            factor = difference.coefficients.get((size,), 0)
            other = (difference - size.scaled(factor)).scaled(-factor)
            if abs(factor) == 1 and own.isdisjoint(other.symbols()):
                yield other.dim()


def _comparisons(formula: Formula) -> Iterator[Comparison]:
    for part in formulas.literals(formula):
        if isinstance(part, Comparison):
            yield part
        elif part != formula:
            for inner in formulas.clauses(part):
                yield from _comparisons(inner)


def facts_of_all_paths(branches: Iterable[Branch]) -> list[Formula]:
    """Return the facts about data that all paths suppose; other facts hold only after their paths' decisions."""
    # On different paths, the same line can compute a data-dependent size from different arrays.
    supposed: dict[Symbol, list[frozenset[Formula]]] = {}
    conditional: dict[Formula, list[Formula]] = {}
    branches = list(branches)
    for branch in branches:
        before: list[Formula] = []
        here: dict[Symbol, set[Formula]] = {}
        for step in branch.steps:
            if step.kind == "suppose":
                conditional.setdefault(step.formula, []).append(
                    formulas.any_of([*map(formulas.negate, before), step.formula])
                )
                for size in symbols_in(step.formula):
                    here.setdefault(size, set()).add(step.formula)
            else:
                before.append(step.formula)
        for size, facts in here.items():
            supposed.setdefault(size, []).append(frozenset(facts))
    # A path on which a size does not occur supposes nothing about it: 1 <= size <= N may need that N is not 0.
    supposed = {size: facts for size, facts in supposed.items() if len(facts) == len(branches)}
    return [f for formula, cases in conditional.items() for f in _facts_for(formula, cases, supposed)]


def _facts_for(
    formula: Formula, cases: Sequence[Formula], supposed: Mapping[Symbol, Sequence[frozenset[Formula]]]
) -> list[Formula]:
    sizes = [s for s in symbols_in(formula) if str(s.name).startswith("?")]
    is_alike = all(s in supposed and all(formula in facts for facts in supposed[s]) for s in sizes)
    return [formula] if is_alike else list(dict.fromkeys(cases))


# How many points of real calls an account has of each kind.
MAX_POINTS = 8
# How many reasons for open sizes are listed separately.
MAX_REASONS = 4


# The bound of a size that is advised: of a size that must be a number, 0 and eight more are tried.
_BOUND = 8
_SUITABLE = "whether data exist with which it works was not decided for all of these sizes"


class Conclusions(LazyAccount):
    """What the paths of a run say together, as formulas. Everything is computed on first access.

    Attributes:
        scope: the input sizes, and the assumptions about them.
        exploration: the paths.
    """

    def __init__(self, scope: Scope, exploration: Exploration) -> None:
        self.scope = scope
        self.exploration = exploration

    # The answer.

    @property
    def formula(self) -> Formula:
        """The proved requirements: where they do not hold, the run fails; elsewhere it works, or that is open."""
        return self.suitable.inputs

    @cached_property
    def suitable(self) -> DataSplit:
        """The proved requirements on inputs alone, and on data. What only paths that work require is none."""
        return self._suitable(lambda end: end.kind != "error")

    @cached_property
    def works(self) -> Formula:
        """The sizes that are proved to work, for suitable data."""
        return self._traced.inputs if self._traced.is_proved else self._conditions.short(self._traced.shown)

    @property
    def works_for_data(self) -> bool:
        """Whether the sizes that are proved to work also need suitable data."""
        return bool(self._traced.data)

    @cached_property
    def _traced(self) -> DataSplit:
        """What the paths that work require together."""
        return self.suitable if self.exploration.is_complete else self._suitable(lambda end: end.kind == "value")

    def _suitable(self, is_wanted: Callable[[End], bool]) -> DataSplit:
        whole = self._region(is_wanted)
        own = frozenset(self.exploration.data)
        split = split_by_data(whole, own, self.always, self.input_assumptions) if own else DataSplit(whole)
        return split._replace(inputs=self._conditions.short(split.inputs)) if split.data else split

    @cached_property
    def always(self) -> list[Formula]:
        """Facts about data that hold at all sizes, such as: the count of true elements is at most the element count."""
        return facts_of_all_paths(self._branches) if self.exploration.data else []

    @cached_property
    def unexplored(self) -> Formula:
        """The sizes about which nothing is known: those of paths that were not followed to their end."""
        return self._region(lambda end: end.kind == "open")

    @cached_property
    def unconfirmed(self) -> Formula:
        """The sizes of paths that no call with numbers confirmed because none of their sizes are small enough."""
        doubted = [o.untraced is None and not o.is_confirmed for o in self.exploration.outcomes]
        if not any(doubted):
            return FALSE
        kinds = [End("open" if is_doubted else "value") for is_doubted in doubted]
        ends = [Branch(o.steps, end) for o, end in zip(self.exploration.outcomes, kinds, strict=True)]
        others = [b._replace(end=End("value")) for b in self.failing]
        branches = {tuple(s.formula for s in b.steps if s.kind != "suppose"): b for b in (*others, *ends)}
        regions = PathRegions(list(branches.values()), self.assumptions.domains)
        return self._conditions.short(regions.of(lambda end: end.kind == "open"))

    @property
    def _decided_verdict(self) -> Verdict:
        is_proved = self.exploration.is_complete and self.suitable.is_proved
        return verdict_of(*self._possible) if is_proved else Verdict.UNKNOWN

    @property
    def _possible(self) -> Possible:
        """Whether some sizes meet the proved requirements, and whether some sizes or data do not."""
        verdict = self.decision.verdict
        some, others = possible(self.program.verdict if verdict is Verdict.UNKNOWN else verdict)
        is_proved = self.suitable.is_proved and self.exploration.is_complete
        # If data can make the run fail, the verdict is "sometimes", even if `formula` is always true.
        is_of_data = bool(self.suitable.data) and is_proved and some is not False
        return some, is_of_data or others

    @cached_property
    def account(self) -> Account:
        """What is known: proved sizes, points of calls and of decisions, and what is open."""
        can_work, can_fail = self._possible
        failing: list[Sizes | None] = [self._named(self.decision.counterexample())]
        if self.exploration.is_complete and self.suitable.is_proved:
            reason = (OpenPart(self.reason, FALSE),) if verdict_of(can_work, can_fail) is Verdict.UNKNOWN else ()
            known = distinct_points([self.witness()])
            return Account(self.formula, self.formula, reason, known, distinct_points(failing), can_work, can_fail)
        proved = Decision(self.input_assumptions, formulas.clauses(self.works))
        working = [self._named(proved.witness()), *self._points(lambda o: not o.error)]
        failing += self._points(lambda o: bool(o.error))
        some = possible(proved.verdict)[0] or (False if can_work is False else None)
        parts = tuple(self._open_parts())
        return Account(
            self.works,
            self.formula,
            parts,
            distinct_points(working),
            distinct_points(failing),
            some,
            can_fail,
            None if self.exploration.observation is None else self.exploration.observation.condition.formula,
        )

    def _points(self, is_wanted: Callable[[ObservedCall], bool]) -> list[Mapping[str, int]]:
        """Return the smallest sizes at which real calls did something, as far as formulas do not say it."""
        names = {name: s for s, name in self.scope.names.items()}
        points = []
        for observed in sorted(filter(is_wanted, self.exploration.observed), key=lambda o: o.rank):
            at = {names[name]: size for name, size in observed.sizes.items()}
            is_said = holds_at(self.works, at) if not observed.error else not holds_at(self.formula, at)
            points += [] if is_said else [observed.sizes]
        return points[:MAX_POINTS]

    def _open_parts(self) -> Iterator[OpenPart]:
        """Yield why sizes are open, and which."""
        if not self._traced.is_proved:
            yield OpenPart(_SUITABLE, self._traced.inputs)
        reasons = list(dict.fromkeys(b.end.key for b in self._branches if b.end.kind == "open"))
        parts = [(str(r), self._of_inputs(self._region(End("open", r).is_same))) for r in reasons[:MAX_REASONS]]
        rest = reasons[MAX_REASONS - 1 :]
        if len(rest) > 1:
            where = self._of_inputs(self._region(lambda end: end.kind == "open" and end.key in rest))
            parts[-1] = (f"{rest[0]}; and {len(rest) - 1} more reasons", where)
        yield from (OpenPart(reason, where) for reason, where in parts if where != FALSE)

    def _of_inputs(self, where: Formula) -> Formula:
        """Return a region, without the clauses about data: these sizes may be open."""
        own = self.exploration.data.keys()
        return formulas.all_of(c for c in formulas.clauses(where) if own.isdisjoint(symbols_in(c)))

    @property
    def reason(self) -> str:
        """Why something is unknown; empty if nothing was left open."""
        untraced = next((o.untraced for o in self.exploration.outcomes if o.untraced is not None), None)
        if untraced is not None:
            return str(untraced)
        if self.exploration.pending:
            return self._unfollowed
        if not self.suitable.is_proved:
            return _SUITABLE
        return self.program.reason if self.decision.verdict is Verdict.UNKNOWN else self.decision.reason

    @property
    def _unfollowed(self) -> str:
        """Why paths were not followed."""
        numbers = next((o.numbers[0] for o in self.exploration.outcomes if o.numbers), None)
        source = f": {numbers.source}" if numbers and numbers.source else ""
        why = f"; {numbers} turns a size into a number{source}" if numbers else ""
        if not numbers:
            place = next((s.place for a in self.exploration.pending for s in reversed(a.steps) if s.place.file), None)
            source = f": {place.source}" if place and place.source else ""
            why = "" if place is None else f"; {place} decides by sizes again and again{source}"
        left, done = len(self.exploration.pending), len(self.exploration.outcomes)
        paths = "path was" if done == 1 else "paths were"
        return f"{done} {paths} followed, and {left} {'was' if left == 1 else 'were'} not{why}"

    @cached_property
    def closing_option(self) -> str:
        """An option of the call, as it is written, that leaves no size open; empty if none is known."""
        names, least = self.scope.names, self.scope.min_size
        options: list[tuple[str, int, tuple[Symbol, ...]]] = [(f"min_size={n}", n, ()) for n in (1, 2) if n > least]
        options += [(f'assume=["{name} <= {_BOUND}"]', least, (s,)) for s, name in names.items()]
        for option, smallest, bounded in options:
            assumed = [*self.scope.assumptions, *(Assumption(formulas.at_most(s, _BOUND)) for s in bounded)]
            known = assumption_set(tuple(names), assumed, smallest)
            is_closed = Decision(known, formulas.clauses(self._of_inputs(self.unexplored))).satisfiable is False
            if is_closed and Decision(known, ()).satisfiable:
                return option
        return ""

    def cases(self, are_working: bool = False) -> Iterator[tuple[Formula, End, str]]:
        """Yield each case, those that work first: its region, its end, and its error at the smallest sizes there.

        With ``are_working``, only cases that work.
        """
        ends = dict.fromkeys((b.end.kind, b.end.key) for b in self.failing)
        firsts = {(b.end.kind, b.end.key): b.end for b in reversed(self.failing)}
        order = sorted((firsts[k] for k in ends if k[0] != "open"), key=lambda e: e.kind != "value")
        for end in order:
            if are_working and end.kind != "value":
                return
            region = self._region(end.is_same)
            if region != FALSE:
                yield region, end, self._error(end, region)

    def paths_to(self, end: End) -> Formula:
        """Return where all steps of a path hold that ends the same way, as they were met: nothing is simplified."""
        return formulas.any_of(
            formulas.all_of(s.formula for s in b.steps) for b in self._branches if end.is_same(b.end)
        )

    def _error(self, end: End, when: Formula) -> str:
        """Return an error with its message at the smallest sizes of a case: one line may raise several messages."""
        if len({b.end.error for b in self.failing if end.is_same(b.end)}) < 2:
            return end.error
        sizes = Decision(self.assumptions, formulas.clauses(when)).witness()
        branch = None if sizes is None else self.failing_at(sizes)
        return end.error if branch is None else branch.end.error

    def witness(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the run works; None if none are known."""
        if not self.exploration.is_complete or not self.suitable.is_proved:
            return next((dict(point) for point in self.account.working), None)
        sizes = self._named(self.decision.witness())
        return self.program.witness() if sizes is None else sizes

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the run fails whatever the data; None if none are known."""
        sizes = self._named(self.decision.counterexample())
        if sizes is None and not self.exploration.is_complete:
            return next((dict(point) for point in self.account.failing), None)
        return self.program.counterexample() if sizes is None else sizes

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition that were not proved necessary given the others."""
        return tuple(filter(self.decision.unproven.__contains__, self.decision.clauses))

    @cached_property
    def program(self) -> Program:
        """The input sizes with their assumptions, and the condition."""
        program = Program(on_conflict="record", min_size=self.scope.min_size)
        for size in self.scope.names:
            program.met(size)
        program.assume(*self.scope.assumptions)
        for clause in formulas.clauses(self.formula):
            program.require(Assumption(clause))
        if "decision" in self.__dict__:
            program.decided_by(self.decision)
        return program

    # The sizes, and what is known about them.

    @cached_property
    def names(self) -> Mapping[Symbol, str]:
        """The names of all sizes, including data-dependent ones."""
        return {**self.scope.names, **{s: s.name for s in self.exploration.data}}

    @cached_property
    def assumptions(self) -> AssumptionSet:
        """The assumptions about all sizes."""
        return self._known(self.names)

    @cached_property
    def input_assumptions(self) -> AssumptionSet:
        """The assumptions about input sizes."""
        if not self.exploration.data:
            return self.assumptions
        return self._known(self.scope.names)

    def _known(self, names: Iterable[Symbol], facts: Iterable[Formula] = ()) -> AssumptionSet:
        """Return the assumptions about some sizes, and facts; the minimum size is for inputs only."""
        assumptions = [*self.scope.assumptions, *map(Assumption, facts)]
        least = self.scope.min_size
        if not least or not self.exploration.data:
            return assumption_set(tuple(names), assumptions, least)
        return assumption_set(
            tuple(names), [*assumptions, *(Assumption(formulas.at_most(least, s)) for s in self.scope.names)], 0
        )

    # Decisions.

    @cached_property
    def decision(self) -> Decision:
        """The decision about the condition."""
        decision = Decision(self.input_assumptions, formulas.clauses(self.formula))
        if "program" in self.__dict__:
            self.program.decided_by(decision)
        return decision

    @cached_property
    def data_decision(self) -> Decision:
        """The decision about the condition together with the requirements on data."""
        requirements = [*formulas.clauses(self.formula), *self.suitable.data]
        return Decision(self.data_assumptions, requirements)

    @cached_property
    def data_assumptions(self) -> AssumptionSet:
        """The assumptions about all sizes, and the facts that always hold for data-dependent sizes."""
        return self._known(self.names, self.always)

    def _named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        return None if sizes is None else {name: sizes[s] for s, name in self.scope.names.items()}

    def _region(self, is_wanted: Callable[[End], bool]) -> Formula:
        with counted_call():
            return self._conditions.short(self._regions.of(is_wanted))

    @cached_property
    def _conditions(self) -> ShortConditions:
        return ShortConditions(self.assumptions)

    @cached_property
    def _regions(self) -> PathRegions:
        return PathRegions(self.failing, self.assumptions.domains)

    @cached_property
    def _branches(self) -> list[Branch]:
        """The paths, each to its end."""
        ended = [Branch(o.steps, _end_of(o)) for o in self.exploration.outcomes]
        pending = self.exploration.pending
        return [*ended, *(Branch(a.steps, End("open", self._unfollowed)) for a in pending)]

    @cached_property
    def failing(self) -> list[Branch]:
        """The paths, plus one failing path per requirement; requirements are turned into decisions."""
        branches: dict[object, Branch] = {}
        for branch in self._branches:
            taken: list[PathStep] = []
            for step in branch.steps:
                if step.kind == "require":
                    end = _failed(f"{step.error}: {step.reason}", step.place)
                    failing = (*taken, step._replace(kind="decide", formula=formulas.opposite(step.formula)))
                    branches.setdefault(tuple(s.formula for s in failing), Branch(failing, end))
                taken.append(step if step.kind == "suppose" else step._replace(kind="decide"))
            branches.setdefault(tuple(s.formula for s in taken), Branch(tuple(taken), branch.end))
        return list(branches.values())

    def failing_at(self, sizes: Mapping[Symbol, int]) -> Branch | None:
        """Return the failing path taken at some sizes; data-dependent sizes not given are tried as 0 to 3."""
        for number in range(4 if self.exploration.data.keys() - sizes.keys() else 1):
            at: dict[Symbol, int] = {**dict.fromkeys(self.exploration.data, number), **sizes}
            for branch in self.failing:
                if branch.end.kind == "error" and all(holds_at(s.formula, at) for s in branch.steps):
                    return branch
        return None


def _failed(error: str, place: CodePlace) -> End:
    # Compare errors without their messages: a message may contain numbers of one path.
    return End("error", (error.partition(":")[0], place), None, error, place)


def _end_of(outcome: PathOutcome) -> End:
    if outcome.untraced is not None:
        return End("open", str(outcome.untraced))
    if outcome.error is not None:
        return _failed(f"{type(outcome.error).__name__}: {outcome.error}", outcome.place)
    return End("value", repr(outcome.value), outcome.value)
