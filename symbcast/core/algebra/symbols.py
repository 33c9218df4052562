"""Symbols, of which terms consist: named and unknown sizes, and sequences of axes; and the text of terms.

Sequences of axes: an unknown number of axes, each with its own size.

A sequence is a family of sizes, counted from its end: ``batch[-1]`` is the size of its last axis, ``batch[-2]`` that of
the one before, and a size is 1 where the sequence has no such axis, as in broadcasting. ``*batch`` stands for all
its axes and ``*batch[:-2]`` for all but the last two; ``rank(batch)`` is their number. All of these are symbols,
so terms and formulas contain them just as they contain sizes: a formula with ``*batch[:-2]`` and ``*rest`` is about the
last axes of both, about the axes before them, and so on, as far as axes exist.

Terms are written as text that the grammar reads back.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any, ClassVar, Self

from symbcast.core.algebra import terms
from symbcast.core.algebra.arithmetic import add, maximum, replace_symbols
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Symbol, Term, made_symbol
from symbcast.core.characters import quoted_name
from symbcast.core.structs import NamedTuple

__all__ = [
    "LABEL",
    "Dummy",
    "Symbol",
    "Unknown",
    "UserSymbol",
    "distinct_labels",
    "free_labels",
    "made_symbol",
    "next_number",
    "symbol",
]

# Ascending, so that unknowns are ordered by age on every run. The start is random, so that an unknown that was
# pickled in another process differs from all unknowns created here.
_numbers = itertools.count(int.from_bytes(os.urandom(8), "big") << 32)


def next_number() -> int:
    """Return a number that no unknown has so far."""
    return next(_numbers)


class UserSymbol(Symbol):
    """A user's sympy symbol with assumptions other than ours: kept, and shown unchanged.

    `symbcast.core.algebra.sympy_conversion` makes them, and defines how they are pickled.
    """


class Dummy(UserSymbol):
    """A user's sympy dummy: a different size from all others with its name."""

    is_Dummy: ClassVar[bool] = True  # noqa: N815


# What an unknown is called: ``?0``, ``?a``.
LABEL = re.compile(r"\?\w+")


class Unknown(Symbol):
    """A size without a name (``?``, ``2..5``): the number identifies it, the name is the label shown for it (``?0``).

    Two unknowns with one label are still two sizes, and an unknown that another question labels differently is the same
    size: see `symbcast.core.programs.scope`. ``is_spoken`` means that it exists only as a label in a text,
    and that no caller holds it yet.
    """

    is_Dummy: ClassVar[bool] = True  # noqa: N815
    is_spoken: bool = False

    def __new__(cls, label: str = "?", lower: int = 0, upper: int | None = None, number: int | None = None) -> Unknown:
        """Return a new unknown, or the one with a number."""
        number = next_number() if number is None else number
        # The key includes label and bounds: data written elsewhere may use the number for another unknown.
        return terms.interned(
            (Unknown, number, label, lower, upper), lambda: made_symbol(Unknown, label, number, lower, upper)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Unknown, (self.name, self.lower, self.upper, self.number)

    def renamed(self, label: str) -> Unknown:
        """Return the same unknown with another label."""
        return Unknown(label, self.lower, self.upper, self.number)

    @property
    def is_bounded(self) -> bool:
        """Whether its bounds exclude some sizes."""
        return self.lower > 0 or self.upper is not None

    @property
    def identity(self) -> tuple[int, int, int | None]:
        """The properties that identify the unknown, whatever its label."""
        return self.number, self.lower, self.upper


def free_labels(taken: Container[str], start: int = 0) -> Iterator[str]:
    """Yield the labels that are not taken, from the lowest number on.

    >>> next(free_labels({"?0", "?a"}))
    '?1'
    """
    return (label for n in itertools.count(start) if (label := f"?{n}") not in taken)


def distinct_labels(unknowns: Iterable[Unknown]) -> dict[Unknown, Unknown]:
    """Return replacements for the unknowns that need another label when they are shown together, in order.

    An unknown has one label, and no two share one: the first unknown to occur keeps its label.

    >>> a, b = Unknown("?0"), Unknown("?0")
    >>> distinct_labels([a, b]), distinct_labels([a, a.renamed("?7")])
    ({'?0': '?1'}, {'?7': '?0'})
    """
    distinct = dict.fromkeys(unknowns)
    labelled: dict[tuple[int, int, int | None], Unknown] = {}
    taken: dict[str, Unknown] = {}
    for u in distinct:
        if u.identity not in labelled and LABEL.fullmatch(u.name) and taken.setdefault(u.name, u) is u:
            labelled[u.identity] = u
    free = free_labels(taken)
    for u in distinct:
        if u.identity not in labelled:
            labelled[u.identity] = u.renamed(next(free))
    return {u: labelled[u.identity] for u in distinct if labelled[u.identity] is not u}


def symbol(name: str) -> Symbol:
    """Return the size called ``name``: one object for each name.

    >>> symbol("N") is symbol("N"), symbol("N") + 1
    (True, N + 1)
    """
    return Symbol(name)


# The greatest number of axes that a sequence has, far beyond that of any tensor.
MAX_RANK = 1000


class AxisSequence(NamedTuple):
    """A sequence of axes: its name or label, and a number that distinguishes unnamed sequences, 0 if it has a name."""

    name: str
    number: int = 0

    @staticmethod
    def anonymous(label: str = "...0") -> AxisSequence:
        """Return a new sequence without a name."""
        return AxisSequence(label, next_number())

    @property
    def is_anonymous(self) -> bool:
        """Whether it has a label instead of a name."""
        return self.name.startswith("...")

    @property
    def text(self) -> str:
        """The name as written in text."""
        return self.name if self.is_anonymous else quoted_name(self.name)

    @property
    def rank(self) -> Rank:
        """The number of axes."""
        return Rank(self)

    def axis(self, place: int) -> AxisSize:
        """Return the size of an axis, counted from the end: 1 is the last."""
        return AxisSize(self, place)

    def rest(self, place: int = 0) -> Rest:
        """Return all axes but the last ``place`` ones."""
        return Rest(self, place)


class SequenceSymbol(Symbol):
    """A symbol about a sequence of axes; ``place`` says which axes it describes."""

    sequence: AxisSequence
    place: int

    def __new__(cls, sequence: AxisSequence, place: int = 0) -> Self:
        """Return the symbol of this kind for a sequence and a place."""
        symbol = terms.interned((cls, sequence, place), _new_sequence_symbol, cls, sequence, place)
        assert isinstance(symbol, cls)
        return symbol

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.sequence, self.place)

    @property
    def atom_key(self) -> tuple[Any, ...]:
        return (*super().atom_key, type(self).__name__)  # a size may have the same name

    @staticmethod
    def written_as(text: str, place: int) -> str:
        """Return the symbol as text, given the sequence's name."""
        raise NotImplementedError

    def of(self, sequence: AxisSequence) -> SequenceSymbol:
        """Return the same symbol for another sequence."""
        return type(self)(sequence, self.place)


