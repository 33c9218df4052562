"""What callers give, read and checked: operands, origins, sizes, limits, and assumptions about sizes.

Assumptions are checked for mistyped names, and split into what the solver takes.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, cast
from unicodedata import normalize

from symbcast.core.algebra.arithmetic import MAX_SIZE, check_size, index_of
from symbcast.core.algebra.formulas import FORMULA_KINDS, Formula, with_values
from symbcast.core.algebra.symbols import MAX_RANK, AxisSequence, Rank, Rest, SequenceSymbol, Unknown, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.characters import closest, prose_list, quoted_name, visible
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, from_dim, shape
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.text import names_lost, parse_assumption, symbols_as_written
from symbcast.core.text.notation import formula_text
from symbcast.errors import AssumptionError, BindingError, DimensionError, MissingSizesError, ShapeTypeError

if TYPE_CHECKING:
    import sympy
    from sympy.logic.boolalg import Boolean

    from symbcast.core.solver.decision import AssumptionSet


# Operands, origins, given sizes and limits.


def shape_symbols(shape: Shape, written: object) -> tuple[Symbol, ...]:
    """Return the symbols of a shape, passed as ``written``, in order of appearance."""
    dims = shape.dims
    if isinstance(written, str):
        return symbols_as_written(dims, [written] * len(dims))
    if isinstance(written, (tuple, list)) and not isinstance(written, Shape):
        return symbols_as_written(dims, written)
    return symbols_of(dims)


# Conditions of more characters are long: people do not read them.
LONG_TEXT = 160


Dims: TypeAlias = tuple[Dim, ...]

_KEPT_AT_MOST = 8192
_texts: dict[str, Dims] = {}
# The entries of ``_texts`` from before it was last full; those still in use move back.
_older_texts: dict[str, Dims] = {}
# The names that sympy symbols represent; a user's own symbols are not plain.
_symbols: dict[Any, Symbol] = {}


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
        raise BindingError(f"{by_key!r:.80} is not a mapping of names to sizes", _by_name(by_key, list(names.values())))
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


def _by_name(sizes: object, names: Sequence[str]) -> str:
    """Return how to give sizes by name, where they are not a mapping: in the order of the names, if they fit."""
    listed = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
    if not names or len(listed) != len(names) or not all(type(size) is int for size in listed):
        first = names[0] if names else "N"
        return f"write {first}=2, or {{{first!r}: 2}}" if first.isidentifier() else f"write {{{first!r}: 2}}"
    pairs = dict(zip(names, listed, strict=True))
    by_keyword = all(name.isidentifier() and not iskeyword(name) for name in names)
    return f"write {', '.join(f'{name}={size}' for name, size in pairs.items()) if by_keyword else pairs}"


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
        raise MissingSizesError(list(dict.fromkeys(missing)), f"write {call}({example})")


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

    @property
    def apart(self) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
        """The sizes by name that differ from those that many findings share, and these; None if none are shared."""
        sizes = self._sizes
        return (sizes.maps[0], sizes.maps[1]) if isinstance(sizes, ChainMap) and len(sizes.maps) == 2 else None

    def beside(self, sizes: Mapping[str, int]) -> SizesBySymbol:
        """Return other sizes for the same names."""
        return SizesBySymbol(self._names, sizes)


# Assumptions about sizes.


class HasFormula(Protocol):
    """An object with a formula, such as a `symbcast.Condition`."""

    @property
    def formula(self) -> Formula:
        """What holds."""


AssumptionLike: TypeAlias = "str | Boolean | HasFormula"
"""What one assumption may be: text such as ``"N >= 2"``, a sympy Boolean, a condition, an assumption of an answer."""

Assumptions: TypeAlias = "AssumptionLike | Iterable[AssumptionLike] | None"


class Assumption:
    """One assumption: its formula, and its text, which is made from the formula if nobody wrote it.

    ``is_written`` means that a user wrote it as text, so that a name in it may be mistyped. ``source`` is the sympy
    Boolean that it was read from: a symbol in it is never a dummy, while a name in text may refer to one. ``lost`` are
    names in its text that the formula does not mention.
    """

    __slots__ = ("_text", "formula", "is_written", "lost", "source")

    def __init__(
        self,
        formula: Formula,
        text: str | None = None,
        is_written: bool = False,
        source: object = None,
        lost: tuple[Symbol, ...] = (),
    ) -> None:
        self.formula = formula
        self.source = source
        self.lost = lost
        self._text = text
        self.is_written = is_written

    @property
    def text(self) -> str:
        """The text as written; a sentence is in the notation of conditions."""
        if self._text is None:
            self._text = formula_text(self.formula)
        return self._text

    @property
    def written(self) -> str | None:
        """The text that a user wrote, None if there is none."""
        return self._text if self.is_written else None

    def __repr__(self) -> str:
        return f"<Assumption {visible(self.text)}>"


def read_assumptions(assume: Assumptions) -> list[Assumption]:
    """Return assumptions given as text or sympy Booleans, one or several.

    Raises `ShapeSyntaxError`, `ShapeTypeError` or `AssumptionError`.
    """
    if type(assume) is list:
        return list(map(_read_assumption, assume))
    if assume is None:
        return []
    if isinstance(assume, (bytes, Mapping)):
        sizes = assume.items() if isinstance(assume, Mapping) else ()
        texts = [f"{name} == {size}" for name, size in sizes if isinstance(name, str) and type(size) is int]
        hint = f"write {texts[0]!r}" if texts else "write text such as 'N >= 2', or a list of texts"
        raise ShapeTypeError(assume, "an assumption", hint)
    if isinstance(assume, str) or hasattr(type(assume), "free_symbols") or not isinstance(assume, Iterable):
        assume = [assume]
    items = list(assume)
    if len(items) == 2 and isinstance(items[0], str) and type(items[1]) is int:
        raise ShapeTypeError(assume, "an assumption", f"write '{items[0]} == {items[1]}'")
    return [_read_assumption(item) for item in items]


def _read_assumption(item: Any) -> Assumption:
    if isinstance(item, str):
        if "?" in item and re.search(r"\?(?!\w)", re.sub(r"'[^']*'|\"[^\"]*\"", "", item)):
            raise AssumptionError(
                f"{item.strip()!r} mentions an unknown size", hint="give it the same label in both places, such as ?a"
            )
        formula, text = parse_assumption(item)
        return Assumption(with_values(formula), text, is_written=True, lost=names_lost(item))
    if isinstance(item, Assumption):
        return item
    if isinstance(getattr(item, "formula", None), FORMULA_KINDS):  # a Condition
        return Assumption(item.formula, str(item))
    from symbcast.core.algebra.sympy_conversion import formula_from_sympy

    formula = formula_from_sympy(item)
    return Assumption(with_values(formula), formula_text(formula), source=item)


# Whether assumptions concern sizes that the shapes have: if not, there is a mistake, such as a mistyped name.


_DIGIT = re.compile(r"\d")


def check_links(assumptions: Iterable[Assumption], sizes: Iterable[Symbol], names: Mapping[Symbol, str]) -> None:
    """Raise `AssumptionError` for a written assumption that no chain of assumptions links to one of ``sizes``.

    ``N == 8*k`` is also about ``k``, so with it ``k >= 2`` is linked to a shape that has ``N``. An assumption that is
    not text, such as a `symbcast.Condition` or a sympy relation, may be about other sizes, which come from elsewhere.
    """
    own = dict.fromkeys(map(_subject, sizes))
    for assumption, strange in _unlinked(assumptions, own, names):
        if assumption.is_written:
            raise _unlinked_error(assumption.text, strange, [names.get(s, s.name) for s in own])


def mistyped_assumptions(
    assumptions: Iterable[Assumption], sizes: Iterable[Symbol], names: Mapping[Symbol, str]
) -> Iterator[tuple[str, str]]:
    """Yield the text of each assumption without a link to ``sizes``, with the size whose name is close to one in it.

    Names that differ in a digit are different on purpose.
    """
    own = dict.fromkeys(map(_subject, sizes))
    there = [name for name in (names.get(s, s.name) for s in own) if not _DIGIT.search(name)]
    for assumption, strange in _unlinked(assumptions, own, names):
        close = next(filter(None, (closest(name, there) for name in strange if not _DIGIT.search(name))), None)
        if close is not None:
            yield assumption.text, close


def _unlinked(
    assumptions: Iterable[Assumption], own: Iterable[Symbol], names: Mapping[Symbol, str]
) -> Iterator[tuple[Assumption, list[str]]]:
    """Yield each assumption without a link to ``own``, and the names in it."""
    mentioned = [(a, frozenset(map(_subject, symbols_in(a.formula)))) for a in assumptions]
    linked = linked_sizes(own, [symbols for _, symbols in mentioned])
    for assumption, symbols in mentioned:
        if symbols and linked.isdisjoint(symbols):
            yield assumption, [names.get(s, s.name) for s in symbols_in(assumption.formula)]


def _subject(s: Symbol) -> Symbol:
    """Return the symbol itself, or its sequence of axes if it belongs to one."""
    return s.sequence.rest() if isinstance(s, SequenceSymbol) else s


def linked_sizes(own: Iterable[Symbol], groups: Iterable[frozenset[Symbol]]) -> set[Symbol]:
    """Return the symbols linked to ``own`` through groups; each group links its members."""
    linked = set(own)
    waiting = list(groups)
    while True:
        joined = [group for group in waiting if not linked.isdisjoint(group)]
        if not joined:
            return linked
        waiting = [group for group in waiting if linked.isdisjoint(group)]
        linked.update(*joined)


_EVERY = ("all", "any", "every", "each", "dim", "dims", "size", "sizes")


def _unlinked_error(text: str, strange: Iterable[str], own: Collection[str]) -> AssumptionError:
    close = next(filter(None, (closest(name, own) for name in strange)), None)
    there = (
        f"their sizes are {prose_list([quoted_name(name) for name in own], limit=20)}"
        if own
        else "all sizes are numbers"
    )
    if not close and any(name.casefold() in _EVERY for name in strange):
        there = f"the minimum of all sizes is an argument of its own, min_size (--min-size for a command); {there}"
    hint = f"did you mean {quoted_name(close)}? {there[0].upper()}{there[1:]}" if close else there
    return AssumptionError(f"{text!r} mentions no size of these shapes", hint=hint)


@lru_cache(maxsize=4096)
def own_set(s: Symbol, min_size: int) -> SizeSet:
    """Return the set of values that a symbol's own assumptions allow."""
    if isinstance(s, SequenceSymbol):
        # An axis that does not exist has the size 1, whatever the minimum size of others.
        if isinstance(s, Rank):
            return SizeSet.interval(0, MAX_RANK)
        return SizeSet.interval(min_size, None) | SizeSet.of([1]) if min_size else ALL
    lower = max(min_size, s.lower)
    sizes = ALL if lower == 0 and s.upper is None else SizeSet.interval(lower, s.upper)
    return sizes if s.parity is None else sizes & SizeSet.residues(2, [s.parity])


