"""What requirements imply for sizes: lower bounds, equal sizes, shorter formulas, all iterations of a loop.

If ``c % 2 == 0`` is required, ``2*(c//2)`` is ``c``; if ``K == 3`` is required, ``K + 27`` is 30. Comparisons are
simplified by removing whole quotients, factors that are never 0, and bounded quotients: a Reshape makes a size ``n //
c`` if it requires that ``n`` be a multiple of ``c``. Given that, ``n // c == m`` means ``n == c*m``, which can be
divided by the common factors of both sides: ``batch*length == 7*batch`` means ``length == 7``.

A size that depends on a rare case, such as a 0 in the target of a reshape that copies an axis, is written as one
formula: ``q + k - k*min(q, 1)``. Products of these in later nodes grow exponentially with the number of nodes. So a
walk in which sizes with such cases become long is repeated with a name for each of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from math import gcd

from symbcast.core.algebra import arithmetic, term_arithmetic
from symbcast.core.algebra.bounds import Bounds, clear_quotients, quotient_required_whole
from symbcast.core.algebra.formulas import AllOf, AnyOf, Comparison, Formula, at_most, equal
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Symbol, Term, collect, constant, term
from symbcast.core.solver.evaluation import symbols_in

# Sizes with more atoms than this are long.
LONG = 24
# The longest sizes to accept where names for cases would stay in the answer.
VERY_LONG = 1_000


class TooLongError(Exception):
    """Sizes that depend on cases became long; not an error of the caller, as the walk is repeated in another way."""


def long_ones(dims: Iterable[Dim]) -> list[int]:
    """Return the numbers of atoms of the long sizes among some."""
    return [dim.size for dim in dims if not isinstance(dim, int) and dim.size > LONG]


def least_sizes(required: Formula, bounds: Bounds) -> Iterator[tuple[Symbol, int]]:
    """Yield the sizes that a single comparison of a formula bounds from below, with their bounds.

    >>> from symbcast.core.algebra.bounds import Bounds
    >>> from symbcast.core.algebra.formulas import at_most
    >>> from symbcast.core.text import parse_dim
    >>> list(least_sizes(at_most(1, parse_dim("((N + 2)//8)*M")), Bounds({})))
    [(M, 1), (N, 6)]
    """
    match required:
        case AllOf(parts):
            for part in parts:
                yield from least_sizes(part, bounds)
        case Comparison("==" | "<=" | "<" as operator, left, right):
            room = term(right) - term(left)
            yield from _not_below_0(room - constant(operator == "<"), bounds)
            if operator == "==":
                yield from _not_below_0(-room, bounds)


def positive_sizes(size: Dim, bounds: Bounds, sizes: Container[Symbol]) -> list[tuple[Symbol, int]]:
    """Return lower bounds of the given sizes where a dimension is not 0."""
    return [(s, least) for s, least in least_sizes(at_most(1, size), bounds) if s in sizes]


def _not_below_0(value: Term, bounds: Bounds) -> Iterator[tuple[Symbol, int]]:
    """Yield lower bounds of sizes, given that a term of one monomial plus an optional number is not negative."""
    number = value.constant
    rest = value - constant(number)
    if len(rest.coefficients) != 1:
        return
    ((monomial, factor),) = rest.coefficients.items()
    if factor > 0:
        # The ceiling of -number/factor.
        least = -(number // factor)
        if len(monomial) == 1:
            yield from _at_least(monomial[0], least, bounds)
        elif least >= 1 and all(bounds.is_at_least(atom, 0) for atom in monomial):
            for atom in monomial:  # nonnegative factors whose product is positive are each at least 1
                yield from _at_least(atom, 1, bounds)


def _at_least(atom: Atom, least: int, bounds: Bounds) -> Iterator[tuple[Symbol, int]]:
    if isinstance(atom, Symbol):
        yield atom, least
    elif isinstance(atom, Operation) and atom.kind == "min":
        for arg in atom.args:
            yield from _not_below_0(arg - constant(least), bounds)
    elif isinstance(atom, Operation) and atom.kind == "join":
        for arg in atom.args if least >= 1 else ():  # if any joined size is 0, the join is 0
            yield from _not_below_0(arg - constant(1), bounds)
    elif isinstance(atom, Operation) and atom.kind == "//" and atom.args[1].is_constant and atom.args[1].constant > 0:
        # `x//k >= least` exactly where `x >= least*k`.
        yield from _not_below_0(atom.args[0] - constant(least * atom.args[1].constant), bounds)


def is_convex(formula: Formula, turn: Symbol) -> bool:
    """Return whether a formula that holds at two iteration numbers also holds at all numbers between them.

    >>> from symbcast.core.algebra.arithmetic import modulo
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import any_of, at_most, equal
    >>> n, turn = symbol("N"), symbol("turn")
    >>> is_convex(any_of([at_most(turn, n), equal(n, 2)]), turn), is_convex(equal(modulo(turn, n), 0), turn)
    (True, False)
    """
    if turn not in symbols_in(formula):
        return True
    match formula:
        case Comparison("<=" | "<" | "==", left, right):
            # The numbers at which a linear comparison holds are an interval.
            difference = arithmetic.subtract(right, left)
            first = arithmetic.replace_symbols(difference, {turn: 0})
            slope = arithmetic.subtract(arithmetic.replace_symbols(difference, {turn: 1}), first)
            return arithmetic.add(first, arithmetic.multiply(slope, turn)) == difference
        case AllOf(parts):
            return all(is_convex(part, turn) for part in parts)
        case AnyOf(parts):
            # The other parts hold in all iterations or in none. Two parts may leave a gap: `turn <= 2 or turn >= 5`.
            speaking = [part for part in parts if turn in symbols_in(part)]
            return len(speaking) == 1 and is_convex(speaking[0], turn)
    return False


class SizeFacts:
    """The quotients known to be whole, and the sizes that the current node requires to equal known ones.

    Only requirements that hold in all branches of a model are added.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_dim
    >>> facts = SizeFacts({parse_dim("c//6")})
    >>> facts.fix(symbol("K"), 3)
    >>> facts.written((parse_dim("6*(c//6)"), parse_dim("2*(c//6)"), parse_dim("K + 27")))
    (c, c//3, 30)
    >>> facts.written((parse_dim("12*(c//6)//d"),))
    (2*c//d,)
    """

    def __init__(self, whole: Iterable[Operation] = ()) -> None:
        self.whole = set(whole)
        self._sizes: dict[Symbol, Dim] = {}
        self._plain: dict[Term, Term] = {}
        self._plain_inside: dict[Operation, Term] = {}

    def copy(self) -> SizeFacts:
        """Return an independent copy."""
        # The sizes that a node fixes are facts for this node alone.
        return SizeFacts(self.whole)

    def take(self, comparison: Comparison) -> bool:
        """Record the quotient that a comparison requires to be whole, if any; return whether there is one."""
        quotient = quotient_required_whole(comparison)
        if quotient is not None and quotient not in self.whole:
            self.whole.add(quotient)
            self._plain.clear()
            self._plain_inside.clear()
        return quotient is not None

    def fix(self, size: Symbol, value: Dim) -> None:
        """Record that the current node requires a size to equal a dimension."""
        self._sizes[size] = value

    def forget_sizes(self) -> None:
        """Forget the values that the current node requires sizes to have."""
        self._sizes = {}

    @property
    def is_empty(self) -> bool:
        """Whether there are no facts with which to simplify sizes."""
        return not self.whole and not self._sizes

    def written(self, dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """Simplify dimensions under all requirements; return the same object if nothing changes."""
        simplified = tuple(d if isinstance(d, int) else self._written(d) for d in dims)
        return dims if simplified == dims else simplified

    def _written(self, dim: Term) -> Dim:
        if self._sizes:
            dim = Substitution(self._sizes, of_symbols=True).term(dim)
        return self.multiplied_out(dim.dim())

    def multiplied_out(self, dim: Dim) -> Dim:
        """Simplify a dimension by the whole quotients alone, as for a requirement that may state what a size equals."""
        if not self.whole or isinstance(dim, int | Symbol):
            return dim
        plain = self._plain.get(dim)
        if plain is None:
            plain = self._plain[dim] = self._without_quotients(dim)
        return plain.dim()

    def _without_quotients(self, value: Term) -> Term:
        """Return a term without whole quotients that are multiplied by their divisor or by a factor of it."""
        for monomial, factor in value.coefficients.items():
            for atom in monomial:
                if not isinstance(atom, Operation):
                    continue
                plainer = self._multiplied(monomial, factor, atom) if atom in self.whole else None
                if plainer is None and (inner := self._inside(atom)) is not atom:
                    plainer = _product(term_arithmetic.monomial_quotient(monomial, (atom,)), factor, inner)
                if plainer is not None:
                    rest = Term({m: c for m, c in value.coefficients.items() if m != monomial})
                    return self._without_quotients(rest + plainer)
        return value

    def _inside(self, operation: Operation) -> Term:
        plain = self._plain_inside.get(operation)
        if plain is None:
            arguments = tuple(map(self._without_quotients, operation.args))
            plain = operation if arguments == operation.args else term_arithmetic.operate(operation.kind, arguments)
            self._plain_inside[operation] = plain
        return plain

    def _multiplied(self, monomial: Monomial, factor: int, quotient: Operation) -> Term | None:
        """Return a multiple of a whole quotient, simplified to a smaller divisor; None if that is impossible."""
        dividend, divisor = quotient.args
        if len(divisor.coefficients) != 1:
            return None
        ((atoms, number),) = divisor.coefficients.items()
        common = gcd(factor, number)
        others = term_arithmetic.monomial_quotient(monomial, (quotient, *atoms))
        if others is None or number < 1 or (common == 1 and not atoms):
            return None
        smaller = term_arithmetic.floordiv_terms(dividend, constant(number // common))
        if (
            isinstance(smaller, Operation) and smaller.kind == "//"
        ):  # dividing by 1 gives the dividend, which need not be a quotient
            self.whole.add(smaller)
        return _product(others, factor // common, smaller)


class NoFacts(SizeFacts):
    """No facts: sizes and comparisons stay as rules write them, so that simplified ones can be held against them."""

    is_empty = True

    def copy(self) -> NoFacts:
        """Return an independent copy."""
        return NoFacts()

    def take(self, comparison: Comparison) -> bool:
        """Record nothing."""
        return False

    def fix(self, size: Symbol, value: Dim) -> None:
        """Record nothing."""


def _product(monomial: Monomial | None, factor: int, value: Term) -> Term:
    return collect([(term(Term({monomial or (): 1})) * value, factor)])


def without_whole_quotients(
    clauses: Sequence[Formula], whole: Container[Operation], bounds: Bounds
) -> tuple[Formula, ...]:
    """Return clauses without the quotients in ``whole``, plus clauses which state that these quotients are integers."""
    rewritten: list[Formula] = []
    for clause in clauses:
        if not isinstance(clause, Comparison):
            rewritten.append(clause)
            continue
        used = [o.args for o in quotients_of(clause) if o in whole]
        rewritten += [equal(arithmetic.modulo(above.dim(), below.dim()), 0) for above, below in used]
        rewritten.append(clear_quotients(clause, whole, bounds) if used else clause)
    return tuple(dict.fromkeys(rewritten))


def quotients_of(comparison: Comparison) -> Iterator[Operation]:
    """Yield the quotients in the sums on both sides of a comparison."""
    for side in (comparison.left, comparison.right):
        yield from (o for o in term(side).operations() if o.kind == "//")


@lru_cache(maxsize=4096)
def bounded(left: Dim, right: Dim) -> Comparison:
    """Return ``left <= right``; if it bounds a quotient by a number, rewrite it as a bound on the dividend.

    >>> from symbcast.core.text import parse_dim
    >>> bounded(7, parse_dim("(N + 2)//32 + 1")), bounded(parse_dim("N//4"), 2)
    (Comparison('<=', 190, N), Comparison('<=', N, 11))
    """
    difference = term(right) - term(left)
    plainer = _without_quotients(difference)
    if plainer == difference or plainer.is_constant:
        return at_most(left, right)
    positive = Term({m: c for m, c in plainer.coefficients.items() if c > 0})
    return at_most((positive - plainer).dim(), positive.dim())


def _without_quotients(value: Term) -> Term:
    """Rewrite a term in ``value >= 0`` without quotients: ``a*(x//k) + c >= 0`` means ``x >= k*n``, or ``x < k*n``."""
    offset = value.constant
    rest = value - constant(offset)
    if len(rest.coefficients) != 1:
        return value
    (((atom, *others), factor),) = rest.coefficients.items()
    if others or not isinstance(atom, Operation) or atom.kind != "//" or not atom.args[1].is_constant:
        return value
    inside, by = atom.args[0], atom.args[1].constant
    if by < 1:
        return value
    if factor > 0:
        return _without_quotients(inside + constant(offset // factor * by))
    return _without_quotients(constant(offset // -factor * by + by - 1) - inside)
