"""Terms: sizes as polynomials with integer coefficients, interned so that equal ones are one object.

A term is a sum of integer multiples of monomials over atoms. An atom is a symbol or one of the operations ``//``,
``%``, ``min``, ``max`` and the join, and is a term itself. Terms share their parts: the properties of a term (its
symbols, its key, a lower bound) are computed once and kept with it, so a term that is huge as a tree costs only its
size as a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import gcd
from operator import attrgetter
from threading import RLock
from typing import Any, ClassVar, Generic, Literal, ParamSpec, Self, TypeAlias, TypeVar, cast, overload
from weakref import ref

from symbcast.core.effort import charge
from symbcast.errors import DimensionError

_Value = TypeVar("_Value")
_Kind = TypeVar("_Kind", bound="Term")
_P = ParamSpec("_P")
_S = TypeVar("_S", bound="Symbol")
Kind: TypeAlias = Literal["//", "%", "min", "max", "join"]
Monomial: TypeAlias = "tuple[Atom, ...]"
Dim: TypeAlias = "int | Term"
"""The size of an axis: an integer, or a term that is none."""

MAX_MONOMIALS = 500
# How many atoms are multiplied in one monomial.
MAX_DEGREE = 4096
# How many bits a number may have: 2,466 digits, which Python still writes down.
MAX_BITS = 1 << 13
_GREATEST = 1 << MAX_BITS
# Products of at most this many pairs of monomials are too cheap to count.
_FEW_PAIRS = 16


class _InternedReference(ref["Term"]):
    """A weak reference to an interned term, with what identifies the term."""

    __slots__ = ("identity",)
    identity: Any


# A `WeakValueDictionary` takes three times as long, mostly for its lock-free removals: here, terms that are added
# remove those that were freed.
_interned: dict[Any, _InternedReference] = {}
_freed: list[_InternedReference] = []
# How many freed terms wait to be removed together.
_FREED_AT_ONCE = 64
# Held while terms are replaced and removed, so that two threads never make two of one: equality is identity.
_interning = RLock()


class lazy_property(Generic[_Value]):  # noqa: N801 - a decorator, as `property` is
    """A property that is computed on first access and kept: `functools.cached_property` without its lock.

    The lock of Python 3.11 takes longer than most of these properties. Two threads compute equal values.
    """

    def __init__(self, work: Callable[[Any], _Value]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...
    def __get__(self, instance: Any, owner: type) -> Self | _Value:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work(instance)
        return value


class Term:
    """A polynomial over atoms; immutable, and unique for its value.

    ``coefficients`` maps each monomial, a sorted tuple of atoms, to a number other than 0; monomials are in the order
    of their keys. The empty monomial is the constant; ``is_constant`` says that there is no other.
    """

    is_Symbol: ClassVar[bool] = False  # noqa: N815 - sympy's word for it
    written_by: ClassVar[Callable[[Term], str]] = staticmethod(object.__repr__)
    """Converts a term to text; `symbcast.core.algebra.symbols` registers itself here, as it is a higher layer."""
    coefficients: Mapping[Monomial, int]
    is_constant: bool

    def __new__(cls, coefficients: dict[Monomial, int]) -> Term:
        """Return the term with these coefficients, none of them 0."""
        if len(coefficients) == 1:
            (part,) = coefficients.items()
            if part[1] == 1 and len(part[0]) == 1:
                return part[0][0]
            return interned(part, _made, coefficients)
        return interned(frozenset(coefficients.items()), _made, coefficients)

    def __reduce__(self) -> tuple[Any, ...]:
        return Term, (dict(self.coefficients),)

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, memo: Any) -> Term:
        return self

    def __str__(self) -> str:
        return type(self).written_by(self)

    __repr__ = __str__

    def __add__(self, other: Dim) -> Term:
        return collect([(self, 1), (term(other), 1)])

    def __radd__(self, other: int) -> Term:
        return collect([(term(other), 1), (self, 1)])

    def __sub__(self, other: Dim) -> Term:
        return collect([(self, 1), (term(other), -1)])

    def __rsub__(self, other: int) -> Term:
        return collect([(term(other), 1), (self, -1)])

    def __neg__(self) -> Term:
        return self.scaled(-1)

    def __mul__(self, other: Dim) -> Term:
        if isinstance(other, int):
            return self.scaled(other)
        product: dict[Monomial, int] = {}
        pairs = len(self.coefficients) * len(other.coefficients)
        if pairs > _FEW_PAIRS:
            charge(2 * pairs)
        for left, a in self.coefficients.items():
            for right, b in other.coefficients.items():
                monomial = _product(left, right)
                product[monomial] = product.get(monomial, 0) + a * b
        if len(product) > MAX_MONOMIALS:
            raise DimensionError("a product", f"expands to more than {MAX_MONOMIALS} monomials")
        return Term({m: c for m, c in product.items() if c})

    __rmul__ = __mul__

    def scaled(self, factor: int) -> Term:
        """Return the term times an integer."""
        if factor == 1:
            return self
        return Term({m: c * factor for m, c in self.coefficients.items()} if factor else {})

    @lazy_property
    def key(self) -> tuple[Any, ...]:
        """A key that orders terms the same way on every run."""
        return tuple((tuple(a.atom_key for a in m), c) for m, c in self.coefficients.items())

    @lazy_property
    def constant(self) -> int:
        """The coefficient of the empty monomial."""
        return self.coefficients.get((), 0)

    @property
    def leading(self) -> int:
        """The coefficient of the first monomial other than the constant; 0 for an integer."""
        return next((c for m, c in self.coefficients.items() if m), 0)

    @property
    def content(self) -> int:
        """The greatest common divisor of the coefficients other than the constant; 0 for an integer."""
        return gcd(*(c for m, c in self.coefficients.items() if m))

    @lazy_property
    def is_linear(self) -> bool:
        """Whether no monomial multiplies atoms, at any depth, and no divisor is symbolic."""
        return all(len(m) <= 1 for m in self.coefficients) and all(
            all(arg.is_linear for arg in atom.args) and (atom.kind not in ("//", "%") or atom.args[1].is_constant)
            for atom in self.operations()
        )

    @lazy_property
    def is_sum_of_symbols(self) -> bool:
        """Whether it adds multiples of symbols and a number, so that each symbol occurs once."""
        return all(len(m) <= 1 and not any(isinstance(a, Operation) for a in m) for m in self.coefficients)

    @lazy_property
    def is_total(self) -> bool:
        """Whether the term has a value at all sizes: it divides by numbers only, and joins nothing."""
        return all(
            operation.kind != "join"
            and (
                operation.kind not in ("//", "%") or (operation.args[1].is_constant and operation.args[1].constant != 0)
            )
            and all(arg.is_total for arg in operation.args)
            for operation in self.operations()
        )

    @lazy_property
    def lower_bound(self) -> int | None:
        """A lower bound over sizes from 0 on, or None; sound, and exact for the terms that shapes usually contain."""
        total = 0
        for monomial, coefficient in self.coefficients.items():
            low, high = 1, 1
            bounded = True
            for atom in monomial:
                atom_low, atom_high = atom.bounds
                # A factor below 0 would turn the bounds of the others around.
                if atom_low is None or atom_low < 0:
                    return None
                low *= atom_low
                bounded = bounded and atom_high is not None
                high *= atom_high or 0
            if coefficient < 0 and not bounded:
                return None
            total += coefficient * (low if coefficient > 0 else high)
        return total

    def is_at_least(self, number: int) -> bool:
        """Return whether the term is known to be at least a number wherever it has a value."""
        low = self.lower_bound
        return low is not None and low >= number

    def atoms(self) -> Iterator[Atom]:
        """Yield the atoms of the monomials, repeats included."""
        for monomial in self.coefficients:
            yield from monomial

    def operations(self) -> Iterator[Operation]:
        """Yield the atoms that are operations."""
        return (atom for atom in self.atoms() if isinstance(atom, Operation))

    def all_operations(self) -> Iterator[Operation]:
        """Yield the operations at every depth, the inner ones first."""
        for operation in self.operations():
            for arg in operation.args:
                yield from arg.all_operations()
            yield operation

    @property
    def has_operations(self) -> bool:
        """Whether any of its atoms is an operation."""
        return any(isinstance(atom, Operation) for atom in self.atoms())

    @lazy_property
    def adds_quotients(self) -> bool:
        """Whether it adds something to a product with a quotient or remainder."""
        return len(self.coefficients) > 1 and any(operation.kind in ("//", "%") for operation in self.operations())

    def symbols(self) -> Mapping[Symbol, None]:
        """Return the symbols at any depth, in the order of the monomials; callers must not change the result."""
        return self._symbols

    @lazy_property
    def _symbols(self) -> Mapping[Symbol, None]:
        symbols: dict[Symbol, None] = {}
        for monomial in self.coefficients:
            for atom in monomial:
                if isinstance(atom, Symbol):
                    symbols[atom] = None
                else:
                    symbols.update(atom.symbols())
        return symbols

    @lazy_property
    def size(self) -> int:
        """The number of atoms when the term is written out as a tree."""
        return sum(1 + (sum(arg.size for arg in a.args) if isinstance(a, Operation) else 0) for a in self.atoms())

    @lazy_property
    def length(self) -> int:
        """How long its text is, roughly, if each name has one letter: what is shorter does not depend on names."""
        total = 0
        for monomial, coefficient in self.coefficients.items():
            number = len(str(abs(coefficient))) + 1 if abs(coefficient) > 1 or not monomial else 0
            inside = (sum(arg.length for arg in a.args) if isinstance(a, Operation) else 0 for a in monomial)
            total += 2 + number + sum(inside) + 2 * len(monomial)
        return total

    def dim(self) -> Dim:
        """Return the term as a dimension: an ``int`` if it is constant."""
        return self.constant if self.is_constant else self


class Atom(Term):
    """A factor of monomials: a symbol or an operation; as a term, itself times 1."""

    is_constant = False
    constant: ClassVar[int] = 0

    def __new__(cls) -> Atom:
        """Return a new atom; only interning creates atoms."""
        return object.__new__(cls)

    @property
    def coefficients(self) -> Mapping[Monomial, int]:  # type: ignore[override] # nothing sets them
        # Created on demand: if stored, an atom would reference itself and be freed only by the garbage collector.
        return {(self,): 1}

    def scaled(self, factor: int) -> Term:
        """Return the atom times an integer."""
        return self if factor == 1 else Term({(self,): factor} if factor else {})

    is_truth_value: bool = False
    """Whether it is 0 or 1: the lesser of 1 and of one that is never below 0."""

    @property
    def atom_key(self) -> tuple[Any, ...]:
        """A key that orders atoms the same way on every run: symbols by name, then operations."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """A lower and an upper bound over sizes from 0 on, each None if there is none."""
        raise NotImplementedError

    @property
    def key(self) -> tuple[Any, ...]:
        return (((self.atom_key,), 1),)

    @property
    def lower_bound(self) -> int | None:
        return self.bounds[0]


class Symbol(Atom):
    """An unknown size: a non-negative integer.

    ``lower`` and ``upper`` bound it (inclusive; None: no upper bound) and ``parity`` is its remainder by 2 if
    known. ``number`` distinguishes symbols with the same name; text with the name means number 0. ``outside`` is the
    sympy symbol that a user gave for it, None for one of our own.
    """

    is_Symbol: ClassVar[bool] = True  # noqa: N815
    is_Dummy: ClassVar[bool] = False  # noqa: N815
    name: str
    lower: int = 0
    upper: int | None = None
    parity: int | None = None
    number: int = 0
    outside: Any = None
    written: Any = None
    """The sympy symbol that it is shown as, once it was."""

    def __new__(cls, name: str) -> Symbol:
        """Return the size called ``name``: one object for each name."""
        return interned(name, _named, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Symbol, (self.name,)

    @property
    def atom_key(self) -> tuple[Any, ...]:
        return (0, self.name, self.number)

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        return 0, None

    def symbols(self) -> Mapping[Symbol, None]:
        """Return the symbol itself."""
        return {self: None}


class Operation(Atom):
    """An operation on terms: ``kind``, and ``args`` in order; those of min, max and join sorted by their keys."""

    kind: Kind
    args: tuple[Term, ...]

    def __new__(cls, kind: Kind, args: tuple[Term, ...]) -> Operation:
        """Return the operation, not simplified: see `symbcast.core.algebra.arithmetic`."""
        return interned((kind, args), _made_operation, kind, args)

    def __reduce__(self) -> tuple[Any, ...]:
        return Operation, (self.kind, self.args)

    @lazy_property
    def is_truth_value(self) -> bool:
        return self.kind == "min" and any(a.is_constant and a.constant == 1 for a in self.args) and self.bounds[0] == 0

    @lazy_property
    def atom_key(self) -> tuple[Any, ...]:
        return (1, self.kind, tuple(arg.key for arg in self.args))

    @lazy_property
    def bounds(self) -> tuple[int | None, int | None]:
        lows = [arg.lower_bound for arg in self.args]
        known = [low for low in lows if low is not None]
        match self.kind:
            case "//":
                by = self.args[1]
                if by.is_constant and by.constant > 0:
                    return (None if lows[0] is None else lows[0] // by.constant), None
                positive = len(known) == 2 and known[0] >= 0 and known[1] >= 0
                return (0 if positive else None), None
            case "%":
                by = self.args[1]
                # A remainder has the sign of its divisor, as in Python.
                if by.is_constant and by.constant > 0:
                    return 0, by.constant - 1
                return (0 if lows[1] is not None and lows[1] >= 0 else None), None
            case "max":
                return (max(known) if known else None), None
            case _:  # a join is one of its members, so it is at least the least of them
                highs = [arg.constant for arg in self.args if arg.is_constant] if self.kind == "min" else []
                return (min(known) if len(known) == len(lows) else None), min(highs, default=None)

    @lazy_property
    def _symbols(self) -> Mapping[Symbol, None]:
        symbols: dict[Any, None] = {}
        for arg in self.args:
            symbols.update(arg.symbols())
        return symbols


def interned(identity: Any, make: Callable[_P, _Kind], *args: _P.args, **kwargs: _P.kwargs) -> _Kind:
    """Return the unique term of an identity, creating it if needed; it is freed with its last reference."""
    reference = _interned.get(identity)
    if reference is not None:
        existing = reference()
        if existing is not None:
            return existing  # type: ignore[return-value] # a `cast` is a call, and each name comes here
    if len(_freed) > _FREED_AT_ONCE:
        _remove_freed()
    value = make(*args, **kwargs)
    # A term may be freed in any thread at any time: the callback takes no lock and changes no dictionary.
    reference = _InternedReference(value, _freed.append)
    reference.identity = identity
    # One step, so that of two threads both get the term of the first. A dead reference gives way under the lock only.
    if _interned.setdefault(identity, reference) is reference:
        return value
    with _interning:
        existing = _interned.setdefault(identity, reference)()
        if existing is None:
            _interned[identity] = reference
            existing = value
    return cast(_Kind, existing)


def _remove_freed() -> None:
    with _interning:
        while _freed:
            gone = _freed.pop()
            identity = gone.identity
            if _interned.get(identity) is gone:  # otherwise the term was made again meanwhile
                del _interned[identity]


def _named(name: str) -> Symbol:
    symbol = object.__new__(Symbol)
    symbol.name = name
    return symbol


def made_symbol(  # noqa: PLR0913, PLR0917 - all that a symbol is
    kind: type[_S], name: str, number: int = 0, lower: int = 0, upper: int | None = None, parity: int | None = None
) -> _S:
    """Return a new symbol that is not interned."""
    symbol = object.__new__(kind)
    symbol.name, symbol.number, symbol.outside = name, number, None
    symbol.lower, symbol.upper, symbol.parity = lower, upper, parity
    return symbol


def _made(coefficients: Mapping[Monomial, int]) -> Term:
    for number in coefficients.values():
        if not -_GREATEST < number < _GREATEST:
            raise DimensionError("a term", f"has a number of more than {MAX_BITS} bits")
    result = object.__new__(Term)
    result.is_constant = not coefficients or (len(coefficients) == 1 and () in coefficients)
    # Sorted, so that the order does not depend on which of two equal terms was created first: the constant first.
    if len(coefficients) == 2 and () in coefficients:
        result.coefficients = {(): coefficients[()], **coefficients}
    elif len(coefficients) > 1:
        result.coefficients = dict(sorted(coefficients.items(), key=lambda part: [atom.atom_key for atom in part[0]]))
    else:
        result.coefficients = dict(coefficients)
    return result


def _made_operation(kind: Kind, args: tuple[Term, ...]) -> Operation:
    operation = object.__new__(Operation)
    operation.kind, operation.args = kind, args
    return operation


def _product(left: Monomial, right: Monomial) -> Monomial:
    if not (left and right):
        return left or right
    if len(left) + len(right) > MAX_DEGREE:
        raise DimensionError("a product", f"multiplies more than {MAX_DEGREE} sizes")
    atoms = tuple(sorted((*left, *right), key=attrgetter("atom_key")))
    # One factor at a time: of two that are min(x, 1), each is idle beside the other.
    idle = next((n for n, atom in enumerate(atoms) if atom.is_truth_value and _is_idle(atoms, n)), None)
    return atoms if idle is None else _product(atoms[:idle], atoms[idle + 1 :])


def _is_idle(monomial: Monomial, place: int) -> bool:
    """Return whether a factor changes nothing: ``x * min(x, 1)`` is ``x`` for every x from 0 on.

    With several members each of them must divide the product: ``x * min(x, y, 1)`` is 0 where y is.
    """
    factor = monomial[place]
    assert isinstance(factor, Operation)
    if factor in monomial[:place]:  # 0 and 1 are their own squares
        return True
    return all(arg.is_constant or _divides(arg, monomial) for arg in factor.args)


def _divides(value: Term, monomial: Monomial) -> bool:
    """Return whether a term is a positive multiple of some of the factors, which are never negative."""
    if len(value.coefficients) != 1:
        return False
    ((atoms, number),) = value.coefficients.items()
    others = list(monomial)
    for atom in atoms:
        if atom not in others or not atom.is_at_least(0):
            return False
        others.remove(atom)
    return number > 0


def product_of_monomials(parts: Iterable[Term]) -> Term:
    """Return the product of the parts that have one monomial each, sorted once."""
    number, atoms = 1, list[Atom]()
    for part in parts:
        if len(part.coefficients) == 1:
            ((monomial, coefficient),) = part.coefficients.items()
            number *= coefficient
            atoms += monomial
    return Term({_product(tuple(atoms[:1]), tuple(atoms[1:])): number})


def constant(value: int) -> Term:
    """Return an integer as a term."""
    result = _small.get(value)
    if result is None:
        result = Term({(): value} if value else {})
        if -_KEPT_UP_TO <= value <= _KEPT_UP_TO:
            _small[value] = result
    return result


_KEPT_UP_TO = 256
# The constants of nearly all arithmetic, which would otherwise be freed and made again all the time.
_small: dict[int, Term] = {}


def term(dim: Dim) -> Term:
    """Return a dimension as a term."""
    if isinstance(dim, Term):
        return dim
    if not isinstance(dim, int):
        raise TypeError(f"{dim!r} is a {type(dim).__name__}")
    return constant(dim)


def collect(parts: Iterable[tuple[Term, int]], number: int = 0) -> Term:
    """Return the sum of terms times integers, plus a number."""
    total: dict[Monomial, int] = {(): number} if number else {}
    for part, factor in parts:
        if isinstance(part, Atom):
            total[part,] = total.get((part,), 0) + factor
            continue
        for monomial, coefficient in part.coefficients.items():
            total[monomial] = total.get(monomial, 0) + factor * coefficient
    return Term({m: c for m, c in total.items() if c} if 0 in total.values() else total)


def symbols_of(dims: Iterable[Dim]) -> tuple[Symbol, ...]:
    """Return the symbols of some dimensions in order of first appearance."""
    symbols: dict[Symbol, None] = {}
    for dim in dims:
        if type(dim) is Symbol:
            symbols[dim] = None
        elif not isinstance(dim, int):
            symbols.update(dim.symbols())
    return tuple(symbols)
