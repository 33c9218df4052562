"""Readers for the attributes and arguments of operators: they validate and normalise values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from symbcast.core.algebra.arithmetic import index_of
from symbcast.core.shapes import Shape
from symbcast.errors import OperatorError

MAX_ATTRIBUTE = 2**63 - 1


def whole(operator: str, name: str, value: Any) -> int:
    """Return an integer, which may be NumPy's; refuse a bool."""
    # True is an integer to Python, but nobody means axis 1 by it.
    number = None if isinstance(value, bool) else index_of(value)
    if number is None or abs(number) > MAX_ATTRIBUTE:
        intended = _meant(value)
        hint = f"write {name}={intended}" if intended is not None else f"write {name}=1, for example"
        raise OperatorError(operator, f"{name}={_brief(value)} is not an integer", hint)
    return number


def wholes(operator: str, name: str, value: Any) -> tuple[int, ...]:
    """Return several integers."""
    numbers = items(operator, name, value)
    _check_items(operator, name, numbers)
    return tuple(whole(operator, name, item) for item in numbers)


Others: TypeAlias = Literal["..."]
"""Represents, in an order, all axes that it does not name, in their original order."""


def order(operator: str, name: str, value: Any) -> tuple[int | Others, ...] | None:
    """Return an order of axes, or None to reverse them; it may contain one ellipsis."""
    if value is None:
        return None
    entries = tuple(value) if _is_sequence(value) else (value,)
    _check_items(operator, name, entries if _is_sequence(value) else ())
    axes_in_order: list[int | Others] = ["..." if a is ... or a == "..." else whole(operator, name, a) for a in entries]
    if axes_in_order.count("...") > 1:
        raise OperatorError(operator, f"{name}={_brief(value)} has more than one ellipsis")
    return tuple(axes_in_order)


def axes(operator: str, name: str, value: Any) -> tuple[int, ...]:
    """Return one or more axes."""
    return wholes(operator, name, value) if _is_sequence(value) else (whole(operator, name, value),)


def axes_or_all(operator: str, name: str, value: Any) -> tuple[int, ...] | None:
    """Return one or more axes, or None for all of them."""
    return None if value is None else axes(operator, name, value)


def truth(operator: str, name: str, value: Any) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool):
        raise OperatorError(operator, f"{name}={_brief(value)} is not True or False")
    return value


def text(operator: str, name: str, value: Any) -> str:
    """Return text."""
    if not isinstance(value, str):
        hint = "write several numbers as one tuple" if type(value) is int else ""
        raise OperatorError(operator, f"{name}={_brief(value)} is not text", hint)
    return value


def texts(operator: str, name: str, value: Any) -> tuple[str, ...]:
    """Return several texts."""
    return tuple(text(operator, name, item) for item in items(operator, name, value))


def ratios(operator: str, name: str, value: Any) -> tuple[tuple[int, int], ...] | None:
    """Return positive fractions, each as two integers; a float stands for its decimal text. None stays None."""
    return None if value is None else tuple(_ratio(operator, name, item) for item in items(operator, name, value))


def _ratio(operator: str, name: str, value: Any) -> tuple[int, int]:
    from fractions import Fraction

    try:
        fraction = (
            # `Fraction(0.1)` is 3602879701896397/36028797018963968.
            Fraction(*value) if _is_sequence(value) else Fraction(repr(value) if isinstance(value, float) else value)
        )
    except (TypeError, ValueError, ZeroDivisionError):
        raise OperatorError(operator, f"{name}={_brief(value)} is not a number", f"write {name}=(2, 0.5)") from None
    if fraction <= 0:
        raise OperatorError(operator, f"{name}={_brief(value)} must be above 0")
    return fraction.numerator, fraction.denominator


def positive(operator: str, name: str, value: Any) -> int:
    """Return an integer of at least 1."""
    number = whole(operator, name, value)
    if number < 1:
        raise OperatorError(operator, f"{name}={number} must be at least 1")
    return number


def positives(operator: str, name: str, value: Any) -> int | tuple[int, ...]:
    """Return an integer of at least 1 for all axes, or one for each axis."""
    if not _is_sequence(value):
        return positive(operator, name, value)
    return tuple(positive(operator, name, item) for item in value)


