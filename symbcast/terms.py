"""Terms: dimensions as polynomials with integer coefficients, so that equal ones are one object.

A dimension is a sympy expression to the outside. To decide about it, it is read once into a `Term`: a sum of integer
multiples of monomials over atoms, where an atom is a symbol or one of the operations ``//``, ``%``, ``min``, ``max``
and the join. Everything exact that is asked of a dimension (its value, its bounds, whether it is one) is asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any, Literal, TypeAlias

import sympy

from symbcast.arithmetic import FUNCTIONS, floor_divide, modulo
from symbcast.dims import Dim, broadcast, floordiv, join, mod, plain, undefined_join
from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.formulas import AllOf, AnyOf, Compatible, Formula, all_of, any_of, at_most, different, dims_of
from symbcast.sizes import check_size

Kind: TypeAlias = Literal["//", "%", "min", "max", "join"]
Atom: TypeAlias = "sympy.Symbol | Operation"
Monomial: TypeAlias = tuple[Atom, ...]

MAX_MONOMIALS = 500
MAX_POWER = 16


@dataclass(frozen=True, slots=True)
class Operation:
    """An atom that is not a symbol: an operation on terms."""

    kind: Kind
    args: tuple[Term, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that orders atoms alike on every run."""
        return (1, self.kind, tuple(arg.key for arg in self.args))


class Term:
    """A polynomial over atoms; immutable, equal and hashed by value."""

    __slots__ = ("_hash", "_key", "coefficients")

    def __init__(self, coefficients: dict[Monomial, int]) -> None:
        self.coefficients = coefficients
        self._hash = hash(frozenset(coefficients.items()))
        self._key: tuple[Any, ...] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.coefficients == other.coefficients

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Term({self.dim()})"

    def __add__(self, other: Term) -> Term:
        return _collect([(self, 1), (other, 1)])

    def __sub__(self, other: Term) -> Term:
        return _collect([(self, 1), (other, -1)])

    def __neg__(self) -> Term:
        return self.scaled(-1)

    def __mul__(self, other: Term) -> Term:
        product: dict[Monomial, int] = {}
        for left, a in self.coefficients.items():
            for right, b in other.coefficients.items():
                monomial = tuple(sorted((*left, *right), key=atom_key)) if left and right else left or right
                product[monomial] = product.get(monomial, 0) + a * b
        if len(product) > MAX_MONOMIALS:
            raise DimensionError("a product", f"expands to more than {MAX_MONOMIALS} monomials")
        return Term({m: c for m, c in product.items() if c})

    def scaled(self, factor: int) -> Term:
        """Return the term times an integer."""
        return Term({m: c * factor for m, c in self.coefficients.items()} if factor else {})

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that orders terms alike on every run."""
        if self._key is None:
            self._key = tuple(sorted((tuple(map(atom_key, m)), c) for m, c in self.coefficients.items()))
        return self._key

    @property
    def constant(self) -> int:
        """The coefficient of the empty monomial."""
        return self.coefficients.get((), 0)

    @property
    def is_constant(self) -> bool:
        """Whether the term is an integer."""
        return not self.coefficients or (len(self.coefficients) == 1 and () in self.coefficients)

    @property
    def content(self) -> int:
        """The greatest common divisor of the coefficients other than the constant; 0 for an integer."""
        return gcd(*(c for m, c in self.coefficients.items() if m))

    @property
    def is_linear(self) -> bool:
        """Whether no monomial multiplies atoms, at any depth, and no divisor is symbolic."""
        return all(len(m) <= 1 for m in self.coefficients) and all(
            all(arg.is_linear for arg in atom.args) and (atom.kind not in ("//", "%") or atom.args[1].is_constant)
            for atom in self.operations()
        )

    def atoms(self) -> Iterator[Atom]:
        """Yield the atoms of the monomials, repeats included."""
        for monomial in self.coefficients:
            yield from monomial

    def operations(self) -> Iterator[Operation]:
        """Yield the atoms that are operations."""
        return (atom for atom in self.atoms() if isinstance(atom, Operation))

    def symbols(self) -> dict[sympy.Symbol, None]:
        """Return the symbols at any depth, in order of appearance."""
        found: dict[sympy.Symbol, None] = {}
        for atom in self.atoms():
            if isinstance(atom, Operation):
                for arg in atom.args:
                    found.update(arg.symbols())
            else:
                found[atom] = None
        return found

    def dim(self) -> Dim:
        """Return the term as a dimension."""
        return _to_dim(self)


def atom_key(atom: Atom) -> tuple[Any, ...]:
    """Return a key that orders atoms alike on every run: symbols by name, then operations."""
    if isinstance(atom, Operation):
        return atom.key
    return (0, atom.name, getattr(atom, "dummy_index", 0))


def constant(value: int) -> Term:
    """Return an integer as a term."""
    return Term({(): value} if value else {})


def _collect(parts: Iterable[tuple[Term, int]]) -> Term:
    total: dict[Monomial, int] = {}
    for part, factor in parts:
        for monomial, coefficient in part.coefficients.items():
            total[monomial] = total.get(monomial, 0) + factor * coefficient
    return Term({m: c for m, c in total.items() if c})


def floordiv_terms(dividend: Term, divisor: Term) -> Term:
    """Return the floor of a quotient; multiples of a constant divisor come out of it."""
    if divisor.is_constant and divisor.constant:
        by = divisor.constant
        if by < 0:
            return floordiv_terms(-dividend, -divisor)
        whole = Term({m: c // by for m, c in dividend.coefficients.items() if m and c % by == 0})
        rest = dividend - whole.scaled(by)
        if rest.is_constant:
            return whole + constant(rest.constant // by)
        # floor((g*x + r) / (g*b)) is floor((x + floor(r/g)) / b): a common factor g drops out.
        common = gcd(rest.content, by)
        shrunk = Term({m: c // common for m, c in rest.coefficients.items() if c // common})
        carried = shrunk.constant // (by // common)
        shrunk = shrunk - constant(carried * (by // common))
        return whole + constant(carried) + _atom(Operation("//", (shrunk, constant(by // common))))
    return _atom(Operation("//", (dividend, divisor)))


def modulo_terms(dividend: Term, divisor: Term) -> Term:
    """Return the remainder, of the divisor's sign; multiples of a constant divisor drop out of it."""
    if divisor.is_constant and divisor.constant:
        by = divisor.constant
        if by < 0:
            return -modulo_terms(-dividend, -divisor)
        rest = Term({m: c % by for m, c in dividend.coefficients.items() if c % by})
        return rest if rest.is_constant else _atom(Operation("%", (rest, divisor)))
    return _atom(Operation("%", (dividend, divisor)))