def assumed_formulas(symbols: Iterable[Symbol], assumptions: Iterable[Assumption], min_size: int) -> list[Formula]:
    """Return all assumptions about some sizes: those implied for each size, and the explicit ones."""
    return [*(set_formula(s, own_set(s, min_size)) for s in symbols), *(a.formula for a in assumptions)]


def assumption_set(symbols: Iterable[Symbol], assumptions: Sequence[Assumption], min_size: int) -> AssumptionSet:
    """Return the assumptions about some sizes as a set.

    Raises `AssumptionError` if the assumptions allow no sizes, with the fewest that contradict each other.
    """
    from symbcast.core.solver.decision import AssumptionSet

    order = tuple(symbols)
    if not min_size and not assumptions and all(type(s) is Symbol for s in order):
        return AssumptionSet.of_names(order)
    known = _assumption_set(order, [a.formula for a in assumptions], min_size)
    if known is None:
        raise _contradiction(order, list(assumptions), min_size)
    return known


def _assumption_set(symbols: tuple[Symbol, ...], formulas: Iterable[Formula], min_size: int) -> AssumptionSet | None:
    """Return the assumptions about some symbols, None if they contradict each other."""
    from symbcast.core.solver.decision import AssumptionSet, ContradictionError

    try:
        return AssumptionSet(symbols, {s: own_set(s, min_size) for s in symbols}, formulas)
    except ContradictionError:
        return None


