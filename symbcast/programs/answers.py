"""What is to be said of a whole program: decided from what stands of all that its operations asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from symbcast.deciding.breaking import breaking
from symbcast.deciding.decide import Decision
from symbcast.deciding.describing import describe
from symbcast.deciding.knowledge import ContradictionError, Knowledge
from symbcast.deciding.normal import symbols_in
from symbcast.deciding.sets import ALL, SizeSet
from symbcast.dims import Unknown
from symbcast.display.text import visible
from symbcast.errors import AssumptionError
from symbcast.formulas import FALSE, Formula
from symbcast.printing import formula_text
from symbcast.programs.op import Op
from symbcast.programs.origins import Origins, clash
from symbcast.scope import Assumption, own_set
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    import sympy

    from symbcast.programs.trace import Trace


class Requirement(NamedTuple):
    """A conjunct of a program's condition, and the operations that it comes from, the first one first.

    Where one operation asks it by itself, those that do are the origins; else the fewest that together do.
    """

    condition: Formula
    origins: tuple[Op, ...]
    is_asked: bool = True
    """Whether each origin asks it by itself."""

    def __repr__(self) -> str:
        return f"<Requirement {visible(str(self))}>"

    def __str__(self) -> str:
        return f"{formula_text(self.condition)} [{', '.join(op.name for op in self.origins)}]"


class Answers:
    """The answers about a trace as it stands; made anew when it grows."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        symbols = tuple(trace.names.order)
        self.extent = extent(trace)
        domains = {s: own_set(s, trace.min_size) for s in symbols}
        self.knowledge = Knowledge(symbols, domains, [a.formula for a in trace.assumptions])
        asked: list[Formula] = [FALSE] if trace.refused else list(trace.standing)
        self.decision = Decision(self.knowledge, asked)
        self._conflict: tuple[Op, ...] | None = None
        self._origins: Origins | None = None
        self._requirements: tuple[Requirement, ...] | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the program is valid always, sometimes, never, or it is unknown."""
        return self.decision.verdict

    def named(self, sizes: Mapping[sympy.Symbol, int] | None) -> dict[str, int] | None:
        """Return sizes by the names they are shown by."""
        return None if sizes is None else {name: sizes[s] for s, name in self.trace.names.shown.items()}

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; none unless the verdict is never."""
        if self._conflict is None:
            self._conflict = () if self.verdict is not Verdict.NEVER else clash(self.trace, self.knowledge)
        return self._conflict

    def requirement(self, clause: Formula) -> Requirement:
        """Return a conjunct of the condition with the operations that it comes from."""
        if self._origins is None:
            self._origins = Origins(self.trace)
        return Requirement(clause, *self._origins.of(clause))

    def breaking(self, clause: Formula) -> dict[str, int] | None:
        """Return the smallest sizes at which a conjunct fails: beside all others where that can be."""
        return self.named(breaking(self.decision, clause))

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The conjuncts of the condition with the operations that they come from, in the order of the first ones."""
        if self._requirements is None:
            clauses = [] if self.verdict is Verdict.NEVER else self.decision.clauses
            found = map(self.requirement, clauses)
            self._requirements = tuple(sorted(found, key=lambda r: [op.number for op in r.origins[:1]]))
        return self._requirements


def extent(trace: Trace) -> tuple[int, int]:
    """Return how many operations and sizes there are: what answers are about."""
    return len(trace.ops), len(trace.names.order)


def check_sizes(trace: Trace, known: int) -> None:
    """Raise `AssumptionError` if a size that was met after the first ``known`` ones can be none at all."""
    order = trace.names.order
    for s in islice(reversed(order), len(order) - known):
        if not own_set(s, trace.min_size):
            bounds = [f"{s.name} in {s.lower}..{s.upper}"] if isinstance(s, Unknown) else []
            raise AssumptionError("the sizes leave nothing", [*bounds, f"min_size={trace.min_size}"])


def check_assumptions(trace: Trace) -> None:
    """Raise `AssumptionError` if the assumptions contradict each other, with the fewest that do."""
    symbols = tuple(trace.names.order)
    domains = {s: own_set(s, trace.min_size) for s in symbols}
    given = list(trace.assumptions)
    if not _contradict(symbols, domains, given):
        return
    for assumption in list(given):
        fewer = [a for a in given if a is not assumption]
        if _contradict(symbols, domains, fewer):
            given = fewer
    mentioned = {s for a in given for s in symbols_in(a.formula)}
    bounds = [formula_text(describe(s, domains[s])) for s in symbols if s in mentioned and domains[s] is not ALL]
    several = len(given) + len(bounds) > 1
    problem = "these assumptions contradict each other" if several else "this assumption is never true"
    raise AssumptionError(problem, [*(a.text for a in given), *bounds])


def _contradict(
    symbols: Sequence[sympy.Symbol], domains: Mapping[sympy.Symbol, SizeSet], given: Iterable[Assumption]
) -> bool:
    try:
        Knowledge(symbols, domains, [a.formula for a in given])
    except ContradictionError:
        return True
    return False