def _atom(atom: Atom) -> Term:
    return Term({(atom,): 1})


def _extremum(kind: Literal["min", "max"], args: tuple[Term, ...]) -> Term:
    distinct = tuple(sorted(dict.fromkeys(args), key=lambda t: t.key))
    return distinct[0] if len(distinct) == 1 else _atom(Operation(kind, distinct))


@lru_cache(maxsize=16384)
def term(dim: Dim) -> Term:
    """Return a dimension as a term.

    Raises `DimensionError` for an expression that is not an integer built from ``+ - * // % min max broadcast``.

    >>> N = sympy.Symbol("N", integer=True)
    >>> term((N + 1) ** 2) == term(N * (N + 2) + 1), term((4 * N + 3) // 2).dim()
    (True, 2*N + 1)
    """
    if isinstance(dim, int):
        return constant(dim)
    return _READERS.get(dim.func, _read_other)(dim)


def _read_power(expr: Any) -> Term:
    base, exponent = expr.args
    if not (exponent.is_Integer and 0 <= exponent <= MAX_POWER):
        raise DimensionError(expr, f"the exponent {exponent} is not an integer from 0 to {MAX_POWER}")
    result = constant(1)
    for _ in range(int(exponent)):
        result = result * term(base)
    return result


def _read_product(expr: Any) -> Term:
    number = expr.args[0]
    if number.is_Rational and not number.is_Integer and expr.is_integer:
        # What sympy takes for a whole number, as half of an even size is: it writes floor(e/2) so.
        return floordiv_terms(term(plain(expr * number.q)), constant(int(number.q)))
    result = constant(1)
    for factor in expr.args:
        result = result * term(plain(factor))
    return result


