"""Products refuted with proof, before z3 is asked: by divisions as in `divisions.py`, and by elimination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, TypeAlias

from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.algebra.formulas import FALSE, Comparison, Formula, at_most, dims_of, literals, opposite
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Operation, Symbol, Term, term
from symbcast.core.effort import REFUTED, Effort, EffortSpentError, budget_share, charge, counting, current_budget
from symbcast.core.solver.evaluation import holds_at, symbols_in, value_function
from symbcast.core.solver.f2_one_size.clauses import clauses_of
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.univariate import narrowed_set, solution_set
from symbcast.core.solver.f4_products.divisions import refuted_by_divisions
from symbcast.core.solver.points import GivenUpError, Point
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.errors import DimensionError

# Products of sizes, where z3 may give up: equations eliminate symbols until one is left and F2 decides.
#
# An equation with an isolated symbol, ``x = p``, eliminates x: p is substituted for it everywhere. A conjunction
# reduced to one symbol is a set of sizes, empty or not; and a conjunction in several symbols that has no solution
# modulo a small number has no solution. This module only refutes, and only with proof.


BRANCHES_TRIED = 64
MODULI = (2, 3, 4, 5, 7, 8, 9)
_RESIDUES_TRIED = 800
# Units of effort for examining a branch; the size of its terms is added.
_BRANCH = 250
# Units for refuting by sets, which no question pays, as in `propagation.contradict`; and for a look at a literal.
_BY_SETS, _LITERAL = 40_000, 10


def refuted(formulas: Sequence[Formula]) -> bool:
    """Return whether formulas provably cannot hold together, before z3 is asked about products.

    False means undecided. Formulas without products are left to z3, which decides them.
    """
    with suppress(EffortSpentError), budget_share(REFUTED):
        return _each_branch(formulas, lambda branch, shared: _impossible(list(branch), shared))
    return False


def refuted_by_products(formulas: Sequence[Formula]) -> bool:
    """Return the same, by quotients as sizes and linear arithmetic on products: see `refuted_by_divisions`."""
    with suppress(EffortSpentError), budget_share(REFUTED):
        return _each_branch(formulas, lambda branch, _: refuted_by_divisions(branch))
    return False


def point_by_sets(symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> Point | None:
    """Return sizes at which formulas hold, None if there are none, by cases of disjunctions in which sizes have sets.

    Literals about one size are sets; any other one only excludes its opposite, and is tried at few sizes. Raises
    `GivenUpError` if that decides nothing.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> texts = ["(N + 3)//8 != 1 or a == b", "N >= 5 or M == 2", "N <= 12", "M >= 3", "a != b"]
    >>> symbols, formulas = [symbol(s) for s in "NMab"], list(map(parse_formula, texts))
    >>> point_by_sets(symbols, formulas) is None, point_by_sets(symbols, formulas[:4])
    (True, {N: 5, M: 3, a: 1, b: 1})
    """
    cases = _SetCases(symbols, formulas)
    with suppress(EffortSpentError), counting(Effort(_BY_SETS, clock=current_budget())):
        if cases.clash([literals(c) for f in formulas for c in clauses_of(f)], {}, frozenset()):
            return None
    if cases.point is None:
        raise GivenUpError
    return cases.point


class _SetCases:
    """The cases of disjunctions, and the sizes at which literals about one size hold; ``point`` is a solution."""

    def __init__(self, symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> None:
        self.point: Point | None = None
        self._symbols = symbols
        self._formulas = formulas
        self._alone: dict[Formula, tuple[Symbol, SizeSet] | None] = {}

    def clash(
        self, clauses: Iterable[Sequence[Formula]], sets: Mapping[Symbol, SizeSet], known: frozenset[Formula]
    ) -> bool:
        """Return whether no choice of a literal from each clause goes with sets of sizes and literals that hold."""
        sets, ahead = dict(sets), list(clauses)
        is_new = True
        while is_new:
            is_new, clauses, ahead = False, ahead, []
            for clause in clauses:
                charge(_LITERAL * (1 + len(clause)))
                possible = [part for part in clause if self._is_possible(part, sets, known)]
                if not possible:
                    return True
                if len(possible) > 1:
                    ahead.append(possible)
                    continue
                is_new = True
                alone = self.alone(possible[0])
                if alone is None:
                    known |= {possible[0]}
                else:
                    sets[alone[0]] = sets.get(alone[0], ALL) & alone[1]
        if not ahead:
            self._try(sets)
            return False
        first = min(ahead, key=len)
        others = [clause for clause in ahead if clause is not first]
        # A case with a point ends the search: nothing is refuted then.
        return all(self.clash([[part], *others], sets, known) for part in first)

    def _try(self, sets: Mapping[Symbol, SizeSet]) -> None:
        """Try the least sizes above 0 in sets, and each symbol with its next one."""
        least = {s: sets.get(s, ALL).least(1) or 0 for s in self._symbols}
        for moved in (None, *self._symbols):
            charge(_LITERAL * len(self._formulas))
            step = {} if moved is None else {moved: sets.get(moved, ALL).least(least[moved] + 1) or 0}
            if all(holds_at(f, {**least, **step}) for f in self._formulas):
                self.point = {**least, **step}
                return

    def _is_possible(self, literal: Formula, sets: Mapping[Symbol, SizeSet], known: frozenset[Formula]) -> bool:
        alone = self.alone(literal)
        if alone is None:
            return opposite(literal) not in known
        return bool(sets.get(alone[0], ALL) & alone[1])

    def alone(self, literal: Formula) -> tuple[Symbol, SizeSet] | None:
        """Return the only symbol of a literal and the sizes at which it holds; None for other literals."""
        if literal not in self._alone:
            symbols = tuple(symbols_in(literal))
            members = narrowed_set(ALL, literal) if len(symbols) == 1 else None
            self._alone[literal] = None if members is None else (symbols[0], members)
        return self._alone[literal]


def _each_branch(formulas: Sequence[Formula], impossible: Callable[[Sequence[Formula], Shared], bool]) -> bool:
    """Return whether every choice of one alternative from each clause is impossible."""
    if all(isinstance(d, int) or term(d).is_linear for f in formulas for d in dims_of(f)):
        return False
    clauses = [clause for formula in formulas for clause in clauses_of(formula)]
    branches = 1
    for clause in clauses:
        branches *= len(literals(clause))
        if branches > BRANCHES_TRIED:
            return False
    try:
        shared: Shared = {}
        return all(impossible(branch, shared) for branch in product(*map(literals, clauses)))
    except DimensionError:
        return False  # a product grew beyond the limits of terms


Shared: TypeAlias = "dict[tuple[Symbol, Term], Substitution]"
"""The replacements of symbols: branches make the same ones in literals that they have in common."""


def _impossible(branch: list[Formula], shared: Shared) -> bool:
    """Return whether a conjunction of literals provably has no solution."""
    while True:
        charge(_BRANCH + sum(_size(literal) for literal in branch))
        if FALSE in branch:
            return True
        solved = next(filter(None, map(_solved_for, branch)), None)
        if solved is None:
            break
        if solved not in shared:
            symbol, value = solved
            shared[solved] = Substitution({symbol: value}, of_symbols=True)
        branch = _without(branch, *solved, shared[solved])
    return _empty_alone(branch) or _leaves_nothing_over(branch) or _impossible_modulo(branch)


def _size(literal: Formula) -> int:
    return sum(term(d).size for d in dims_of(literal) if not isinstance(d, int))


def _solved_for(literal: Formula) -> tuple[Symbol, Term] | None:
    """Return a symbol that an equation determines, and its value."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return None
    difference = term(literal.left) - term(literal.right)
    for monomial, coefficient in difference.coefficients.items():
        if len(monomial) != 1 or abs(coefficient) != 1 or isinstance(monomial[0], Operation):
            continue
        symbol: Any = monomial[0]
        rest = difference - Term({monomial: coefficient})
        if symbol not in rest.symbols():
            return symbol, rest.scaled(-coefficient)
    return None