class AxisSize(SequenceSymbol):
    """The size of one axis: ``place`` counts from the end, 1 for the last one. It is 1 if there is no such axis."""

    @staticmethod
    def written_as(text: str, place: int) -> str:
        return f"{text}[-{place}]"


class Rest(SequenceSymbol):
    """Each axis before the last ``place`` ones; all axes if that is 0."""

    @staticmethod
    def written_as(text: str, place: int) -> str:
        star = "" if text.startswith("...") else "*"
        return f"{star}{text}[:-{place}]" if place else f"{star}{text}"


class Rank(SequenceSymbol):
    """The number of axes."""

    @staticmethod
    def written_as(text: str, place: int) -> str:
        return f"rank({text})"


def _new_sequence_symbol(kind: type[SequenceSymbol], sequence: AxisSequence, place: int) -> Symbol:
    symbol = made_symbol(kind, kind.written_as(sequence.text, place), sequence.number)
    assert isinstance(symbol, SequenceSymbol)
    symbol.sequence, symbol.place = sequence, place
    return symbol


def is_sequence(dim: Dim) -> bool:
    """Return whether a dimension of a shape is a sequence of axes: the rest of one, or a join of rests."""
    if isinstance(dim, Rest):
        return True
    return isinstance(dim, Operation) and dim.kind == "join" and all(is_sequence(arg) for arg in dim.args)


def mentions_rest(dim: Dim) -> bool:
    """Return whether a term mentions the rest of a sequence, which stands for each of its axes."""
    if isinstance(dim, int) or dim.is_Symbol:
        return isinstance(dim, Rest)
    return any(isinstance(s, Rest) for s in dim.symbols())


def axis_of(dim: Dim, place: int) -> Dim:
    """Return the size of an axis of a sequence, counted from its end: 1 is the last.

    >>> axis_of(AxisSequence("batch").rest(1), 2)
    batch[-3]
    """
    return replace_symbols(dim, {s: s.sequence.axis(s.place + place) for s in _rests(dim)})


def without_last(dim: Dim, count: int) -> Dim:
    """Return a sequence without its last ``count`` axes.

    >>> without_last(AxisSequence("batch").rest(1), 2)
    *batch[:-3]
    """
    return replace_symbols(dim, {s: s.sequence.rest(s.place + count) for s in _rests(dim)}) if count else dim


