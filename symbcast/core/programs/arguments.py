"""Arguments of callers, read and checked: operands, origins, given sizes and limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias, cast
from unicodedata import normalize

from symbcast.core.algebra.size_values import MAX_SIZE, check_size, index_of
from symbcast.core.algebra.symbols import MAX_RANK, AxisSequence, Rest, SequenceSymbol, Unknown, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import closest, number_hint
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, from_dim, shape
from symbcast.errors import BindingError, DimensionError, ShapeTypeError

if TYPE_CHECKING:
    import sympy


def check_limit(limit: object) -> int:
    """Return a limit if it is a positive integer; raise `ShapeTypeError` for anything else."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        hint = number_hint("limit", limit, "write the maximum number of answers, 1 or more")
        raise ShapeTypeError(limit, "a limit", hint)
    return limit


LONG_TEXT = 160
"""Conditions of more characters are long: people do not read them."""


Dims: TypeAlias = tuple[Dim, ...]

_KEPT_AT_MOST = 8192
_texts: dict[str, Dims] = {}
_older_texts: dict[str, Dims] = {}
"""The entries of ``_texts`` from before it was last full; those still in use move back."""
_symbols: dict[Any, Symbol] = {}
"""The names that sympy symbols represent; a user's own symbols are not plain."""


def plain_dims(value: Any) -> Dims | None:
    """Return the sizes of an operand that consists of names and integers only, None for any other.

    Raises the same errors as `symbcast.shape` for values that are not shapes.

    >>> plain_dims("N, 3"), plain_dims((2, 3)), plain_dims("N + 1"), plain_dims("?")
    ((N, 3), (2, 3), None, None)
    """
    kind = type(value)
    if kind is Shape:
        return _if_plain(value.dims)
    if kind is str:
        dims = _texts.get(value)
        return _read_text(value) if dims is None else dims
    if kind is tuple or kind is list:
        dims = _looked_up(value)
        if dims is not None:
            return dims
    return _if_plain(shape(value).dims)


def _if_plain(dims: Dims) -> Dims | None:
    for dim in dims:
        kind = type(dim)
        if kind is not int and kind is not Symbol:
            return None
    return dims


def _read_text(text: str) -> Dims | None:
    global _texts, _older_texts
    dims = _older_texts.get(text)
    if dims is None:
        dims = _if_plain(shape(text).dims)
    if dims is not None:
        if len(_texts) >= _KEPT_AT_MOST:
            _texts, _older_texts = {}, _texts
        _texts[text] = dims
    return dims


def _looked_up(sizes: tuple[Any, ...] | list[Any]) -> Dims | None:
    """Return the sizes of integers and known sympy symbols; None if there is anything else to read."""
    dims: list[Dim] = []
    for size in sizes:
        # By type: ``True == 1``, but it is not a size.
        if type(size) is int:
            if not 0 <= size <= MAX_SIZE:
                return None
            dims.append(size)
        else:
            name = _symbols.get(size) if type(size).__name__ == "Symbol" else None
            if name is None and (name := _learnt(size)) is None:
                return None
            dims.append(name)
    return tuple(dims)


def _learnt(size: Any) -> Symbol | None:
    """Return the name that a sympy symbol represents, None for a user's own symbol or anything else."""
    if type(size).__module__ != "sympy.core.symbol":
        return None
    dim = shape((size,)).dims[0]
    if type(dim) is not Symbol:
        return None
    if len(_symbols) >= _KEPT_AT_MOST:
        _symbols.clear()
    _symbols[size] = dim
    return dim


OneOrShape: TypeAlias = "ShapeLike | SupportsIndex | sympy.Expr"
"""A shape, or a single size."""


def check_origin(origin: object) -> None:
    """Raise `ShapeTypeError` unless an origin is text or None."""
    if origin is not None and not isinstance(origin, str):
        raise ShapeTypeError(origin, "an origin", "write the name of the operation as text")