def natural(operator: str, name: str, value: Any) -> int:
    """Return an integer of at least 0."""
    number = whole(operator, name, value)
    if number < 0:
        raise OperatorError(operator, f"{name}={number} must not be below 0")
    return number


def naturals(operator: str, name: str, value: Any) -> int | tuple[int, ...]:
    """Return an integer of at least 0 for all axes, or one for each axis."""
    numbers = wholes(operator, name, value) if _is_sequence(value) else (whole(operator, name, value),)
    if min(numbers, default=0) < 0:
        raise OperatorError(operator, f"{name}={_brief(value)} must not be below 0")
    return numbers if _is_sequence(value) else numbers[0]


def ends(operator: str, name: str, value: Any) -> int | tuple[int | tuple[int, int], ...]:
    """Return the padding at both ends of all axes, or of each axis: one number, or one before and one after it."""
    if not _is_sequence(value):
        if value in ("reflect", "edge", "wrap", "constant"):
            raise OperatorError(
                operator, f"{name}={value!r} is no number of elements", f"write {name}=1, mode={value!r}"
            )
        return whole(operator, name, value)
    return tuple(_pair(operator, name, item) if _is_sequence(item) else whole(operator, name, item) for item in value)


def natural_ends(operator: str, name: str, value: Any) -> Any:
    """Return nonnegative padding like `ends`, or one of the words ``"same"`` and ``"valid"``."""
    if isinstance(value, str):
        if value not in ("same", "valid"):
            raise OperatorError(operator, f"{name}={value!r} is not known", f"write {name}='same' or {name}='valid'")
        return value
    widths = ends(operator, name, value)
    flat = [widths] if isinstance(widths, int) else [n for e in widths for n in (e if isinstance(e, tuple) else (e,))]
    if min(flat, default=0) < 0:
        raise OperatorError(operator, f"{name}={_brief(value)} must not be below 0")
    return widths


def places(operator: str, name: str, value: Any) -> tuple[int | str | None, ...]:
    """Return slice positions: an integer, None for the end, or ``"#n"`` for the n-th size of the last operand."""
    positions = []
    for item in items(operator, name, value):
        is_reference = isinstance(item, str) and item[:1] == "#" and item[1:].isdecimal()
        positions.append(item if item is None or is_reference else whole(operator, name, item))
    return tuple(positions)


def items(operator: str, name: str, value: Any) -> tuple[Any, ...]:
    """Return the items of a sequence."""
    if not _is_sequence(value):
        raise OperatorError(
            operator, f"{name}={_brief(value)} is not a sequence", f"write one for each axis: {name}=({_brief(value)},)"
        )
    return tuple(value)


def _pair(operator: str, name: str, value: Any) -> tuple[int, int]:
    numbers = wholes(operator, name, value)
    if len(numbers) != 2:
        raise OperatorError(operator, f"{name}={_brief(value)} must be two numbers: padding before and after the axis")
    return numbers[0], numbers[1]


def _check_items(operator: str, name: str, entries: tuple[Any, ...]) -> None:
    """Raise `OperatorError` for a sequence of numbers that are not all integers, with the integers to write."""
    if all(type(item) is int or index_of(item) is not None for item in entries):
        return
    intended = [item if type(item) is int else _meant(item) for item in entries]
    if entries and None not in intended:
        problem = f"{name}={_brief(entries)} has numbers that are not integers"
        raise OperatorError(operator, problem, f"write {name}={_brief(tuple(intended))}")


