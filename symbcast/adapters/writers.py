"""Shared parts of the adapters that write dimensions: fixed sizes substituted, names, and a fold over a term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.algebra.terms import Atom, Dim, Kind, Operation, Term, symbols_of
from symbcast.core.logic.formulas import Formula, equal
from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.shapes import Shape, ShapeLike, known_rank, shape, shape_of
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.text.printing import formula_text
from symbcast.errors import DimensionError, MissingExtraError

T = TypeVar("T")


def load(module: str, extra: str) -> Any:
    """Return a framework's module; raise `MissingExtraError` if it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtraError(f"symbcast.adapters.{extra.replace('-', '_')}", extra) from error


@dataclass(frozen=True)
class Settled:
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
            Knowledge(tuple(self.domains), self.domains, (*self.others, equal(symbol, 0)))
        except ContradictionError:
            return False
        return True

    def refuse_others(self, framework: str) -> None:
        """Raise if an assumption relates several symbols."""
        if self.others:
            problem = f"{framework} cannot relate several sizes"
            raise DimensionError(formula_text(self.others[0]), problem, "omit this assumption in jax, and keep it here")


def settle(shapes: Iterable[ShapeLike], assume: Assumptions, min_size: int) -> Settled:
    """Return the shapes under the assumptions; names are bound as in one call of `broadcast`."""
    given = list(shapes)
    # Assumptions may mention sizes of other shapes, which are not written here.
    read = [known_rank(shape(s), "the sizes of another framework") for s in given]
    scope = Scope.asked(given, read, assume, min_size, is_linked=False)
    known = scope.knowledge
    put_in = tuple(shape_of(replaced(d, known.values) for d in s.dims) for s in scope.shapes)
    present = dict.fromkeys(symbols_of(d for s in put_in for d in s.dims))
    others = tuple(f for f in known.others if not present.keys().isdisjoint(symbols_in(f)))
    present.update(dict.fromkeys(s for f in others for s in symbols_in(f)))
    domains = {s: known.domains.get(s, ALL) for s in present}
    return Settled(put_in, domains, others, {s: scope.names[s] for s in present})


def identifiers(names: Mapping[Symbol, str], framework: str, reserved: Iterable[str] = ()) -> dict[Any, str]:
    """Return a name for each symbol that is a Python identifier; an unknown ``?0`` becomes ``u0``."""
    found = {s: name for s, name in names.items() if not isinstance(s, Unknown)}
    for symbol, name in found.items():
        if not name.isidentifier() or name in reserved:
            problem = f"{framework} requires names that are identifiers without a special meaning"
            raise DimensionError(symbol, problem, "give it another name")
    taken = {*found.values(), *reserved}
    for symbol, name in names.items():
        if isinstance(symbol, Unknown):
            label = name.lstrip("?")
            free = f"u{label}" if label.isdecimal() else label or "u"
            while free in taken or not free.isidentifier():
                free = f"u_{free}"
            found[symbol] = free
            taken.add(free)
    return found


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
