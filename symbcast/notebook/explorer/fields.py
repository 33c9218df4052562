"""Define `explore`, which writes shapes or results of any kind into the fields of an explorer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from symbcast.answers.comparison.rule_answers import read_rule
from symbcast.answers.explanation.words import rule_text
from symbcast.answers.public.result import Result, broadcast
from symbcast.core.advice import with_advice
from symbcast.core.programs.arguments import Assumptions, Sizes, read_given_size
from symbcast.core.rules import AttributeLike, Rule, find_rule
from symbcast.core.shapes import ShapeLike
from symbcast.errors import BindingError, MissingExtraError
from symbcast.notebook.explorer.question import (
    LARGEST_MAP,
    LARGEST_SIZE,
    ExplorerQuestion,
    attribute_texts,
    question_of,
)

if TYPE_CHECKING:
    import sympy

    from symbcast.notebook.explorer.widget import Explorer

_EXAMPLE = ("N, 3", "M, 1")


@with_advice
def explore(  # noqa: PLR0913 - the question's arguments are those of `broadcast`
    *shapes: ShapeLike | Result,
    rule: str | Rule = "numpy",
    assume: Assumptions = (),
    min_size: int = 0,
    compare_with: str | Rule | None = None,
    sizes: Sizes | None = None,
    over: Sequence[str | sympy.Symbol] = (),
    up_to: int | None = None,
    shade: int | None = None,
    **attributes: AttributeLike,
) -> Explorer:
    """Return a widget in which shapes, rule and sizes can be changed, with the answer next to them.

    Shapes, rule, assumptions and attributes are as in `symbcast.broadcast`, or a single `Result` gives them all; shapes
    and assumptions given as text are shown unchanged, even if invalid. ``compare_with`` is another rule to compare on
    these shapes, as in `symbcast.compare`. ``sizes`` are the initial slider positions, ``over`` names the one or two
    symbols of the map, ``up_to`` is the largest size on the map (at most 4096, with steps beyond 32; if a symbol's
    least size is larger, the map shows as many sizes from there), and ``shade`` is the output axis that shades it. By
    default, the map shows sizes that work and sizes that fail, if both exist.

    Raises a `SymbcastError` if a shape is neither text nor a shape, if a rule or attribute is unknown, or if sizes are
    invalid; raises `MissingExtraError` without the extra ``notebook``.
    """
    kind = explorer_class("explore")
    question = _question(shapes, rule, assume, min_size, attributes)
    other = "" if compare_with is None else rule_text(read_rule(compare_with))
    return kind(
        replace(question, compare_with=other),
        sizes=_sizes(sizes),
        over=[_name(symbol) for symbol in over],
        up_to=up_to and min(max(1, up_to), LARGEST_MAP),
        shade=shade,
    )


def explorer_class(asked_for: str = "Explorer") -> type[Explorer]:
    """Return the explorer class; raise `MissingExtraError` without the extra ``notebook``."""
    try:
        from symbcast.notebook.explorer.widget import Explorer
    except ImportError as error:
        raise MissingExtraError(f"symbcast.notebook.{asked_for}", "notebook") from error
    return Explorer


def _question(
    shapes: Sequence[Any], rule: str | Rule, assume: Assumptions, min_size: int, attributes: Mapping[str, Any]
) -> ExplorerQuestion:
    is_alone = (rule, assume, min_size, attributes) == ("numpy", (), 0, {})
    if len(shapes) == 1 and isinstance(shapes[0], Result) and is_alone:
        return question_of(shapes[0])
    assumed: Any = [assume] if isinstance(assume, str) else assume
    is_text = isinstance(assumed, Iterable) and all(isinstance(t, str) for t in (*shapes, *assumed))
    if not is_text or isinstance(rule, Rule):
        return question_of(broadcast(*shapes, rule=rule, assume=assume, min_size=min_size, **attributes))
    rule_info = find_rule(rule, dict(attributes))
    joined = assumed[0] if len(assumed) == 1 else " and ".join(f"({text})" for text in assumed)
    return ExplorerQuestion(tuple(shapes) or _EXAMPLE, rule_info.name, attribute_texts(rule_info), joined, min_size)


def _sizes(field_value: Sizes | None) -> dict[str, int]:
    """Return sizes by name; raise `BindingError` if they are invalid or too large for a page."""
    if field_value is not None and not isinstance(field_value, Mapping):
        raise BindingError(f"{field_value!r:.80} is not a mapping of names to sizes", "write {'N': 2}")
    sizes = {_name(size): read_given_size(_name(size), value) for size, value in (field_value or {}).items()}
    for name, size in sizes.items():
        if size > LARGEST_SIZE:
            raise BindingError(f"{name}={size} is too large for a page", f"the largest is {LARGEST_SIZE}")
    return sizes


def _name(size: Any) -> str:
    return size if isinstance(size, str) else str(size)
