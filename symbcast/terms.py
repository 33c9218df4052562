"""Terms: dimensions as polynomials with integer coefficients, so that equal ones are one object.

A dimension is a sympy expression to the outside. To decide about it, it is read once into a `Term`: a sum of integer
multiples of monomials over atoms, where an atom is a symbol or one of the operations ``//``, ``%``, ``min``, ``max``
and the join. This module is the algebra; `symbcast.reading` reads terms and writes them as dimensions again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, Literal, TypeAlias

import sympy

from symbcast.dims import Dim
from symbcast.errors import DimensionError

Kind: TypeAlias = Literal["//", "%", "min", "max", "join"]
Atom: TypeAlias = "sympy.Symbol | Operation"
Monomial: TypeAlias = tuple[Atom, ...]

MAX_MONOMIALS = 500


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
        return collect([(self, 1), (other, 1)])

    def __sub__(self, other: Term) -> Term:
        return collect([(self, 1), (other, -1)])

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
        from symbcast.reading import to_dim

        return to_dim(self)


def atom_key(atom: Atom) -> tuple[Any, ...]:
    """Return a key that orders atoms alike on every run: symbols by name, then operations."""
    if isinstance(atom, Operation):
        return atom.key
    return (0, atom.name, getattr(atom, "dummy_index", 0))


def constant(value: int) -> Term:
    """Return an integer as a term."""
    return Term({(): value} if value else {})


def collect(parts: Iterable[tuple[Term, int]]) -> Term:
    """Return the sum of terms times integers."""
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
        return whole + constant(carried) + _floor_of_floor(shrunk, by // common)
    return as_term(Operation("//", (dividend, divisor)))


def _floor_of_floor(dividend: Term, divisor: int) -> Term:
    """Return a floor, of a floor in one: floor((floor(x/a) + r) / b) is floor((x + a*r) / (a*b)) for whole r."""
    for monomial, coefficient in dividend.coefficients.items():
        inner = monomial[0] if len(monomial) == 1 and coefficient == 1 else None
        if isinstance(inner, Operation) and inner.kind == "//" and inner.args[1].is_constant:
            by = inner.args[1].constant
            rest = dividend - as_term(inner)
            if by > 0:
                return floordiv_terms(inner.args[0] + rest.scaled(by), constant(by * divisor))
    return as_term(Operation("//", (dividend, constant(divisor))))


def modulo_terms(dividend: Term, divisor: Term) -> Term:
    """Return the remainder, of the divisor's sign; multiples of a constant divisor drop out of it."""
    if divisor.is_constant and divisor.constant:
        by = divisor.constant
        if by < 0:
            return -modulo_terms(-dividend, -divisor)
        rest = _congruent(Term({m: c % by for m, c in dividend.coefficients.items() if c % by}), by)
        return rest if rest.is_constant else as_term(Operation("%", (rest, divisor)))
    return as_term(Operation("%", (dividend, divisor)))


def _congruent(dividend: Term, by: int) -> Term:
    """Return what leaves the same remainder: x in the place of x % c, where ``by`` divides c."""
    for monomial, coefficient in dividend.coefficients.items():
        for place, atom in enumerate(monomial):
            if isinstance(atom, Operation) and atom.kind == "%" and _is_multiple(atom.args[1], by):
                others = Term({(*monomial[:place], *monomial[place + 1 :]): coefficient})
                found = dividend - Term({monomial: coefficient}) + others * atom.args[0]
                return _congruent(Term({m: c % by for m, c in found.coefficients.items() if c % by}), by)
    return dividend


def _is_multiple(divisor: Term, by: int) -> bool:
    return divisor.is_constant and divisor.constant % by == 0


def as_term(atom: Atom) -> Term:
    """Return an atom as a term."""
    return Term({(atom,): 1})


def extremum_terms(kind: Literal["min", "max"], args: tuple[Term, ...]) -> Term:
    """Return the least or greatest of some terms, repeats left out and numbers worked out."""
    numbers = [a.constant for a in args if a.is_constant]
    if numbers:
        number = min(numbers) if kind == "min" else max(numbers)
        args = (constant(number), *(a for a in args if not a.is_constant))
    distinct = tuple(sorted(dict.fromkeys(args), key=lambda t: t.key))
    return distinct[0] if len(distinct) == 1 else as_term(Operation(kind, distinct))


def substitute(value: Term, replaced: Mapping[Atom, Term]) -> Term:
    """Return the term with some atoms replaced at every depth, all at once."""
    parts: list[tuple[Term, int]] = []
    for monomial, coefficient in value.coefficients.items():
        product = constant(1)
        for member in monomial:
            product = product * _substituted(member, replaced)
        parts.append((product, coefficient))
    return collect(parts)


def _substituted(member: Atom, replaced: Mapping[Atom, Term]) -> Term:
    if member in replaced:
        return replaced[member]
    if not isinstance(member, Operation):
        return as_term(member)
    return operate(member.kind, tuple(substitute(arg, replaced) for arg in member.args))


def operate(kind: Kind, args: tuple[Term, ...]) -> Term:
    """Return an operation on terms, simplified."""
    if kind == "//":
        return floordiv_terms(*args)
    if kind == "%":
        return modulo_terms(*args)
    if kind in ("min", "max"):
        return extremum_terms(kind, args)
    members = tuple(sorted({a for a in args if a != constant(1)}, key=lambda t: t.key))
    if not members:
        return constant(1)
    return members[0] if len(members) == 1 else as_term(Operation("join", members))
