"""The consequences of the guards about one size: its possible values, and which other guards follow.

torch records the same requirement in many ways: `N >= 8` makes `max(1, N) != 1` trivial, and `N % 8 == 0` makes
`N // (N // 8) == 8` trivial. So each size is written as its minimum plus a multiple of its step, ``8 + 8*k``. This
removes most minima, maxima, quotients and remainders, and the remaining guards are easy to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice, takewhile
from math import gcd, lcm

from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import subtract
from symbcast.core.algebra.bounds import exact_quotient, lower_bound
from symbcast.core.algebra.formulas import TRUE, AllOf, AnyOf, Comparison, Formula, Leaf
from symbcast.core.algebra.term_arithmetic import Substitution, operate
from symbcast.core.algebra.terms import Atom, Dim, Operation, Symbol, Term, collect, constant, term
from symbcast.core.programs.arguments import own_set
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f2_one_size.decided_terms import DecidedTerms
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import ALL, SizeSet


def factors(value: Term) -> list[Atom]:
    """Return the candidate factors of a sum: all atoms of its summands."""
    return list(dict.fromkeys(atom for monomial in value.coefficients for atom in monomial))


def constant_divisors(value: Term) -> Iterator[int]:
    """Yield the constant divisors in a term, at every depth."""
    for atom in value.operations():
        if atom.kind in ("//", "%") and atom.args[1].is_constant and atom.args[1].constant > 0:
            yield atom.args[1].constant
        for arg in atom.args:
            yield from constant_divisors(arg)


def cancelled(value: Term) -> Term:
    """Return a term without quotients by sums that are known to be constant at all sizes from 0 on.

    >>> from symbcast.core.text import parse_dim
    >>> cancelled(parse_dim("(8*k + 16)//(k + 2)")), cancelled(parse_dim("(8*k + 21) % (2*k + 5)"))
    (8, 1)
    """
    return rebuilt(value, _cancelled_operation)


def rebuilt(value: Term, change: Callable[[Operation], Term]) -> Term:
    """Return a term with a function applied to its operations."""
    parts = []
    for monomial, coefficient in value.coefficients.items():
        product = constant(1)
        for atom in monomial:
            product *= change(atom) if isinstance(atom, Operation) else atom
        parts.append((product, coefficient))
    return collect(parts)


@lru_cache(maxsize=4096)
def _cancelled_operation(atom: Operation) -> Term:
    args = tuple(map(cancelled, atom.args))
    if atom.kind in ("//", "%") and not args[1].is_constant and is_at_least(args[1], 1):
        quotient = _quotient(*args)
        if quotient is not None:
            return quotient if atom.kind == "//" else args[0] - quotient * args[1]
    return operate(atom.kind, args)


def _quotient(above: Term, below: Term) -> Term | None:
    """Return the quotient of two terms, rounded down, if it is exact or constant; None otherwise."""
    exact = exact_quotient((above.dim(),), (below.dim(),))
    if exact is not None:
        return term(exact)
    for monomial, number in below.coefficients.items():
        if monomial and monomial in above.coefficients:
            most = above.coefficients[monomial] // number
            # If above = t*below + rest and 0 <= rest < below at all sizes, then t is the quotient. One pair of equal
            # monomials leaves two candidates: the second where the rest of `above` borrows one.
            for times in (most, most - 1):
                rest = above - below.scaled(times)
                if is_at_least(rest, 0) and is_at_least(below - rest, 1):
                    return constant(times)
    return None


def is_at_least(value: Term, number: int) -> bool:
    """Return whether a sum or product is known to be at least ``number`` at all sizes from 0 on."""
    low = lower_bound(value)
    if low is not None and low >= number:
        return True
    # Write the value as offset + rest * f1 * f2 ... with factors of at least 1: if the rest is at least low >= 0, the
    # value is at least low * (product of the least factors) + offset. Bounds of summands alone lose N*M - N.
    offset = min(0, value.constant)
    rest, product = value - constant(offset), 1
    for atom in factors(rest):
        quotient, least = exact_quotient((rest.dim(),), (atom,)), lower_bound(atom)
        if quotient is not None and least is not None and least >= 1:
            rest, product = term(quotient), product * least
    low = lower_bound(rest)
    return low is not None and low >= 0 and low * product + offset >= number


# How many members of a set are examined to find its step; also the largest period of residues.
_LOOKED_AT = 64
# How many periods of sizes are tried one by one if sizes are divided by sizes.
_SMALL = 16


class GuardedSizes:
    """The set of values that one-size guards allow for each size; ``least`` gives the minimum of each.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> known = GuardedSizes({N: 1, M: 1})
    >>> known.learn(formulas.at_most(3, M)), known.learn(formulas.at_most(2, M))
    (Comparison('<=', 3, M), AllOf(()))
    >>> known.implies(formulas.at_most(2, N * M - N)), known.implies(Comparison("!=", N * M, 4))
    (True, False)
    >>> known.divided(Comparison("==", N * M, N * 4)), known.divided(formulas.at_most(1, N * M - 2 * N))
    (Comparison('==', M, 4), Comparison('<=', 1, M - 2))
    >>> known.divided(Comparison("!=", N * M + 1, N + M))
    Comparison('!=', N, 1)
    """

    def __init__(self, least: Mapping[Symbol, int]) -> None:
        self._sets = {s: own_set(s, number) for s, number in least.items()}
        self._written = {s: _written(s, members) for s, members in self._sets.items()}
        self._substitution = Substitution(self._written, of_symbols=True)
        self._known: dict[Term, Term] = {}
        self._simple: dict[Operation, Term] = {}

    def learn(self, formula: Formula) -> Formula | None:
        """Add a formula about one size; return what it adds to the known set, simplified.

        Returns None if it is about several sizes or cannot be added exactly.
        """
        symbols = list(symbols_in(formula))
        if len(symbols) != 1 or symbols[0] not in self._sets:
            return None
        (size,) = symbols
        before = self._sets[size]
        members = narrowed_set(before, formula)
        is_plain = members is not None
        if members is None:
            members = self._narrowed_by_residues(size, formula)
        if not members:
            return None
        if members.same(before):
            return TRUE
        self._sets[size] = members
        self._written[size] = _written(size, members)
        self._substitution = Substitution(self._written, of_symbols=True)
        self._known.clear()  # terms simplify differently now
        self._simple.clear()
        return formula if is_plain else set_formula(size, members)

    def _narrowed_by_residues(self, size: Symbol, formula: Formula) -> SizeSet | None:
        """Return the members of a set that satisfy a formula with a quotient by a size; None if undetermined."""
        period = lcm(*(n for d in formulas.dims_of(formula) for n in constant_divisors(term(d))))
        if period > _LOOKED_AT:
            return None
        # Small sizes are tried one by one. For large enough sizes, the quotient is constant on each residue class.
        start = period * _SMALL
        residues = set()
        for n in range(start, start + period):
            written = Substitution({size: term(size).scaled(period) + constant(n)}, of_symbols=True)
            members = narrowed_set(ALL, formulas.with_dims(formula, partial(_substituted, written)))
            # A class that holds for some k only has no residue: give up rather than approximate.
            if members is None or (members and not members.same(ALL)):
                return None
            residues |= {n % period} if members else set()
        small = {n: holds_at(formula, {size: n}) for n in takewhile(lambda n: n < start, self._sets[size])}
        # Below `first` the quotients still change; from there on the residues decide.
        first = max((n + 1 for n, holds in small.items() if holds != (n % period in residues)), default=0)
        exceptions = SizeSet.of(n for n, holds in small.items() if holds and n < first)
        return self._sets[size] & (exceptions | SizeSet.residues(period, residues) & SizeSet.interval(first, None))

    def implies(self, formula: Formula) -> bool:
        """Return whether a formula is known to follow from the sets of values of the individual sizes."""
        match formula:
            case AllOf(parts):
                return all(map(self.implies, parts))
            case AnyOf(parts):
                return any(map(self.implies, parts))
            case Comparison(operator, left, right):
                sides = tuple(self._plain(term(d)) for d in (left, right))
                if not all(side.is_total for side in sides):  # a guard does not hold if one side is undefined
                    return False
                return _is_plain(operator, *sides) or _always(Comparison(operator, *(s.dim() for s in sides)))
            case _:
                return False

    def decided(self, parts: Sequence[Formula]) -> list[Formula]:
        """Return formulas, equivalent for the known sizes, without the operations that these decide."""
        return list(map(DecidedTerms(self._sets).formula, parts))

    def divided(self, formula: Formula) -> Formula:
        """Return comparisons with both sides divided by common factors that are known to be at least 1."""
        return formulas.with_leaves(formula, self._divided_leaf)

    def _divided_leaf(self, leaf: Leaf) -> Leaf:
        if not isinstance(leaf, Comparison):
            return leaf
        sides = (self._simpler(term(d)).dim() for d in (leaf.left, leaf.right))
        comparison = Comparison(leaf.operator, *self._divided(*sides))
        if not all(self._plain(term(d)).is_total for d in (comparison.left, comparison.right)):
            return comparison
        is_order = leaf.operator in ("<=", "<")
        return self._without_positive_factor(comparison) if is_order else self._at_the_least(comparison)

    def _simpler(self, value: Term) -> Term:
        """Return a term with constant operations evaluated and minima and maxima shortened."""
        return rebuilt(value, self._simpler_operation)

    def _simpler_operation(self, atom: Operation) -> Term:
        if atom not in self._simple:
            plain = self._plain(atom)
            self._simple[atom] = plain if plain.is_constant else operate(atom.kind, self._needed_arguments(atom))
        return self._simple[atom]

    def _needed_arguments(self, atom: Operation) -> tuple[Term, ...]:
        """Return the arguments of an operation; redundant arguments of a minimum or maximum are removed."""
        needed = list(map(self._simpler, atom.args))
        sign = {"max": 1, "min": -1}.get(atom.kind, 0)
        for arg in list(needed) if sign else ():
            if any(self._is_at_least((other - arg).scaled(sign), 0) for other in needed if other is not arg):
                needed.remove(arg)
        return tuple(needed)

    def _divided(self, left: Dim, right: Dim) -> tuple[Dim, Dim]:
        for factor in factors(term(left if left != 0 else right)):
            # Dividing keeps a comparison only by a factor that is never 0.
            while self._is_at_least(factor, 1):
                quotients = [d if d == 0 else exact_quotient((d,), (factor,)) for d in (left, right)]
                if quotients[0] is None or quotients[1] is None or quotients == [0, 0]:
                    break
                left, right = quotients[0], quotients[1]
        return left, right

    def _without_positive_factor(self, comparison: Comparison) -> Comparison:
        """Return ``1 <= q`` for ``n <= p*q``, where ``p`` is known to be at least ``n``, and so positive."""
        least = subtract(comparison.right, comparison.left)
        rest = term(least) - constant(term(least).constant)
        number = (1 if comparison.operator == "<" else 0) - term(least).constant
        if number < 1:
            return comparison
        for atom in factors(rest):
            quotient = exact_quotient((rest.dim(),), (atom,))
            if quotient is not None and not isinstance(quotient, int) and self._is_at_least(atom, number):
                return self._without_positive_factor(formulas.at_most(1, quotient))
        return comparison

    def _at_the_least(self, comparison: Comparison) -> Comparison:
        """Return ``n == low`` for ``(n - low)*p == 0`` if ``p`` is never 0; likewise for ``!=``."""
        difference = self._plain(term(comparison.left) - term(comparison.right))
        for size, written in self._written.items():
            quotient = exact_quotient((difference.dim(),), (size,))
            if quotient is not None and any(is_at_least(q, 1) for q in (term(quotient), -term(quotient))):
                return Comparison(comparison.operator, size, written.constant)
        return comparison

    def _is_at_least(self, value: Term, number: int) -> bool:
        return is_at_least(self._plain(value), number)

    def _plain(self, value: Term) -> Term:
        """Return a term with each size replaced by its written form, and exact quotients cancelled."""
        if value not in self._known:
            self._known[value] = cancelled(self._substitution.term(value))
        return self._known[value]


def _written(size: Symbol, members: SizeSet) -> Term:
    """Return a size as the least member of its set plus a multiple of the step between the members."""
    low, *others = islice(members, _LOOKED_AT)
    step = gcd(*(n - low for n in others))
    if step > 1 and not members <= SizeSet.residues(step, [low]):
        step = 1
    return term(size).scaled(step) + constant(low)


def _substituted(written: Substitution, dim: Dim) -> Dim:
    return cancelled(written.term(term(dim))).dim()


def _always(formula: Formula) -> bool:
    """Return whether a formula about one size holds at all sizes from 0 on."""
    if len(list(symbols_in(formula))) > 1:
        return False
    members = narrowed_set(ALL, formula)
    return members is not None and members.same(ALL)


def _is_plain(operator: str, left: Term, right: Term) -> bool:
    """Return whether a comparison is known to hold at all sizes from 0 on."""
    match operator:
        case "==":
            return left == right
        case "<=":
            return is_at_least(right - left, 0)
        case "<":
            return is_at_least(right - left, 1)
    if any(is_at_least(a - b, 1) for a, b in ((left, right), (right, left))):
        return True
    match left:
        case Operation(kind="%", args=(above, below)) if right == constant(0):
            return is_at_least(above, 1) and is_at_least(below - above, 1)
    return False