def _without(branch: Iterable[Formula], symbol: Symbol, value: Term, substitution: Substitution) -> list[Formula]:
    """Return the conjunction with a symbol replaced, and the fact that its value is a size."""
    replaced: list[Formula] = [at_most(0, value.dim())]
    for literal in branch:
        if isinstance(literal, Comparison):
            left, right = (substitution.term(term(d)).dim() for d in (literal.left, literal.right))
            replaced.append(Comparison(literal.operator, left, right))
        elif symbol not in symbols_in(literal):
            replaced.append(literal)
        # Drop all other literals that mention the symbol: a conjunction that is impossible without them is impossible
        # with them.
    return [clause for formula in replaced for clause in clauses_of(formula)]


def _empty_alone(branch: Iterable[Formula]) -> bool:
    """Return whether the branch's formulas about a single symbol leave it no size."""
    sets: dict[Symbol, SizeSet] = {}
    for literal in branch:
        symbols = symbols_in(literal)
        if len(symbols) == 1:
            (symbol,) = symbols
            try:
                sets[symbol] = sets.get(symbol, ALL) & solution_set(literal)
            except (NotPeriodicError, PeriodTooLongError):
                continue
    return any(not members for members in sets.values())


def _leaves_nothing_over(branch: Iterable[Formula]) -> bool:
    """Return whether a formula requires a nonzero remainder of a division that equations make exact.

    If ``a*b == c*d``, ``a*b`` divided by ``c`` leaves no remainder; if ``c`` is 0, the remainder is undefined.
    """
    comparisons = [f for f in branch if isinstance(f, Comparison)]
    equations = [term(f.left) - term(f.right) for f in comparisons if f.operator == "=="]
    for comparison in comparisons:
        left = comparison.left
        if comparison.operator == "!=" and comparison.right == 0 and isinstance(left, Operation) and left.kind == "%":
            dividend, divisor = left.args
            others = (d for equation in equations for d in _rewritten(dividend, equation))
            if any(exact_quotient((d.dim(),), (divisor.dim(),)) is not None for d in (dividend, *others)):
                return True
    return False


def _rewritten(value: Term, equation: Term) -> Iterator[Term]:
    """Yield terms equal to a given one if an equation holds, without one monomial that the two share."""
    for monomial, coefficient in equation.coefficients.items():
        times, rest = divmod(value.coefficients.get(monomial, 0), coefficient)
        if monomial and times and not rest:
            yield value - equation.scaled(times)


def _impossible_modulo(branch: Iterable[Formula]) -> bool:
    """Return whether the equations have no solution modulo some small number."""
    equations = [term(f.left) - term(f.right) for f in branch if isinstance(f, Comparison) and f.operator == "=="]
    equations = [e for e in equations if not e.has_operations]
    symbols = tuple(dict.fromkeys(s for e in equations for s in e.symbols()))
    if not equations:
        return False
    values = [value_function(e.dim(), symbols) for e in equations]
    charge(len(values) * (_BRANCH + _RESIDUES_TRIED))
    return any(
        modulus ** len(symbols) <= _RESIDUES_TRIED
        and not any(all(v(*point) % modulus == 0 for v in values) for point in _residues(modulus, len(symbols)))
        for modulus in MODULI
    )


def _residues(modulus: int, count: int) -> Iterator[tuple[int, ...]]:
    return product(range(modulus), repeat=count)