def merge_into_sequence(dims: Sequence[Dim], most: int) -> tuple[Dim, ...]:
    """Return a shape with up to ``most`` axes merged back into the sequence in front of them, if they belong to it.

    >>> batch = AxisSequence("batch")
    >>> merge_into_sequence((batch.rest(2), batch.axis(2), batch.axis(1), 3), 2)
    (*batch, 3)
    """
    first, *others = dims or (1,)
    while most > 0 and isinstance(first, Rest) and others and others[0] == first.sequence.axis(first.place):
        first, others, most = first.sequence.rest(first.place - 1), others[1:], most - 1
    return (first, *others) if dims else ()


def rank_of(dim: Dim) -> Dim:
    """Return the number of axes of a sequence.

    >>> rank_of(AxisSequence("batch").rest()), rank_of(AxisSequence("batch").rest(2))
    (rank(batch), max(rank(batch) - 2, 0))
    """
    ranks = [s.sequence.rank if not s.place else maximum((add(s.sequence.rank, -s.place), 0)) for s in _rests(dim)]
    return ranks[0] if len(ranks) == 1 else maximum(ranks)


def sequences_of(symbols: Iterable[Symbol]) -> tuple[AxisSequence, ...]:
    """Return the sequences that some symbols belong to, in order."""
    return tuple(dict.fromkeys(s.sequence for s in symbols if isinstance(s, SequenceSymbol)))


def sizes_and_sequences_of(symbols: Iterable[Symbol]) -> tuple[Symbol | AxisSequence, ...]:
    """Return the sizes and the sequences that some symbols belong to, each once, in order."""
    return tuple(dict.fromkeys(s.sequence if isinstance(s, SequenceSymbol) else s for s in symbols))


def without_clashes(symbols: Iterable[Symbol], others: Iterable[Symbol] = ()) -> dict[Symbol, Symbol]:
    """Return substitutes for symbols of unnamed sequences that would clash with each other or with ``others``.

    A label in text refers to the sequence with that label there; if two sequences have the same label, the later one
    gets a new one.
    """
    own, there = list(symbols), sequences_of(others)
    labelled = {s.name: s for s in there if s.is_anonymous}
    taken = {s.name for s in (*there, *sequences_of(own))}
    placed: dict[AxisSequence, AxisSequence] = {}
    # Sequences that text only labels come last: they take the place of one that has the label already.
    for sequence in sorted(sequences_of(own), key=lambda s: not s.number):
        other = labelled.setdefault(sequence.name, sequence) if sequence.is_anonymous else sequence
        if other != sequence and not sequence.number:
            placed[sequence] = other
        elif other != sequence and other.number:
            label = next(name for n in count() if (name := f"...{n}") not in taken)
            taken.add(label)
            placed[sequence] = AxisSequence(label, sequence.number)
    return {s: s.of(placed[s.sequence]) for s in own if isinstance(s, SequenceSymbol) and s.sequence in placed}


def _rests(dim: Dim) -> list[Rest]:
    return [s for s in terms.symbols_of((dim,)) if isinstance(s, Rest)]


# Terms as text that reads back.


# How tightly a written term binds.
SUM, PRODUCT, UNARY, POWER, ATOM = range(5)

_MAX_EXPONENT = 16
# What stands for an unknown size in shapes of other libraries: Dask's is not a number.
UNKNOWN_WORDS = frozenset({"None", "nan"})
NO_NAMES = UNKNOWN_WORDS | {"True", "False", "and", "or", "not"}
# Compiled for the first name that is not an ASCII identifier: this takes longer than most questions.
_PLAIN_NAME = r"(?!.*[⁰¹²³⁴-⁹])[^\W\d]\w*(\.\w+)*"


def name_text(name: str) -> str:
    """Return a name as written in text: quoted unless it is a plain identifier."""
    is_plain = (name.isascii() and name.isidentifier()) or re.fullmatch(_PLAIN_NAME, name)
    return name if is_plain and name not in NO_NAMES else repr(name)


def term_text(value: Term) -> str:
    """Return a term as text, every symbol by its name.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> term_text(2 * symbol("N") - 1)
    '2*N - 1'
    """
    return TermWriter({}).dim(value)