def _read_floor(expr: Any) -> Term:
    numerator, denominator = sympy.fraction(sympy.together(expr.args[0]))
    return floordiv_terms(term(plain(sympy.expand(numerator))), term(plain(denominator)))


def _read_mod(expr: Any) -> Term:
    dividend, divisor = expr.args
    return modulo_terms(term(plain(dividend)), term(plain(divisor)))


def _read_join(expr: Any) -> Term:
    members = tuple(sorted({term(plain(a)) for a in expr.args}, key=lambda t: t.key))
    return members[0] if len(members) == 1 else _atom(Operation("join", members))


def _read_other(expr: Any) -> Term:
    if isinstance(expr, sympy.Symbol):
        return _atom(expr)
    if isinstance(expr, sympy.Integer):
        return constant(int(expr))
    hint = "write // for a quotient rounded down" if expr.is_number or expr.is_Pow else ""
    raise DimensionError(expr, f"{expr.func.__name__} is not part of a dimension", hint)


_READERS: dict[Any, Callable[[Any], Term]] = {
    sympy.Add: lambda e: _collect((term(plain(a)), 1) for a in e.args),
    sympy.Mul: _read_product,
    sympy.Pow: _read_power,
    sympy.floor: _read_floor,
    sympy.ceiling: lambda e: -_read_floor(sympy.floor(-e.args[0], evaluate=False)),
    sympy.Mod: _read_mod,
    mod: _read_mod,
    floordiv: lambda e: floordiv_terms(*(term(plain(a)) for a in e.args)),
    sympy.Min: lambda e: _extremum("min", tuple(term(plain(a)) for a in e.args)),
    sympy.Max: lambda e: _extremum("max", tuple(term(plain(a)) for a in e.args)),
    broadcast: _read_join,
}


@lru_cache(maxsize=16384)
def _to_dim(value: Term) -> Dim:
    parts = [sympy.Mul(c, *map(_atom_expression, m)) for m, c in value.coefficients.items()]
    return plain(sympy.Add(*parts))


def _atom_expression(atom: Atom) -> sympy.Basic | Dim:
    if not isinstance(atom, Operation):
        return atom
    args = [arg.dim() for arg in atom.args]
    if atom.kind == "//":
        return floor_divide(*args)
    if atom.kind == "%":
        return modulo(*args)
    if atom.kind == "join":
        return undefined_join(args) if sum(isinstance(a, int) for a in args) > 1 else join(args)
    return FUNCTIONS[atom.kind](args)


def check_dim(value: Any) -> Dim:
    """Return a user's sympy object as a dimension, or raise what is wrong with it."""
    if not isinstance(value, sympy.Expr):
        raise ShapeTypeError(value, "a dimension", "write an int, a name such as 'N', a sympy expression or None")
    if isinstance(value, sympy.Integer):
        return check_size(int(value))
    for symbol in value.free_symbols:
        if symbol.is_prime or symbol.is_composite:
            raise DimensionError(value, f"that {symbol} is prime or composite is not looked at", "leave it out")
        if symbol.is_integer is False or symbol.is_negative or symbol.is_infinite:
            raise DimensionError(value, f"{symbol} is not a non-negative integer", "use symbcast.symbol(name)")
    try:
        term(value)
    except DimensionError as error:
        if error.value is value:
            raise
        raise DimensionError(value, f"in it {error.value} is not allowed: {error.problem}", error.hint) from None
    return value


def symbols_of(dims: Iterable[Dim]) -> tuple[sympy.Symbol, ...]:
    """Return the symbols of some dimensions in order of first appearance."""
    found: dict[sympy.Symbol, None] = {}
    for dim in dims:
        if not isinstance(dim, int):
            found.update({dim: None} if isinstance(dim, sympy.Symbol) else _ordered_symbols(dim))
    return tuple(found)


@lru_cache(maxsize=16384)
def _ordered_symbols(dim: Any) -> dict[sympy.Symbol, None]:
    """Return an expression's symbols in the order of their names: the order sympy keeps is its own."""
    return dict.fromkeys(sorted(dim.free_symbols, key=atom_key))


