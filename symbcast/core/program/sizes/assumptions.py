"""Assumptions about sizes, read from text and sympy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from symbcast.core.characters import number_hint, visible
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import FORMULA_KINDS, Formula
from symbcast.core.text import names_lost, parse_assumption
from symbcast.core.text.printing import formula_text
from symbcast.errors import AssumptionError, DimensionError, ShapeTypeError

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean

    from symbcast.core.algebra.symbols import Symbol


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

    ``is_written`` means that a user wrote it as text, so that a name in it may be mistyped. ``given`` is the sympy
    Boolean that it was read from: a symbol in it is never a dummy, while a name in text may refer to one. ``lost`` are
    names in its text that the formula does not mention.
    """

    __slots__ = ("_text", "formula", "given", "is_written", "lost")

    def __init__(
        self,
        formula: Formula,
        text: str | None = None,
        is_written: bool = False,
        given: object = None,
        lost: tuple[Symbol, ...] = (),
    ) -> None:
        self.formula = formula
        self.given = given
        self.lost = lost
        self._text = text
        self.is_written = is_written

    @property
    def text(self) -> str:
        """The text as written; a sentence is in the notation of conditions."""
        if self._text is None:
            self._text = formula_text(self.formula)
        return self._text

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
    found = list(assume)
    if len(found) == 2 and isinstance(found[0], str) and type(found[1]) is int:
        raise ShapeTypeError(assume, "an assumption", f"write '{found[0]} == {found[1]}'")
    return [_read_assumption(item) for item in found]


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
    from symbcast.core.logic.booleans import from_sympy

    formula = from_sympy(item)
    return Assumption(with_values(formula), formula_text(formula), given=item)


def check_min_size(value: object) -> int:
    """Return ``min_size`` if it is a size."""
    from symbcast.core.algebra.sizes import check_size

    if isinstance(value, bool) or not isinstance(value, int):
        hint = number_hint("min_size", value, "write min_size=0 or min_size=1")
        raise ShapeTypeError(value, "a least size", hint)
    if value < 0:
        raise DimensionError(value, "a size is not negative", "write 0 or more")
    return check_size(value)
