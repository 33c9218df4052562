"""The least and greatest value of a size, or of an expression of sizes, under assumptions: `bounds`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from symbcast.answers.data import BoundData, BoundsData
from symbcast.answers.show.document import Document, Field, NamedSizes, Room, Span, Tone, field, fields, heading, words
from symbcast.answers.show.documented import Explained
from symbcast.core.account import Account
from symbcast.core.advice import Guessable, guessed_meanings, with_advice
from symbcast.core.algebra.arithmetic import check_min_size, replace_symbols
from symbcast.core.algebra.formulas import TRUE
from symbcast.core.algebra.symbols import SequenceSymbol, Unknown, symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.characters import parts_of_list, prose_list, sizes_text, visible
from symbcast.core.effort import check_budget, one_call, within_optional
from symbcast.core.programs import certificates, conditions
from symbcast.core.programs.arguments import Assumptions, read_assumptions, unknown_name_error
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.programs.conditions import Statement
from symbcast.core.programs.program import Program
from symbcast.core.shapes import from_dim
from symbcast.core.solver.extremes import Extreme
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text, parse_expression, symbols_as_written
from symbcast.errors import ShapeSyntaxError, ShapeTypeError, UnknownRankError

# The version of the data: incremented when a key changes meaning or is removed.
VERSION = 1
NO_ALIASES: Mapping[str, str] = {}


class Bound(NamedTuple):
    """One end of the values of an expression: its least value, or its greatest.

    Attributes:
        value: The least or greatest value; None if there is none, or if it is not known.
        at: The sizes at which ``value``, or else ``reached``, is reached: the smallest, unless effort or a budget did
            not suffice for that. None if none are known.
        proved: A number that the expression is proved never to pass; ``value`` if that is known.
        reached: The most extreme value that is known to be reached; ``value`` if that is known.
        grows_with: The sizes with which the expression goes beyond every number: then it is proved that there is no
            ``value``.
        reason: Why ``value`` is not known.
    """

    value: int | None
    at: dict[str, int] | None
    proved: int | None
    reached: int | None
    grows_with: tuple[str, ...]
    reason: str

    @property
    def is_decided(self) -> bool:
        """Whether the value is known, or proved not to exist."""
        return self.value is not None or bool(self.grows_with) or not self.reason


@dataclass(frozen=True)
class SizeBounds(Guessable, Explained):
    """The least and greatest value of an expression of sizes, under assumptions.

    It has no truth value: compare its ``least`` and ``greatest``.

    Attributes:
        size: The expression, as text.
        lower: Its lower end: the least value, and what is known if there is none.
        upper: Its upper end.
        is_empty: Whether no sizes are allowed at which the expression has a value.
        assumptions: The assumptions, as text.
    """

    size: str
    lower: Bound
    upper: Bound
    is_empty: bool = False
    assumptions: tuple[str, ...] = ()

    _meanings = guessed_meanings(
        "min minimum low inf infimum -> least",
        "max maximum high sup supremum -> greatest",
        "argmin argmax witness example -> least_at, or greatest_at",
        "exact is_proved proved -> is_exact",
        "range interval -> least and greatest",
    )

    @property
    def least(self) -> int | None:
        """The least value; None if there is none, or if it was not decided: ``lower`` says which."""
        return self.lower.value

    @property
    def greatest(self) -> int | None:
        """The greatest value; None if there is none, or if it was not decided: ``upper`` says which."""
        return self.upper.value

    @property
    def least_at(self) -> dict[str, int] | None:
        """The smallest sizes at which the least value is reached, or the least one known."""
        return self.lower.at

    @property
    def greatest_at(self) -> dict[str, int] | None:
        """The smallest sizes at which the greatest value is reached, or the greatest one known."""
        return self.upper.at

    @property
    def at_least(self) -> int | None:
        """A number that the expression is proved never to be below; None if there is none, or none is known."""
        return self.lower.proved

    @property
    def at_most(self) -> int | None:
        """A number that the expression is proved never to exceed; None if there is none, or none is known."""
        return self.upper.proved

    @property
    def is_exact(self) -> bool:
        """Whether both ends are decided: each value is known, or proved not to exist."""
        return self.lower.is_decided and self.upper.is_decided

    @property
    def reason(self) -> str:
        """Why an end is not known; empty if both are decided."""
        return "; ".join(dict.fromkeys(end.reason for end in (self.lower, self.upper) if end.reason))

    def to_dict(self) -> BoundsData:
        """Return the answer as plain data for JSON, as `json_schema` describes it."""
        return {
            "version": VERSION,
            "size": self.size,
            "assumptions": list(self.assumptions),
            "is_empty": self.is_empty,
            "least": _data(self.lower),
            "greatest": _data(self.upper),
        }

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        from symbcast.answers.exchange import question_schema

        return question_schema("bounds")

    @property
    def statement(self) -> str:
        """The values in a few words: ``from 63 to 255``, ``at least 0, without end``."""
        if self.is_empty:
            return "no sizes are allowed at which it has a value"
        (low, high), ends = (self.lower, self.upper), []
        if low.value is not None and high.value is not None:
            return f"always {low.value}" if low.value == high.value else f"from {low.value} to {high.value}"
        for end, limit, word in ((low, "at least", "least"), (high, "at most", "greatest")):
            ends += [f"without a {word} value"] if end.grows_with else []
            ends += [f"{limit} {end.proved}"] if end.proved is not None else []
        return ", ".join(ends) or "not decided"

    def __repr__(self) -> str:
        return f"<SizeBounds {self.size}: {self.statement}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("bounds have no truth value: compare their .least and .greatest")

    def __hash__(self) -> int:
        # The sizes at which an end is reached are in a dict, which has no hash.
        return hash((self.size, self.lower.proved, self.upper.proved, self.assumptions))

    def _document(self, *_room: Room) -> Document:
        ends = [] if self.is_empty else [_field("least", self.lower), _field("greatest", self.upper)]
        undecided = field("undecided", words(self.reason))
        shown = fields([*ends, undecided, field("assuming", words(prose_list(self.assumptions)))])
        tone = Tone.IMPOSSIBLE if self.is_empty else Tone.FINE if self.is_exact else Tone.UNDECIDED
        return Document(heading(self.size, self.statement), tone, (shown,))


def _data(end: Bound) -> BoundData:
    value, at, proved, reached, grows, reason = end
    return BoundData(value=value, at=at, proved=proved, reached=reached, grows_with=list(grows), reason=reason)


def _field(label: str, end: Bound) -> Field:
    if end.grows_with:
        way = "greater" if label == "greatest" else "less"
        return field(label, words(f"none: it becomes {way} than every number, with {prose_list(end.grows_with)}"))
    at = () if not end.at else (Span(" at "), Span(sizes_text(end.at), True, math=NamedSizes(end.at)))
    if end.value is not None:
        return field(label, (Span(str(end.value), True), *at))
    limit = "at most" if label == "greatest" else "at least"
    proved = () if end.proved is None else (Span(f"{limit} {end.proved}"),)
    return field(label, proved, () if end.reached is None else (Span(f"{end.reached} is reached"), *at))


@with_advice
@one_call
def bounds(size: object, assume: Assumptions = (), min_size: int = 0, budget: float | None = None) -> SizeBounds:
    """Return the least and greatest value of an expression of sizes, under assumptions.

    ``size`` is what a dimension of a shape can be: text, a sympy expression, a number; it may also be negative.
    ``assume``, ``min_size`` and ``budget`` are as in `symbcast.broadcast`. Sizes at which the expression has no value,
    such as a divisor of 0, do not count. A value that is not decided is None, with what is proved about it and the
    reason. Raises a `SymbcastError` for wrong input, `UnknownRankError` for sizes of a sequence of axes.

    >>> found = bounds("(320*n + 255) % 256", assume="n >= 1")
    >>> found.least, found.least_at, found.greatest, found.greatest_at
    (63, {'n': 1}, 255, {'n': 4})
    >>> print(bounds("N*M", assume=["N*M <= 1000", "N % 3 == 1", "M >= 2"]).explain())
    N*M: from 2 to 1000
    <BLANKLINE>
    least        2 at N=1, M=2
    greatest     1000 at N=25, M=40
    assuming     N*M <= 1000, N % 3 == 1 and M >= 2
    >>> bounds("N - M", assume="M <= 8")
    <SizeBounds N - M: at least -8, without a greatest value>
    """
    read = _expression(size)
    known, order = read_assumptions(assume), symbols_as_written((read,), (size,))
    with within_optional(check_budget(budget)):
        found, names = conditions.size_extremes(
            conditions.condition_about(Statement, TRUE, order), read, known, check_min_size(min_size)
        )
    least = [f"all sizes >= {min_size}"] if min_size else []
    return size_bounds(_text(size, read), found, names, (*(a.text for a in known), *least))


@one_call
def bounds_where_valid(
    answer: BroadcastCall | Program, account: Account, size: object, aliases: Mapping[str, str] = NO_ALIASES
) -> SizeBounds:
    """Return the bounds of an expression of an answer's sizes, where it is valid under its assumptions.

    ``account`` is that of the answer, and ``aliases`` are short names of its sizes. If sizes are open, only limits are
    proved. Raises `BindingError` for names that the answer does not have, and otherwise what `bounds` raises.
    """
    read, own = _expression(size), conditions.named_sizes(answer)
    read = replace_symbols(read, {symbol(alias): symbol(name) for alias, name in aliases.items()})
    named = {**{shown.name: s for s, shown in own.items()}, **{s.name: s for s in own}}
    for s in symbols_of((read,)):
        if s.name not in named:
            raise unknown_name_error(s.name, [s.name for s in own.values()])
    # A label, such as ?a, is read as a new size each time: here it is that of the answer.
    read = replace_symbols(read, {s: named[s.name] for s in symbols_of((read,)) if isinstance(s, Unknown)})
    where = conditions.condition_of_answer(Statement, account.needed, answer)
    found, shown = conditions.size_extremes(where, read, certificates.known_of(answer), 0, answer.min_size)
    result = size_bounds(_text(size, read), found, shown, (a.text for a in answer.assumptions))
    return opened(result, account.reason or "some sizes are open") if account.is_open else result


def opened(found: SizeBounds, reason: str) -> SizeBounds:
    """Return bounds of which only proved limits remain, because fewer sizes may be valid than is known."""
    if found.is_empty:
        return found
    lower, upper = (Bound(None, None, end.proved, None, (), reason) for end in (found.lower, found.upper))
    return replace(found, lower=lower, upper=upper)


def _text(size: object, read: Dim) -> str:
    """Return an expression as its author wrote it, or else as it was read."""
    return visible(size.strip()) if isinstance(size, str) else dim_text(read)


def _parsed(text: str) -> Dim:
    """Return the expression in a text; raise `ShapeTypeError` for a whole shape."""
    try:
        return parse_expression(text)
    except ShapeSyntaxError:
        sizes = parts_of_list(text)
        if len(sizes) > 1 and all(map(is_expression, sizes)):
            raise ShapeTypeError(text, "one size but a shape", f"write {sizes[0]}") from None
        raise


def is_expression(text: str) -> bool:
    """Return whether a text is one expression of sizes."""
    try:
        return parse_expression(text) is not None
    except ShapeSyntaxError:
        return False


def _expression(size: object) -> Dim:
    """Return an expression of sizes; raise `ShapeTypeError` for what names an unknown size anew."""
    # A number may be negative here, where a dimension may not.
    if type(size) is int:
        return size
    read = _parsed(size) if isinstance(size, str) else from_dim(size)
    for s in symbols_of((read,)):
        if isinstance(s, SequenceSymbol):
            raise UnknownRankError("bounds", s.name, "ask about single sizes")
        if isinstance(s, Unknown) and not s.is_spoken and not s.is_bounded:
            raise ShapeTypeError(size, "an expression of sizes", "write text such as 'N*M + 1', or a label such as ?a")
    return read


def size_bounds(
    text: str, found: tuple[Extreme, Extreme] | None, names: Mapping[Symbol, str], assumptions: Iterable[str]
) -> SizeBounds:
    """Return what the solver found in its public form."""

    def bound(end: Extreme) -> Bound:
        shown = {s: name for s, name in names.items() if not isinstance(s, SequenceSymbol)}
        at = None if end.point is None else {name: end.point[s] for s, name in shown.items() if s in end.point}
        return Bound(end.value, at, end.bound, end.reached, tuple(names[s] for s in end.grows), end.reason)

    least, greatest = map(bound, found or (Extreme(), Extreme()))
    return SizeBounds(text, least, greatest, found is None, tuple(assumptions))