class TermWriter:
    """Writes terms, with brackets where the context binds tighter than the term does.

    ``labels`` says how some symbols are written; others are written by their names. ``order`` gives the position of
    symbols in a sum; symbols with the same position are sorted by name.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> T, P = symbol("T"), symbol("P")
    >>> TermWriter({}).dim(T + P), TermWriter({}, {T: 0, P: 1}).dim(T + P)
    ('P + T', 'T + P')
    """

    def __init__(self, labels: Mapping[Any, str], order: Mapping[Any, int] | None = None) -> None:
        self._labels = labels
        self._order = order or {}
        # Cached, as terms share their parts: otherwise the work doubles at every level.
        self._written: dict[Term, tuple[str, int]] = {}

    def dim(self, dim: Dim) -> str:
        """Return a dimension as text."""
        return str(dim) if isinstance(dim, int) else self.write(dim, SUM)

    def write(self, value: Term, place: int) -> str:
        """Return a term as text for a context of the given binding strength."""
        text, binding = self._kept(value)
        return f"({text})" if binding < place else text

    def _kept(self, value: Term) -> tuple[str, int]:
        text = self._written.get(value)
        if text is None:
            text = self._written[value] = self._atom(value) if isinstance(value, Atom) else self._sum(value)
        return text

    def products(self, value: Term) -> list[tuple[bool, Monomial, int]]:
        """Return the products of a sum in order: whether each is subtracted, its atoms, and its number without sign."""
        texts = [
            ((c < 0, not m, -len(m), self._place(m), self.product(m, abs(c))[0]), (c < 0, m, abs(c)))
            for m, c in value.coefficients.items()
        ]
        return [product for _, product in sorted(texts, key=lambda t: t[0])]

    def _place(self, monomial: Monomial) -> list[int]:
        """Return the sort key of a product among those of the same degree, based on its first symbols."""
        last = len(self._order)
        return sorted(self._order.get(s, last) for atom in monomial for s in atom.symbols()) if last else []

    def product(self, monomial: Monomial, number: int) -> tuple[str, int]:
        """Return a number times atoms as text, and how tightly it binds."""
        if not monomial:
            return str(number), ATOM if number >= 0 else UNARY
        if number == 1 and len(monomial) == 1:
            return self._kept(monomial[0])
        factors = [self._power(atom, len(list(same))) for atom, same in groupby(monomial)]
        texts = [text for _, text in sorted((isinstance(a, Operation), text) for a, text in factors)]
        text = "*".join(texts)
        if number == 1:
            return text, POWER if len(factors) == 1 and len(monomial) <= _MAX_EXPONENT else PRODUCT
        if number == -1:
            return f"-{text}", PRODUCT if len(texts) > 1 else UNARY
        return f"{number}*{text}", PRODUCT

    def _sum(self, value: Term) -> tuple[str, int]:
        if not value.coefficients:
            return "0", ATOM
        (first_minus, monomial, number), *rest = self.products(value)
        first = self.product(monomial, -number if first_minus else number)
        if not rest:
            return first
        tail = "".join(f" {'-' if minus else '+'} {self.product(m, c)[0]}" for minus, m, c in rest)
        return f"{first[0]}{tail}", SUM

    def _power(self, atom: Atom, exponent: int) -> tuple[Atom, str]:
        if exponent == 1:
            return atom, self.write(atom, POWER)
        # Exponents larger than the grammar allows are written as products.
        text = self.write(atom, ATOM)
        whole, rest = divmod(exponent, _MAX_EXPONENT)
        powers = [f"{text}**{_MAX_EXPONENT}"] * whole
        if rest:
            powers.append(f"{text}**{rest}" if rest > 1 else text)
        return atom, "*".join(powers)

    def _atom(self, atom: Atom) -> tuple[str, int]:
        if isinstance(atom, SequenceSymbol):
            return atom.name, ATOM
        if not isinstance(atom, Operation):
            return self._labels.get(atom) or name_text(getattr(atom, "name", "")), ATOM
        if atom.kind in ("//", "%"):
            operator = "//" if atom.kind == "//" else " % "
            dividend, divisor = atom.args
            if atom.kind == "%" and divisor is terms.constant(1):
                return f"0*{self.write(dividend, POWER)}", PRODUCT  # a mention, which reads back as one
            # `M*N//2` is read from the left; a division within a dividend needs brackets to be parsed at all.
            nested = isinstance(dividend, Operation) and dividend.kind in ("//", "%")
            return f"{self.write(dividend, ATOM if nested else PRODUCT)}{operator}{self.write(divisor, POWER)}", PRODUCT
        texts = sorted((a.is_constant, not a.is_Symbol and not a.is_constant, self.write(a, SUM)) for a in atom.args)
        return f"{_CALLED.get(atom.kind, atom.kind)}({', '.join(t[-1] for t in texts)})", ATOM


_CALLED: Mapping[str, str] = {"join": "broadcast"}

Term.written_by = staticmethod(term_text)