def as_bound(value: object) -> int:
    """Return a bound of a size."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ShapeTypeError(value, "a bound", "write an integer such as 2")
    return check_size(value)


def as_shape(value: OneOrShape) -> Shape:
    """Return a shape; a single dimension becomes a shape of rank 1."""
    if isinstance(value, int) or hasattr(type(value), "free_symbols"):
        return any_shape_of((from_dim(value),))
    return shape(cast("ShapeLike", value))


Sizes: TypeAlias = "Mapping[str, int] | Mapping[sympy.Symbol, int]"
"""Sizes by name, or by symbol."""


class GivenSizes(NamedTuple):
    """The given sizes by name, and those of the axes of sequences."""

    sizes: dict[str, int]
    axes: dict[AxisSequence, tuple[int, ...]]

    @property
    def by_name(self) -> dict[str, Any]:
        """All given values by name; for a sequence, those of all its axes together."""
        return {**self.sizes, **{s.name: axes for s, axes in self.axes.items()}}

    @staticmethod
    def read(names: Mapping[Symbol, str], sizes: Sizes | None, named: Mapping[str, int]) -> GivenSizes:
        """Return the values given for names and sequences: see `read_given_sizes`. Raises `BindingError`."""
        plain = {s: name for s, name in names.items() if not isinstance(s, SequenceSymbol)}
        sequences = {s.name: s for s in sequences_of(names)}
        axes: dict[AxisSequence, tuple[int, ...]] = {}
        others: list[dict[Any, Any]] = [{}, {}]
        is_mapping = isinstance(sizes, Mapping)
        for other, part in zip(others, (sizes if is_mapping and sizes else {}, named), strict=True):
            for key, value in part.items():
                sequence = None if key in plain.values() else _sequence_of(key, sequences)
                if sequence is None:
                    other[key] = value
                    continue
                shape = _read_axes(sequence.name, value)
                if axes.setdefault(sequence, shape) != shape:
                    raise duplicate_size_error(sequence.name, axes[sequence], shape)
        return GivenSizes(
            read_given_sizes(plain, others[0] if is_mapping else sizes, others[1], tuple(sequences)), axes
        )


def _sequence_of(key: Any, sequences: Mapping[str, AxisSequence]) -> AxisSequence | None:
    """Return the sequence that a key refers to: by its name, starred or not, or by the symbol of all its axes."""
    if isinstance(key, str):
        forms = (key, key.removeprefix("*"), normalize("NFKC", key))
        return next((sequences[form] for form in forms if form in sequences), None)
    own = _symbol_of(key)
    if not isinstance(own, Rest) or own.place:
        return None
    return next((s for s in sequences.values() if s.number == own.sequence.number and s == own.sequence), None)


def _read_axes(name: str, value: Any) -> tuple[int, ...]:
    """Return the sizes of the axes of a sequence; raise `BindingError` for values that are not sizes or not ordered."""
    try:
        axes = None if isinstance(value, (str, bytes, Mapping, Set)) else tuple(value)
    except TypeError:
        axes = None
    if axes is None:
        raise BindingError(f"{name} is a sequence of axes, not one size", f"write {name}=(2, 3), or () for none")
    if len(axes) > MAX_RANK:
        raise BindingError(f"{name} is given {len(axes)} axes", f"no sequence has more than {MAX_RANK}")
    return tuple(read_given_size(f"{name}[{n}]", size) for n, size in enumerate(axes))


def read_given_sizes(
    names: Mapping[Symbol, str], by_key: Sizes | None, named: Mapping[str, int], others: Sequence[str] = ()
) -> dict[str, int]:
    """Return sizes by name, given by a mapping (by name or symbol) and by keywords.

    Python normalizes keywords (NFKC), so a name is also found by its normal form. Raises `BindingError`; ``others`` are
    other names that the user of a wrong name may have meant.
    """
    if by_key is not None and not isinstance(by_key, Mapping):
        raise BindingError(f"{by_key!r:.80} is not a mapping of names to sizes", "write N=2, or {'N': 2}")
    known = dict.fromkeys(names.values())
    sizes: dict[str, int] = {}
    for key, value in (*(by_key or {}).items(), *named.items()):
        name = key if isinstance(key, str) else _name_of(key, names)
        if name not in known:
            name = next((n for n in known if normalize("NFKC", n) == name), name)
        if name not in known:
            raise unknown_name_error(name, [*known, *others])
        size = read_given_size(name, value)
        if sizes.setdefault(name, size) != size:
            raise duplicate_size_error(name, sizes[name], size)
    return sizes


def _name_of(key: Any, names: Mapping[Symbol, str]) -> str:
    """Return the name of a size given as a symbol, either sympy's or our own."""
    if isinstance(key, Unknown) and key not in names:
        called = {s.identity: name for s, name in names.items() if isinstance(s, Unknown)}
        return called.get(key.identity, key.name)
    if isinstance(key, Symbol):
        return names.get(key, key.name)
    own = _symbol_of(key)
    if isinstance(own, Unknown):
        return _name_of(own, names)
    return str(key) if own is None else names.get(own, str(key))


