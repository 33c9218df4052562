"""Sizes put in for symbols."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias, cast
from unicodedata import normalize

from symbcast.algebra.sequences import AxisSequence, Rest, SequenceSymbol, axis_of, is_sequence, sequences_of
from symbcast.algebra.symbols import Symbol, Unknown
from symbcast.algebra.terms import symbols_of
from symbcast.characters import closest
from symbcast.errors import BindingError, DimensionError
from symbcast.program.unrolling import sizes_at
from symbcast.shapes import Shape, shape_of
from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    import sympy

    from symbcast.algebra.terms import Dim
    from symbcast.logic.formulas import Formula
    from symbcast.program.call import Call
    from symbcast.program.scope import Scope


Sizes: TypeAlias = "Mapping[str, int] | Mapping[sympy.Symbol, int]"
"""Sizes by name, or by symbol."""


class Bound(NamedTuple):
    """The operands at some sizes; ``shapes`` is None where a dimension is not a size there."""

    shapes: tuple[Shape, ...] | None
    sizes: dict[str, int]


def bind(result: Call, given: Sizes | None, named: Mapping[str, int]) -> Bound:
    """Return the operands of a result at the given sizes, by name or by symbol.

    Raises `BindingError` for a size that is missing, for another name, for what is not a size, and for sizes that
    the assumptions exclude.
    """
    names = {} if result.scope is None else result.scope.names
    if result.scope is not None and result.scope.unrolled is not None:
        return _bind_open(result, result.scope, given, named)
    sizes = read_sizes(names, given, named)
    check_all_given([names[s] for s in symbols_of(d for o in result.operands for d in o.dims)], sizes, "evaluate")
    _check_assumptions(result, sizes)
    return Bound(_shapes(result, sizes), sizes)


def _bind_open(result: Call, scope: Scope, given: Sizes | None, named: Mapping[str, int]) -> Bound:
    """Return operands of which some are of unknown rank, at the sizes of their sequences of axes and all others."""
    from symbcast.solver.evaluation import AxisSizes, holds_at

    axes, given, named = read_axes(scope.names, given, named)
    plain = {s: name for s, name in scope.names.items() if not isinstance(s, SequenceSymbol)}
    sizes = read_sizes(plain, given, named)
    needed = {**dict.fromkeys(plain.values(), 2), **{s.name: (2, 2) for s in sequences_of(scope.names)}}
    check_all_given(needed, {**sizes, **{s.name: found for s, found in axes.items()}}, "evaluate")
    for sequence, found in axes.items():
        if any(size < scope.min_size for size in found):
            raise BindingError(f"{sequence.name}={found} has a size below min_size", "see min_size")
    whole = {**sizes, **{s.name: found for s, found in axes.items()}}
    values: dict[Any, int] = {s: sizes[name] for s, name in plain.items()}
    _check_bounds(scope, sizes)
    at = AxisSizes(values, axes)
    for assumption in result.assumptions:
        if not holds_at(assumption.formula, at):
            told = ", ".join(f"{name}={size}" for name, size in whole.items())
            raise BindingError(f"{told} is against the assumption {assumption.text}", "ask without assuming it")
    values.update(sizes_at(scope.names, axes))
    return Bound(_shapes_of_ranks(result, axes, values), whole)  # type: ignore[arg-type]


def read_axes(
    names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int]
) -> tuple[dict[AxisSequence, tuple[int, ...]], Sizes | None, dict[str, int]]:
    """Return the sizes that are given of the axes of each sequence, and what else is given, by name and by keyword.

    Raises `BindingError` for what is no shape.
    """
    sequences: dict[Any, AxisSequence] = {s.name: s for s in sequences_of(names)}
    axes: dict[AxisSequence, tuple[int, ...]] = {}
    others: list[dict[Any, Any]] = [{}, {}]
    for other, part in zip(others, (given if isinstance(given, Mapping) else {}, named), strict=True):
        for key, value in part.items():
            sequence = sequences.get(key.removeprefix("*") if isinstance(key, str) else _name_of(key, names)[1:])
            if sequence is None:
                other[key] = value
            elif isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                hint = f"write {sequence.name}=(2, 3), or () for none"
                raise BindingError(f"{sequence.name} is a sequence of axes, not one size", hint)
            else:
                axes[sequence] = tuple(read_size(f"{sequence.name}[{n}]", size) for n, size in enumerate(value))
    return axes, (others[0] if given is None or isinstance(given, Mapping) else given), others[1]


def holds_of_axes(formula: Formula, names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int]) -> bool:
    """Return whether a formula holds at some sizes of the names of a question, and of the axes of its sequences.

    Raises `BindingError` for a size of the formula that is missing, and for what is no size.
    """
    from symbcast.solver.evaluation import holds_at

    return holds_at(formula, read_needed(symbols_in(formula), names, given, named, "holds"))


def read_needed(
    needed: Collection[Symbol], names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int], call: str
) -> Mapping[Symbol, int]:
    """Return the sizes by symbol that are given of some names; those that are needed must be among them.

    Sequences of axes have shapes, and what is returned is then an `AxisSizes`. Raises `BindingError`; ``call`` is what
    would take the sizes.
    """
    from symbcast.solver.evaluation import AxisSizes

    axes, given, named = read_axes(names, given, named)
    plain = {s: name for s, name in names.items() if not isinstance(s, SequenceSymbol)}
    sizes = read_sizes(plain, given, named)
    asked = {name: 2 for s, name in plain.items() if s in needed}
    missing = {**asked, **{s.name: (2, 2) for s in sequences_of(needed)}}
    check_all_given(missing, {**sizes, **{s.name: found for s, found in axes.items()}}, call)
    found = {s: sizes[name] for s, name in plain.items() if name in sizes}
    return AxisSizes(found, axes) if len(plain) < len(names) else found


def _shapes_of_ranks(
    result: Call, axes: Mapping[AxisSequence, tuple[int, ...]], values: Mapping[Any, int]
) -> tuple[Shape, ...] | None:
    """Return the operands where each sequence has some axes; None where a size is none there."""
    from symbcast.solver.compiler import UndefinedError, predicate, value_function

    symbols = tuple(values)
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, symbols)(*values.values()):
            return None

    def size(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        found = symbols_of((dim,))
        at = {**values, **sizes_at(found, axes)}
        return value_function(dim, found)(*(at[s] for s in found))

    def sizes_in(dim: Dim) -> Iterable[int]:
        if not is_sequence(dim):
            return [size(dim)]
        rank = max(len(axes[s.sequence]) - s.place for s in symbols_of((dim,)) if isinstance(s, Rest))
        return [size(axis_of(dim, n)) for n in range(rank, 0, -1)]

    try:
        return tuple(shape_of(n for dim in operand.dims for n in sizes_in(dim)) for operand in result.operands)
    except (ZeroDivisionError, UndefinedError):
        return None


def read_sizes(names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int]) -> dict[str, int]:
    """Return sizes by name from a mapping (by name or symbol) and from keywords.

    Python normalizes keywords (NFKC), so a name is found by its normal form too. Raises `BindingError`.
    """
    if given is not None and not isinstance(given, Mapping):
        raise BindingError(f"{given!r:.80} is not a mapping of names to sizes", "write N=2, or {'N': 2}")
    wanted = list(names.values())
    by_form = {normalize("NFKC", name): name for name in wanted}
    sizes: dict[str, int] = {}
    for key, value in (*(given or {}).items(), *named.items()):
        name = key if isinstance(key, str) else _name_of(key, names)
        name = name if name in wanted else by_form.get(name, name)
        if name not in wanted:
            raise unknown_name(name, wanted)
        size = read_size(name, value)
        if sizes.setdefault(name, size) != size:
            raise BindingError(f"{name} is given twice, as {sizes[name]} and {size}", "give it once")
    return sizes


def _name_of(key: Any, names: Mapping[Symbol, str]) -> str:
    """Return the name of a size that is given as a symbol, sympy's or one of our own."""
    if isinstance(key, Unknown) and key not in names:
        called = {s.identity: name for s, name in names.items() if isinstance(s, Unknown)}
        return called.get(key.identity, key.name)
    if isinstance(key, Symbol):
        return names.get(key, key.name)
    if not hasattr(type(key), "free_symbols"):
        return str(key)
    from symbcast.algebra.door import from_sympy

    try:
        found = from_sympy(key)
    except DimensionError:
        return str(key)
    if isinstance(found, Unknown):
        return _name_of(found, names)
    return names.get(found, str(key)) if isinstance(found, Symbol) else str(key)