def _meant(value: Any) -> int | tuple[int, ...] | None:
    """Return the integer that a float or a text stands for, or the integers of a text with several."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    words = value.replace(",", " ").strip("()[] ").split() if isinstance(value, str) and len(value) < _LONGEST else []
    numbers = [int(w) for w in words if re.fullmatch(r"-?\d{1,9}", w)]
    if not words or len(numbers) < len(words):
        return None
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


# A longer text is no number, or no list of axes.
_LONGEST = 80


def _is_sequence(value: Any) -> bool:
    return hasattr(type(value), "__iter__") and not isinstance(value, (str, bytes))


def _brief(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer with too many digits to print
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."


# The types of attributes in the declarations of operators, each with its reader.


Whole: TypeAlias = Annotated[int, whole]
Wholes: TypeAlias = Annotated["tuple[int, ...]", wholes]
Positive: TypeAlias = Annotated[int, positive]
Natural: TypeAlias = Annotated[int, natural]
Truth: TypeAlias = Annotated[bool, truth]
Text: TypeAlias = Annotated[str, text]
Texts: TypeAlias = Annotated["tuple[str, ...]", texts]
Axes: TypeAlias = Annotated["Sequence[int]", axes]
AxesOrAll: TypeAlias = Annotated["Sequence[int] | None", axes_or_all]
Order: TypeAlias = Annotated["tuple[int | Others, ...] | None", order]
PositivePerAxis: TypeAlias = Annotated["int | tuple[int, ...]", positives]
NaturalPerAxis: TypeAlias = Annotated["int | tuple[int, ...]", naturals]
Ends: TypeAlias = Annotated["int | tuple[int | tuple[int, int], ...]", ends]
NaturalEnds: TypeAlias = Annotated["int | tuple[int | tuple[int, int], ...] | str", natural_ends]
Places: TypeAlias = Annotated["tuple[int | str | None, ...]", places]
Ratios: TypeAlias = Annotated["tuple[tuple[int, int], ...] | None", ratios]


# The arguments of methods that have more than one form: lists of shapes, targets with -1, positions, equations.


def several(name: str, shapes: Any) -> tuple[Any, ...]:
    """Return the shapes in a list."""
    if isinstance(shapes, (str, Shape, Mapping)) or not isinstance(shapes, Iterable):
        first = repr(shapes) if isinstance(shapes, str) else "a"
        raise OperatorError(name, "takes a list of shapes", f"write {name}([{first}, ...])")
    return tuple(shapes)


_INTEGER = re.compile(r"\s*-?\d{1,18}\s*")


def check_equation(equation: Any, shapes: Sequence[Any]) -> None:
    """Raise `OperatorError` if the equation does not come first, or if the shapes are in a list."""
    texts = [s for s in shapes if isinstance(s, str) and "->" in s]
    if texts:
        raise OperatorError("einsum", "the equation comes first", f"write einsum({texts[0]!r}, ...)")


def read_target(target: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Return a target's sizes with 1 in place of -1, the axes with -1, and the axes with 0.

    A 0 stays in the sizes: the caller decides whether it copies a size.
    """
    if isinstance(target, str):
        sizes = _split(target)
        return _marked(sizes) if sizes is not None else (target, (), ())
    return _marked([target] if not isinstance(target, Iterable) else list(target))


def _split(text: str) -> list[str] | None:
    """Return the sizes in a text if it contains -1 or 0; None for any other text."""
    inner = text.strip()
    if inner[:1] in "([" and inner[-1:] in ")]":
        inner = inner[1:-1]
    parts = [p.strip() for p in re.split(r",(?![^()]*\))", inner)]
    parts = parts[:-1] if parts[-1:] == [""] else parts
    return parts if {"-1", "0"} & set(parts) else None


def _marked(items: Sequence[Any]) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    numbers = [_number(item) for item in items]
    inferred = tuple(n for n, number in enumerate(numbers) if number == -1)
    zeros = tuple(n for n, number in enumerate(numbers) if number == 0)
    if len(inferred) > 1:
        raise OperatorError("reshape", "at most one size may be -1")
    return tuple(1 if n in inferred else item for n, item in enumerate(items)), inferred, zeros


def _number(item: Any) -> int | None:
    if isinstance(item, str):
        return int(item) if item in ("-1", "0") else None
    return None if isinstance(item, bool) else index_of(item)


def as_list(places: Any) -> list[Any]:
    """Return one or more positions."""
    return list(places) if isinstance(places, Iterable) and not isinstance(places, str) else [places]


def references(places: Sequence[Any], sizes: list[Any]) -> tuple[int | str | None, ...]:
    """Return positions with each non-integer replaced by a reference into ``sizes``, to which it is appended."""
    positions: list[int | str | None] = []
    for place in places:
        is_text = isinstance(place, str)
        number = None if place is None or (is_text and not _INTEGER.fullmatch(place)) else _number(place)
        number = int(place) if is_text and _INTEGER.fullmatch(place) else number
        if place is None or number is not None:
            positions.append(number)
        else:
            positions.append(f"#{len(sizes)}")
            sizes.append(place)
    return tuple(positions)