def _symbol_of(key: Any) -> Symbol | None:
    """Return our symbol for one of our own or sympy's symbols; None for anything else."""
    if isinstance(key, Symbol) or not hasattr(type(key), "free_symbols"):
        return key if isinstance(key, Symbol) else None
    from symbcast.core.algebra.sympy_conversion import from_sympy

    try:
        own = from_sympy(key)
    except DimensionError:
        return None
    return own if isinstance(own, Symbol) else None


def example_sizes(names: Mapping[Symbol, str]) -> dict[str, object]:
    """Return example values for names: a size, or axes for a sequence."""
    plain = {name: 2 for s, name in names.items() if not isinstance(s, SequenceSymbol)}
    return {**plain, **{s.name: (2, 2) for s in sequences_of(names)}}


def check_all_sizes(needed: Iterable[str] | Mapping[str, object], sizes: Mapping[str, object], call: str) -> None:
    """Raise `BindingError` if a needed size is not given; ``call`` is the name of the method that takes it."""
    missing = [name for name in needed if name not in sizes]
    if missing:
        axes = {name for name, example in needed.items() if example != 2} if isinstance(needed, Mapping) else set()
        texts = {name: repr(size) for name, size in sizes.items()}
        texts |= {name: "(2, 2)" if name in axes else "..." for name in missing}
        by_keyword = all(name.isidentifier() and not iskeyword(name) for name in texts)
        pairs = [f"{name}={text}" if by_keyword else f"{name!r}: {text}" for name, text in texts.items()]
        example = ", ".join(pairs) if by_keyword else f"{{{', '.join(pairs)}}}"
        raise BindingError(f"no size was given for {', '.join(dict.fromkeys(missing))}", f"write {call}({example})")


def unknown_name_error(name: str, known: Sequence[str]) -> BindingError:
    """Return the error for a name that no size has; ``known`` are the valid names."""
    close = closest(name, known)
    hint = f"did you mean {close!r}?" if close else f"the sizes are {', '.join(known) or 'all given'}"
    return BindingError(f"no size here is named {name!r}", hint)


def duplicate_size_error(name: str, first: object, second: object) -> BindingError:
    """Return the error for a name that is given two sizes."""
    return BindingError(f"{name} is given twice, as {first} and {second}", "give it only once")


def read_given_size(name: str, value: object) -> int:
    """Return a value as the size called ``name``; raise `BindingError` if it is not a size."""
    try:
        size = index_of(value)
    except DimensionError as error:
        raise BindingError(f"{name}={value!r:.80}: {error.problem}", "write 0 or a larger integer") from error
    if size is None or isinstance(value, bool) or size < 0:
        number = value.strip() if isinstance(value, str) else ""
        is_plain = number.isascii() and number.isdecimal()
        hint = f"write {number} without quotes" if is_plain else "write 0 or a larger integer"
        raise BindingError(f"{name}={value!r:.80} is not a size", hint)
    return size


class SizesBySymbol(Mapping["Symbol", int]):
    """Sizes by name as sizes by symbol, without a copy: a program has many findings, each with sizes for all names."""

    def __init__(self, names: Mapping[Symbol, str], sizes: Mapping[str, int]) -> None:
        self._names = names
        self._sizes = sizes

    def __getitem__(self, symbol: Symbol) -> int:
        return self._sizes[self._names[symbol]]

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
