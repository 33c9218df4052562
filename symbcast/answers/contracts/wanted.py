"""The sizes that a caller wants: a range for each size, read from text, numbers and Python ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.characters import closest
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import narrow
from symbcast.errors import BindingError, ShapeTypeError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula

RangeLike: TypeAlias = "str | int | range | Iterable[int]"
"""``"64..1280"``, ``"64..1280 step 32"``, one size, a Python range, or some sizes."""

DEFAULT = range(1, 4097)
"""The range of a size for which the caller gives none."""
_TEXT = re.compile(r"\s*(\d+)\s*(?:\.\.\s*(\d+)\s*(?:step\s+(\d+)\s*)?)?", re.ASCII)
_ENDLESS = re.compile(r"\s*\d+\s*\.\.\s*(?:inf|oo|\*|\?|∞)?\s*", re.ASCII)
_HINT = 'write a range such as "64..1280" or "64..1280 step 32", a size such as 224, or a Python range'
_ANY = SizeSet.interval(0, None)
_MOST = 1 << 31
_WIDEST = 1 << 24
"""A set of sizes is a mask with a bit for each: 2 MB."""


def read_range(value: RangeLike) -> range:
    """Return the Python range of a caller's range; of several sizes, the range from the least to the greatest.

    Raises `ShapeTypeError` for what is no range of sizes.

    >>> read_range("64..1280 step 32"), read_range(8), read_range(range(9, 2, -2))
    (range(64, 1281, 32), range(8, 9), range(3, 10, 2))
    """
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if found is None and _ENDLESS.fullmatch(value):
            raise ShapeTypeError(value, "a range with an end", "give the greatest size that a request can have")
        if found is None:
            other = range_meant(value)
            raise ShapeTypeError(value, "a range of sizes", f'write "{other}"' if other else _HINT)
        low, high, step = (int(part) if part else None for part in found.groups())
        assert low is not None
        return _checked(range(low, (low if high is None else high) + 1, 1 if step is None else step or -1), value)
    if isinstance(value, bool):
        raise ShapeTypeError(value, "a range of sizes", _HINT)
    if isinstance(value, int):
        return _checked(range(value, value + 1), value)
    if isinstance(value, range):
        return _checked(value[::-1] if value.step < 0 else value, value)
    sizes = _sizes(value)
    return _checked(range(min(sizes), max(sizes) + 1) if sizes else range(0), value)


_OTHER = re.compile(
    r"\s*(?:range)?[(\[]?\s*([0-9]+)\s*(?:-|:|,|to|\.\.\.|…)\s*([0-9]+)\s*(?:(?:-|:|,|/|by|step)\s*([0-9]+)\s*)?[)\]]?\s*"
    r"|\s*([0-9]+)\s*\.\.\s*([0-9]+)\s*(?:,|:|/|\.\.|by)\s*([0-9]+)\s*"
)
"""A range as other tools write it."""


def range_meant(text: str) -> str:
    """Return a range in another notation as it is written here; empty for any other text.

    >>> range_meant("8-64"), range_meant("[64, 1280, 32]"), range_meant("all")
    ('8..64', '64..1280 step 32', '')
    """
    found = _OTHER.fullmatch(text)
    if found is None:
        return ""
    low, high, step = int(found[1] or found[4]), int(found[2] or found[5]), int(found[3] or found[6] or 0)
    low, high = (low, high) if low <= high else (high, low)
    return f"{low}..{high}{f' step {step}' if step else ''}"


def _sizes(value: object) -> list[int]:
    if not isinstance(value, Iterable):
        raise ShapeTypeError(value, "a range of sizes", _HINT)
    found = list(value)
    if any(isinstance(n, bool) or not isinstance(n, int) for n in found):
        raise ShapeTypeError(value, "a range of sizes", _HINT)
    return found


def _checked(sizes: range, value: object) -> range:
    if not sizes or sizes.step < 1 or sizes[0] < 0:
        raise ShapeTypeError(value, "a range of sizes from a smaller to a larger one, with a step of 1 or more", _HINT)
    if sizes[-1] > _MOST:
        raise ShapeTypeError(
            value, "a range of sizes up to 2147483648", "give the largest size that a request can have"
        )
    if sizes[-1] - sizes[0] >= _WIDEST:
        raise ShapeTypeError(value, f"a range over at most {_WIDEST} sizes", "give the range that requests have")
    return range(sizes[0], sizes[-1] + 1, sizes.step if len(sizes) > 1 else 1)


def range_text(sizes: range) -> str:
    """Return a range as text that reads back.

    >>> range_text(range(64, 1281, 32)), range_text(range(8, 9)), range_text(range(1, 17))
    ('64..1280 step 32', '8', '1..16')
    """
    if len(sizes) == 1:
        return str(sizes[0])
    step = f" step {sizes.step}" if sizes.step > 1 else ""
    return f"{sizes[0]}..{sizes[-1]}{step}"


def _default(symbol: Symbol, assumed: Iterable[Formula]) -> range:
    """Return the range of a size for which the caller gives none: from the least to the greatest that is assumed."""
    found = _within(SizeSet.interval(DEFAULT[0], DEFAULT[-1]), symbol, assumed)
    low, high = found.least(), found.greatest
    assert low is not None
    assert high is not None
    step = (found.least(low + 1) or low + 1) - low
    is_regular = found.same(SizeSet.interval(low, high) & SizeSet.residues(step, [low]))
    return range(low, high + 1, step if is_regular and step > 1 else 1)


def _within(sizes: SizeSet, symbol: Symbol, assumed: Iterable[Formula]) -> SizeSet:
    """Return those of some sizes that the clauses about one symbol alone allow."""
    for clause in assumed:
        if list(symbols_in(clause)) == [symbol]:
            sizes = narrow(sizes, clause) or sizes
    return sizes


class Wanted:
    """The wanted sizes of a question.

    Attributes:
        ranges: The range of each size, in the order of the question.
        typical: The typical sizes of some of them; they need not be inside the range of what is found.
        given: The sizes for which the caller gave a range; the others have `DEFAULT`.
    """

    def __init__(self, ranges: Mapping[Symbol, range], typical: Mapping[Symbol, tuple[int, ...]]) -> None:
        self.given = frozenset(ranges)
        self.ranges: dict[Symbol, range] = dict(ranges)
        self.typical = {s: tuple(n for n in sizes if n in self.ranges[s]) for s, sizes in typical.items()}

    @classmethod
    def read(
        cls,
        names: Mapping[Symbol, str],
        ranges: Mapping[str, RangeLike],
        typical: Mapping[str, object],
        assumed: Iterable[Formula] = (),
    ) -> Wanted:
        """Return the wanted sizes by what the caller wrote; raise `BindingError` for an unknown name.

        Several sizes given as a list are typical sizes. A size without a range has `DEFAULT`, or what of it the clauses
        in ``assumed`` allow; a range other than the one size that they allow raises `BindingError`.
        """
        sequence = next((s for s in names if isinstance(s, SequenceSymbol)), None)
        if sequence is not None:
            raise UnknownRankError("a contract", names[sequence], "give the shape a known rank")
        symbols = {name: s for s, name in names.items()}
        if len(symbols) < len(names):
            raise BindingError("two sizes have the same name; rename one of them")
        for name in (*ranges, *typical):
            if name not in symbols:
                close = closest(name, symbols)
                hint = f"did you mean {close}? " if close else ""
                there = f"the sizes are {', '.join(symbols) or 'all fixed'}"
                raise BindingError(
                    f"there is no size {name}", f"{hint}{there[0].upper()}{there[1:]}" if hint else there
                )
        made = cls({symbols[name]: read_range(value) for name, value in ranges.items()}, {})
        known = list(assumed)
        for s in made.given:
            bound, asked = _within(_ANY, s, known).only, made.ranges[s]
            if bound is not None and list(asked[:2]) != [bound]:
                problem = f"{names[s]} is bound to {bound} and has the range {range_text(asked)}"
                raise BindingError(problem, "drop one of the two")
        made.ranges = {s: made.ranges[s] if s in made.given else _default(s, known) for s in names}
        listed = {name: v for name, v in ranges.items() if not isinstance(v, str | int | range)}
        for name, value in {**listed, **typical}.items():
            sizes = [value] if isinstance(value, int) and not isinstance(value, bool) else _sizes(value)
            s = symbols[name]
            outside = next((n for n in sizes if n not in made.ranges[s] and name not in listed), None)
            if outside is not None:
                told = f"a typical size of {name}, which is sought in {range_text(made.ranges[s])}"
                raise ShapeTypeError(outside, told, "widen the range, or leave the size out")
            made.typical[s] = tuple(sorted({n for n in sizes if n in made.ranges[s]}))
        return made