def _contradiction(symbols: tuple[Symbol, ...], needed: list[Assumption], min_size: int) -> AssumptionError:
    # One by one: what is left is irreducible, though a smaller clash may exist.
    for assumption in list(needed):
        fewer = [a for a in needed if a is not assumption]
        if _assumption_set(symbols, [a.formula for a in fewer], min_size) is None:
            needed = fewer
    mentioned = {s for a in needed for s in symbols_in(a.formula)}
    bounded = [s for s in symbols if s.lower or s.upper is not None or s.parity is not None]
    own = [_own_text(s) for s in bounded if s in mentioned or (not needed and not own_set(s, min_size))]
    needs_minimum = min_size > 0 and (
        not needed or _assumption_set(symbols, [a.formula for a in needed], 0) is not None
    )
    minimum = [f"min_size={min_size}"] if needs_minimum else []
    if not needed:
        return AssumptionError("the sizes leave nothing", [*own, *minimum])
    several = len(needed) + len(own) + len(minimum) > 1
    problem = "these assumptions contradict each other" if several else "this assumption is never true"
    return AssumptionError(problem, [*(a.text for a in needed), *own, *minimum])


def _own_text(s: Symbol) -> str:
    """Return a symbol's own bounds as text."""
    if isinstance(s, Unknown):
        return f"{s.name} in {s.lower}..{'' if s.upper is None else s.upper}"
    return formula_text(set_formula(s, own_set(s, 0)))
