"""The answer for large sizes: those from some bounds on, where the rare cases of a program are decided one way.

An axis of size 0, a window that does not fit, an end that is clipped, a join with 1: each ends at a small size. If the
answer for all sizes is undecided or long, the one for sizes from there on can still be decided and short. It is
exact there, and says nothing about smaller sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.terms import Operation, symbols_of
from symbcast.core.effort import CALL, Effort, counting
from symbcast.core.logic.formulas import (
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    at_most,
    dims_of,
    literals,
)
from symbcast.core.program.limits import LONG
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.groups.normal_form import normal, symbols_in
from symbcast.core.solver.sets.congruences import PeriodTooLongError
from symbcast.core.solver.sets.piecewise import NotPeriodicError
from symbcast.core.solver.sets.univariate import solve
from symbcast.core.text.printing import formula_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.sizes.assumptions import Assumptions

_SHORTER = 4
"""If the answer for large sizes is long too, it is at most this part of the one for all sizes."""
_LARGEST = 1 << 16
"""Bounds above this are not tried."""
_DROPPED = 4
"""With more bounds, none of them is tried to be left out."""

Bounds: TypeAlias = "dict[Symbol, int]"


class Asked(Protocol):
    """What is needed of a `Program`."""

    @property
    def decided_verdict(self) -> Verdict: ...
    @property
    def clauses(self) -> tuple[Formula, ...]: ...
    @property
    def unproven(self) -> tuple[Formula, ...]: ...
    @property
    def shown(self) -> Mapping[Symbol, str]: ...
    def fork(self) -> Self: ...
    def assume(self, *assumptions: Assumptions) -> None: ...


P = TypeVar("P", bound=Asked)
Ask: TypeAlias = Callable[[Sequence[Assumption]], P]
"""Returns a program whose answer holds under assumptions."""


class Large(NamedTuple, Generic[P]):
    """The answer of a program for sizes from some bounds on.

    Attributes:
        least: the bound of each size that has one.
        program: the program under them; its verdict and clauses are about such sizes only.
    """

    least: Bounds
    program: P

    @property
    def bounds(self) -> tuple[Comparison, ...]:
        """The bounds, as comparisons."""
        return _stated(self.least)

    @property
    def where(self) -> str:
        """The sizes that the answer is about, in words."""
        return formula_text(all_of(self.bounds), self.program.shown)


def large_sizes(program: P, ask: Ask[P] | None = None) -> Large[P] | None:
    """Return the answer for large sizes, if that for all sizes is undecided or long, and this one is not.

    ``ask`` returns the program under assumptions, if it cannot take them itself. The search counts as a call of its
    own: it depends on no other question.
    """
    length = len(text_of(program))
    if program.decided_verdict is not Verdict.UNKNOWN and not program.unproven and length <= LONG:
        return None
    search = _Search(ask or (lambda assumptions: _under(program, assumptions)), max(LONG, length // _SHORTER))
    order = list(program.shown)
    with counting(Effort(CALL, is_call=True)):
        for candidate in _candidates(program.clauses):
            # Axes of unknown number have no names here, so that nothing can be assumed of them.
            least = {size: candidate[size] for size in order if size in candidate}
            found = search.asked(least) if least else None
            if found is not None:
                return search.with_fewest(found)
    return None


def _under(program: P, assumptions: Sequence[Assumption]) -> P:
    made = program.fork()
    made.assume(assumptions)
    return made


def _stated(least: Bounds) -> tuple[Comparison, ...]:
    return tuple(at_most(low, size) for size, low in least.items())


class _Search(NamedTuple, Generic[P]):
    """A search for bounds: how the program is asked under them, and the most characters of its condition there."""

    ask: Ask[P]
    most: int

    def asked(self, least: Bounds) -> Large[P] | None:
        """Return the answer under bounds; None if it is undecided, long, or that no sizes work."""
        try:
            found = Large(least, self.ask([Assumption(f) for f in _stated(least)]))
        except SymbcastError:  # no sizes are that large
            return None
        if found.program.decided_verdict in (Verdict.NEVER, Verdict.UNKNOWN):
            return None
        return found if len(text_of(found.program)) <= self.most else None

    def with_fewest(self, found: Large[P]) -> Large[P]:
        """Return the same answer under fewer bounds, if it holds there too."""
        wanted = set(found.program.clauses)
        for size in list(found.least) if 1 < len(found.least) <= _DROPPED else ():
            fewer = {s: low for s, low in found.least.items() if s != size}
            again = self.asked(fewer) if fewer else None
            if again is not None and set(again.program.clauses) == wanted:
                found = again
        return found


def text_of(program: Asked) -> str:
    """Return the condition of a program as text."""
    return formula_text(all_of(program.clauses), program.shown)


def _candidates(clauses: Sequence[Formula]) -> Iterator[Bounds]:
    """Yield bounds from which on the operations in clauses are decided; and then those of single comparisons too."""
    dims = [d for c in clauses for d in dims_of(c) if not isinstance(d, int)]
    operations = dict.fromkeys(o for d in dims for o in _operations(d))
    first = _greatest(starts for o in operations for starts in _decided_from(o))
    if first:
        yield first
    cases = (part for c in clauses if isinstance(c, (AnyOf, Compatible)) for part in _single(c))
    both = _greatest([*first.items(), *cases])
    if both != first:
        yield both


def _greatest(bounds: Iterable[tuple[Symbol, int]]) -> Bounds:
    found: Bounds = {}
    for size, low in bounds:
        if 0 < low <= _LARGEST:
            found[size] = max(low, found.get(size, 0))
    return found


def _operations(value: Dim) -> Iterator[Operation]:
    for operation in () if isinstance(value, int) else value.operations():
        for arg in operation.args:
            yield from _operations(arg.dim())
        yield operation


def _decided_from(operation: Operation) -> Iterator[tuple[Symbol, int]]:
    """Yield the size from which on a quotient is not 0, or the same member of a min or max is the extreme one."""
    if operation.kind == "//" and operation.args[1].is_constant:
        yield from _starts(at_most(1, operation.dim()))
    elif operation.kind in ("min", "max"):
        for position, member in enumerate(operation.args):
            for other in operation.args[position + 1 :]:
                yield from _starts(at_most(member.dim(), other.dim()))


def _single(clause: Formula) -> Iterator[tuple[Symbol, int]]:
    """Yield the size from which on each alternative about one size holds or fails."""
    if isinstance(clause, Compatible):
        yield from ((size, 2) for size in symbols_of(clause.dims))
    for part in literals(clause):
        if isinstance(part, Comparison):
            yield from _starts(part)
        elif part is not clause:
            yield from (found for inner in getattr(part, "parts", ()) for found in _single(inner))


def _starts(formula: Formula) -> Iterator[tuple[Symbol, int]]:
    """Yield the only size of a formula, and from which on the formula holds at all sizes or at none."""
    formula = normal(formula)
    symbols = list(symbols_in(formula))
    if len(symbols) != 1 or isinstance(symbols[0], SequenceSymbol):
        return
    try:
        segments = solve(formula).segments
    except (NotPeriodicError, PeriodTooLongError):
        return
    if segments and segments[-1].high is not None:
        yield symbols[0], segments[-1].high + 1
    elif segments and segments[-1].pattern is True:
        yield symbols[0], segments[-1].low