@lru_cache(maxsize=16384)
def definedness(dim: Dim) -> tuple[Formula, ...]:
    """Return what must hold for a dimension to be a size: it is not negative, and all of it has a value.

    >>> N = sympy.Symbol("N", integer=True)
    >>> definedness(N + 1), definedness(N - 1)
    ((), (Comparison('<=', 0, N - 1),))
    """
    value = term(dim)
    found = dict.fromkeys(_operation_needs(value))
    if _may_be_negative(value):
        found[at_most(0, dim)] = None
    return tuple(found)


def with_values(formula: Formula) -> Formula:
    """Return a formula whose comparisons ask, besides, that all in them has a value: no divisor 0, every join defined.

    >>> N = sympy.Symbol("N", integer=True)
    >>> with_values(at_most(1, floordiv(7, N)))
    AllOf((Comparison('!=', N, 0), Comparison('<=', 1, floordiv(7, N))))
    """
    if isinstance(formula, AllOf):
        return all_of(map(with_values, formula.parts))
    if isinstance(formula, AnyOf):
        return any_of(map(with_values, formula.parts))
    needs = [need for dim in dims_of(formula) for need in _operation_needs(term(dim))]
    return all_of([*needs, formula]) if needs else formula


def _may_be_negative(value: Term) -> bool:
    bound = lower_bound(value)
    return bound is None or bound < 0


def _operation_needs(value: Term) -> Iterator[Formula]:
    for operation in value.operations():
        for arg in operation.args:
            yield from _operation_needs(arg)
        if operation.kind in ("//", "%") and not (lower_bound(operation.args[1]) or 0) > 0:
            yield different(operation.args[1].dim(), 0)
        if operation.kind == "join":
            yield Compatible(tuple(arg.dim() for arg in operation.args))
            yield from (at_most(0, arg.dim()) for arg in operation.args if _may_be_negative(arg))


@lru_cache(maxsize=16384)
def lower_bound(value: Term) -> int | None:
    """Return a lower bound of a term over sizes from 0 on, or None; sound, and exact for what shapes hold."""
    total = 0
    for monomial, coefficient in value.coefficients.items():
        low, high = 1, 1
        bounded = True
        for atom in monomial:
            atom_low, atom_high = _atom_bounds(atom)
            if atom_low is None or atom_low < 0:
                return None
            low *= atom_low
            bounded = bounded and atom_high is not None
            high *= atom_high or 0
        if coefficient < 0 and not bounded:
            return None
        total += coefficient * (low if coefficient > 0 else high)
    return total


def _atom_bounds(atom: Atom) -> tuple[int | None, int | None]:
    if not isinstance(atom, Operation):
        return 0, None
    lows = [lower_bound(arg) for arg in atom.args]
    known = [low for low in lows if low is not None]
    match atom.kind:
        case "//":
            positive = len(known) == 2 and known[0] >= 0 and known[1] >= 0
            return (0 if positive else None), None
        case "%":
            by = atom.args[1]
            if by.is_constant and by.constant > 0:
                return 0, by.constant - 1
            return (0 if len(lows) == 2 and lows[1] is not None and lows[1] >= 0 else None), None
        case "max":
            return (max(known) if known else None), None
        case _:
            return (min(known) if len(known) == len(lows) else None), None


def substitute(value: Term, replaced: Mapping[Atom, Term]) -> Term:
    """Return the term with some atoms replaced at every depth, all at once."""
    parts: list[tuple[Term, int]] = []
    for monomial, coefficient in value.coefficients.items():
        product = constant(1)
        for member in monomial:
            product = product * _substituted(member, replaced)
        parts.append((product, coefficient))
    return _collect(parts)


def _substituted(member: Atom, replaced: Mapping[Atom, Term]) -> Term:
    if member in replaced:
        return replaced[member]
    if not isinstance(member, Operation):
        return _atom(member)
    return operate(member.kind, tuple(substitute(arg, replaced) for arg in member.args))


def operate(kind: Kind, args: tuple[Term, ...]) -> Term:
    """Return an operation on terms, simplified."""
    if kind == "//":
        return floordiv_terms(*args)
    if kind == "%":
        return modulo_terms(*args)
    if kind in ("min", "max"):
        return _extremum(kind, args)
    members = tuple(sorted({a for a in args if a != constant(1)}, key=lambda t: t.key))
    if not members:
        return constant(1)
    return members[0] if len(members) == 1 else _atom(Operation("join", members))