def check_all_given(needed: Iterable[str] | Mapping[str, object], given: Mapping[str, object], call: str) -> None:
    """Raise `BindingError` where a size is needed and not given; ``call`` is what would take it.

    A mapping says what could be written for each, which else is 2.
    """
    wanted: Mapping[str, object] = needed if isinstance(needed, Mapping) else dict.fromkeys(needed, 2)
    missing = {name: value for name, value in wanted.items() if name not in given}
    if missing:
        raise BindingError(f"no size was given for {', '.join(missing)}", f"write {call}({dict(given) | missing})")


def unknown_name(name: str, wanted: Sequence[str]) -> BindingError:
    """Return the error that there is no size of a name; ``wanted`` are the names that there are."""
    close = closest(name, wanted)
    hint = f"did you mean {close!r}?" if close else f"the sizes are {', '.join(wanted) or 'all given'}"
    return BindingError(f"no size here is called {name!r}", hint)


def read_size(name: str, value: object) -> int:
    """Return a value as the size called ``name``; raise `BindingError` for what is none."""
    try:
        size = index(cast("SupportsIndex", value))
    except TypeError:
        size = -1
    if isinstance(value, bool) or size < 0:
        raise BindingError(f"{name}={value!r:.80} is not a size", "write an integer from 0 on")
    return size


