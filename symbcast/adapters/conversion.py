"""Shared parts of the adapters.

Symbols for a framework's sizes, fixed sizes and assumptions, and a fold over terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import sympy

from symbcast.core.algebra.arithmetic import MAX_SIZE, replace_symbols
from symbcast.core.algebra.formulas import Formula, equal
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.sympy_conversion import read_symbol
from symbcast.core.algebra.terms import Atom, Dim, Kind, Operation, Symbol, Term, symbols_of
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape, ShapeLike, known_rank, shape, shape_of
from symbcast.core.solver.decision import AssumptionSet, ContradictionError
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.text.notation import formula_text
from symbcast.errors import DimensionError, MissingExtraError, ShapeTypeError

# The sizes of a framework's scopes, and our symbols for them.


_numbers = count(1)


class ScopedSymbol(sympy.Dummy):
    """A size of one scope of a framework; the same name in another scope is a different size.

    Its name in text refers to it unless another size has that name.
    """

    def __new__(cls, name: str, number: int | None = None) -> ScopedSymbol:
        # Numbered by us, as `Unknown` is: the numbers sympy gives differ from run to run.
        fresh = next(_numbers) if number is None else number
        symbol: ScopedSymbol = super().__new__(cls, name, dummy_index=fresh, integer=True, nonnegative=True)
        return symbol

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.dummy_index), {}

    def _sympystr(self, printer: Any) -> str:
        return str(self.name)

    def _latex(self, printer: Any) -> str:
        return str(sympy.latex(sympy.Symbol(self.name)))


class Scopes:
    """The symbol of each name in each scope of a framework, kept as long as the scope lives."""

    def __init__(self) -> None:
        self._symbols: WeakKeyDictionary[Any, dict[str, Symbol]] = WeakKeyDictionary()

    def symbol(self, scope: Any, name: str) -> Symbol:
        """Return the symbol of a name in a scope, the same one on every call."""
        known = self._symbols.setdefault(scope, {})
        if name not in known:
            known[name] = read_symbol(ScopedSymbol(name))
        return known[name]

    def __contains__(self, named: tuple[Any, str]) -> bool:
        scope, name = named
        return name in self._symbols.get(scope, {})

    def record(self, scope: Any, names: Mapping[Symbol, str]) -> None:
        """Record the symbols that a scope was written from, so that reading it returns them."""
        self._symbols.setdefault(scope, {}).update({name: symbol for symbol, name in names.items()})


# Shared parts of the adapters that write dimensions: fixed sizes substituted, names, and a fold over a term.


T = TypeVar("T")


def load(module: str, extra: str) -> Any:
    """Return a framework's module; raise `MissingExtraError` if it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A module that the framework itself lacks is no missing extra.
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtraError(f"symbcast.adapters.{extra.replace('-', '_')}", extra) from error


def sizes_of(dims: Any, value: object, what: str, hint: str) -> tuple[Any, ...]:
    """Return the sizes that a framework's object lists; raise `ShapeTypeError` for a value that lists none."""
    try:
        return tuple(dims)
    except TypeError:
        raise ShapeTypeError(value, what, hint) from None


@dataclass(frozen=True)
class ResolvedShapes:
    """Shapes with fixed sizes substituted, and the remaining assumptions about their symbols.

    ``domains`` are the sets of values of the symbols, ``others`` the assumptions that relate several symbols.
    """

    shapes: tuple[Shape, ...]
    domains: Mapping[Symbol, SizeSet]
    others: tuple[Formula, ...]
    names: Mapping[Symbol, str]

    def bounds(self, symbol: Symbol, framework: str) -> tuple[int, int | None]:
        """Return the smallest and the largest size of a symbol; raise if there are gaps between them."""
        members = self.domains[symbol]
        low, high = members.least() or 0, members.greatest
        if not members.same(SizeSet.interval(low, high)):
            raise DimensionError(
                symbol, f"{framework} supports one range of sizes, but these have gaps", "assume a range"
            )
        return low, high if high is None or high < MAX_SIZE else None

    def may_be_zero(self, symbol: Symbol) -> bool:
        """Return whether a symbol may be 0; True if that cannot be decided."""
        if 0 not in self.domains[symbol]:
            return False
        try:
            AssumptionSet(tuple(self.domains), self.domains, (*self.others, equal(symbol, 0)))
        except ContradictionError:
            return False
        return True

    def refuse_others(self, framework: str) -> None:
        """Raise if an assumption relates several symbols."""
        if self.others:
            problem = f"{framework} cannot relate several sizes"
            raise DimensionError(formula_text(self.others[0]), problem, "omit this assumption in jax, and keep it here")


