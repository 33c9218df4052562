"""Sizes given by a caller, by name or by symbol, and sizes of the axes of sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from unicodedata import normalize

from symbcast.core.algebra.sequences import MAX_RANK, AxisSequence, Rest, SequenceSymbol, sequences_of
from symbcast.core.algebra.sizes import index_of
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.characters import closest
from symbcast.errors import BindingError, DimensionError

if TYPE_CHECKING:
    import sympy

Sizes: TypeAlias = "Mapping[str, int] | Mapping[sympy.Symbol, int]"
"""Sizes by name, or by symbol."""


class Given(NamedTuple):
    """The given sizes by name, and those of the axes of sequences."""

    sizes: dict[str, int]
    axes: dict[AxisSequence, tuple[int, ...]]

    @property
    def by_name(self) -> dict[str, Any]:
        """All given values by name; for a sequence, those of all its axes together."""
        return {**self.sizes, **{s.name: found for s, found in self.axes.items()}}

    @staticmethod
    def read(names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int]) -> Given:
        """Return the values given for names, including names of sequences: see `read_sizes`. Raises `BindingError`."""
        plain = {s: name for s, name in names.items() if not isinstance(s, SequenceSymbol)}
        sequences = {s.name: s for s in sequences_of(names)}
        axes: dict[AxisSequence, tuple[int, ...]] = {}
        others: list[dict[Any, Any]] = [{}, {}]
        is_mapping = isinstance(given, Mapping)
        for other, part in zip(others, (given if is_mapping and given else {}, named), strict=True):
            for key, value in part.items():
                sequence = None if key in plain.values() else _sequence_of(key, sequences)
                if sequence is None:
                    other[key] = value
                    continue
                found = _read_axes(sequence.name, value)
                if axes.setdefault(sequence, found) != found:
                    raise BindingError(
                        f"{sequence.name} is given twice, as {axes[sequence]} and {found}", "give it only once"
                    )
        return Given(read_sizes(plain, others[0] if is_mapping else given, others[1], tuple(sequences)), axes)


def _sequence_of(key: Any, sequences: Mapping[str, AxisSequence]) -> AxisSequence | None:
    """Return the sequence that a key refers to: by its name, starred or not, or by the symbol of all its axes."""
    if isinstance(key, str):
        forms = (key, key.removeprefix("*"), normalize("NFKC", key))
        return next((sequences[form] for form in forms if form in sequences), None)
    found = _symbol_of(key)
    if not isinstance(found, Rest) or found.place:
        return None
    return next((s for s in sequences.values() if s.number == found.sequence.number and s == found.sequence), None)


def _read_axes(name: str, value: Any) -> tuple[int, ...]:
    """Return the sizes of the axes of a sequence; raise `BindingError` for values that are not sizes or not ordered."""
    try:
        found = None if isinstance(value, (str, bytes, Mapping, Set)) else tuple(value)
    except TypeError:
        found = None
    if found is None:
        raise BindingError(f"{name} is a sequence of axes, not one size", f"write {name}=(2, 3), or () for none")
    if len(found) > MAX_RANK:
        raise BindingError(f"{name} is given {len(found)} axes", f"no sequence has more than {MAX_RANK}")
    return tuple(read_size(f"{name}[{n}]", size) for n, size in enumerate(found))


def read_sizes(
    names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int], others: Sequence[str] = ()
) -> dict[str, int]:
    """Return sizes by name, given by a mapping (by name or symbol) and by keywords.

    Python normalizes keywords (NFKC), so a name is also found by its normal form. Raises `BindingError`; ``others`` are
    other names that the user of a wrong name may have meant.
    """
    if given is not None and not isinstance(given, Mapping):
        raise BindingError(f"{given!r:.80} is not a mapping of names to sizes", "write N=2, or {'N': 2}")
    wanted = dict.fromkeys(names.values())
    sizes: dict[str, int] = {}
    for key, value in (*(given or {}).items(), *named.items()):
        name = key if isinstance(key, str) else _name_of(key, names)
        if name not in wanted:
            name = next((n for n in wanted if normalize("NFKC", n) == name), name)
        if name not in wanted:
            raise unknown_name(name, [*wanted, *others])
        size = read_size(name, value)
        if sizes.setdefault(name, size) != size:
            raise given_twice(name, sizes[name], size)
    return sizes


def _name_of(key: Any, names: Mapping[Symbol, str]) -> str:
    """Return the name of a size given as a symbol, either sympy's or our own."""
    if isinstance(key, Unknown) and key not in names:
        called = {s.identity: name for s, name in names.items() if isinstance(s, Unknown)}
        return called.get(key.identity, key.name)
    if isinstance(key, Symbol):
        return names.get(key, key.name)
    found = _symbol_of(key)
    if isinstance(found, Unknown):
        return _name_of(found, names)
    return str(key) if found is None else names.get(found, str(key))


def _symbol_of(key: Any) -> Symbol | None:
    """Return our symbol for one of our own or sympy's symbols; None for anything else."""
    if isinstance(key, Symbol) or not hasattr(type(key), "free_symbols"):
        return key if isinstance(key, Symbol) else None
    from symbcast.core.algebra.door import from_sympy

    try:
        found = from_sympy(key)
    except DimensionError:
        return None
    return found if isinstance(found, Symbol) else None


def needed_of(names: Mapping[Symbol, str]) -> dict[str, object]:
    """Return example values for names: a size, or axes for a sequence."""
    plain = {name: 2 for s, name in names.items() if not isinstance(s, SequenceSymbol)}
    return {**plain, **{s.name: (2, 2) for s in sequences_of(names)}}


def check_all_given(needed: Iterable[str] | Mapping[str, object], given: Mapping[str, object], call: str) -> None:
    """Raise `BindingError` if a needed size is not given; ``call`` is the name of the method that takes it."""
    missing = [name for name in needed if name not in given]
    if missing:
        axes = {name for name, example in needed.items() if example != 2} if isinstance(needed, Mapping) else set()
        texts = {name: repr(size) for name, size in given.items()}
        texts |= {name: "(2, 2)" if name in axes else "..." for name in missing}
        by_keyword = all(name.isidentifier() and not iskeyword(name) for name in texts)
        pairs = [f"{name}={text}" if by_keyword else f"{name!r}: {text}" for name, text in texts.items()]
        example = ", ".join(pairs) if by_keyword else f"{{{', '.join(pairs)}}}"
        raise BindingError(f"no size was given for {', '.join(dict.fromkeys(missing))}", f"write {call}({example})")


def unknown_name(name: str, wanted: Sequence[str]) -> BindingError:
    """Return the error for a name that no size has; ``wanted`` are the valid names."""
    close = closest(name, wanted)
    hint = f"did you mean {close!r}?" if close else f"the sizes are {', '.join(wanted) or 'all given'}"
    return BindingError(f"no size here is named {name!r}", hint)


def given_twice(name: str, first: object, second: object) -> BindingError:
    """Return the error for a name that is given two sizes."""
    return BindingError(f"{name} is given twice, as {first} and {second}", "give it only once")


def read_size(name: str, value: object) -> int:
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