def _check_assumptions(result: Call, sizes: Mapping[str, int]) -> None:
    if result.scope is None:
        return
    from symbcast.solver.compiler import predicate
    from symbcast.solver.normal_form import symbols_in

    names = result.scope.names
    _check_bounds(result.scope, sizes)
    for assumption in result.assumptions:
        symbols = tuple(symbols_in(assumption.formula))
        if any(names[s] not in sizes for s in symbols):
            continue
        if not predicate(assumption.formula, symbols)(*(sizes[names[s]] for s in symbols)):
            given = ", ".join(f"{names[s]}={sizes[names[s]]}" for s in symbols)
            raise BindingError(f"{given} is against the assumption {assumption.text}", "ask without assuming it")


def _check_bounds(scope: Scope, sizes: Mapping[str, int]) -> None:
    """Raise `BindingError` for a size that is none of those that its symbol can have by itself."""
    from symbcast.program.premises import own_set

    for symbol, name in scope.names.items():
        if name in sizes and sizes[name] not in own_set(symbol, scope.min_size):
            raise BindingError(f"{name}={sizes[name]} is outside the bounds of {name}", "see .assumptions and min_size")


def _shapes(result: Call, sizes: Mapping[str, int]) -> tuple[Shape, ...] | None:
    if result.scope is None:
        return result.operands
    from symbcast.solver.compiler import UndefinedError, predicate, value_function

    names = result.scope.names
    symbols = tuple(s for s in result.scope.symbols if names[s] in sizes)
    values = [sizes[names[s]] for s in symbols]
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, symbols)(*values):
            return None
    known: dict[Any, int] = dict(zip(symbols, values, strict=True))

    def size(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        return known[dim] if dim.is_Symbol else value_function(dim, symbols)(*values)

    try:
        return tuple(shape_of(map(size, operand.dims)) for operand in result.operands)
    except (ZeroDivisionError, UndefinedError):
        return None