def resolve_shapes(shapes: Iterable[ShapeLike], assume: Assumptions, min_size: int) -> ResolvedShapes:
    """Return the shapes under the assumptions; names are bound as in one call of `broadcast`."""
    operands = list(shapes)
    # Assumptions may mention sizes of other shapes, which are not written here.
    read = [known_rank(shape(s), "the sizes of another framework") for s in operands]
    scope = Scope.of_call(operands, read, assume, min_size, is_linked=False)
    known = scope.assumption_set
    put_in = tuple(shape_of(replace_symbols(d, known.values) for d in s.dims) for s in scope.shapes)
    present = dict.fromkeys(symbols_of(d for s in put_in for d in s.dims))
    others = tuple(f for f in known.others if not present.keys().isdisjoint(symbols_in(f)))
    present.update(dict.fromkeys(s for f in others for s in symbols_in(f)))
    domains = {s: known.domains.get(s, ALL) for s in present}
    return ResolvedShapes(put_in, domains, others, {s: scope.names[s] for s in present})


def identifiers(names: Mapping[Symbol, str], framework: str, reserved: Iterable[str] = ()) -> dict[Any, str]:
    """Return a name for each symbol that is a Python identifier; an unknown ``?0`` becomes ``u0``."""
    by_symbol = {s: name for s, name in names.items() if not isinstance(s, Unknown)}
    for symbol, name in by_symbol.items():
        if not name.isidentifier() or name in reserved:
            problem = f"{framework} requires names that are identifiers without a special meaning"
            raise DimensionError(symbol, problem, "give it another name")
    taken = {*by_symbol.values(), *reserved}
    for symbol, name in names.items():
        if isinstance(symbol, Unknown):
            label = name.lstrip("?")
            free = f"u{label}" if label.isdecimal() else label or "u"
            while free in taken or not free.isidentifier():
                free = f"u_{free}"
            by_symbol[symbol] = free
            taken.add(free)
    return by_symbol


def fold(
    value: Term,
    leaf: Callable[[Symbol], T],
    operation: Callable[[Kind, list[T]], T],
    total: Callable[[Sequence[tuple[int, list[T]]]], T],
) -> T:
    """Convert a term to another notation: ``total`` builds a sum from pairs of an integer and its factors."""

    def of(atom: Atom) -> T:
        if isinstance(atom, Symbol):
            return leaf(atom)
        assert isinstance(atom, Operation)
        return operation(atom.kind, [fold(a, leaf, operation, total) for a in atom.args])

    return total([(c, [of(a) for a in monomial]) for monomial, c in value.coefficients.items()])


def operations(value: Term) -> Iterator[Operation]:
    """Yield the operations in a term, at every depth."""
    for operation in value.operations():
        yield operation
        for arg in operation.args:
            yield from operations(arg)


def cannot_join(dim: Dim, framework: str) -> DimensionError:
    """Return the error for a join, which no framework supports."""
    hint = (
        "where it is known to be defined, dim.rewrite(sympy.Max) is the same size; otherwise give the axis its own name"
    )
    return DimensionError(dim, f"{framework} has no dimension that is the broadcast of two sizes", hint)
