"""The public API: thin classes over the plain answers of `symbcast.core.programs`, the only ones that import lazily.

`symbcast` calls `supply` when it is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.hooks import hooks

if TYPE_CHECKING:
    from symbcast.answers.public.conditions import Condition
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.programs.arguments import Sizes
    from symbcast.core.programs.operations import BroadcastError
    from symbcast.core.shapes import Shape


def supply() -> None:
    """Give the core the public form of conditions, the messages of errors, and displays of shapes."""
    hooks.condition_class = _condition_class
    hooks.message = _message
    hooks.shape_html, hooks.shape_latex = _shape_html, _shape_latex
    hooks.shape_at = _shape_at


def _condition_class() -> type[Condition]:
    from symbcast.answers.public.conditions import Condition

    return Condition


def _message(error: BroadcastError) -> str:
    from symbcast.core.programs.operations import IncompatibleProgramError

    if isinstance(error, IncompatibleProgramError):
        from symbcast.answers.public.env import message_of_refusal

        return message_of_refusal(error)
    from symbcast.answers.public.result import Result, message_of_error

    if not isinstance(error.result, Result):
        from symbcast.answers.public.evaluation import failure_text

        return failure_text(error)
    return message_of_error(error)


def _shape_at(shape: Shape, sizes: Sizes | None, named: Mapping[str, int]) -> tuple[int, ...]:
    from symbcast.answers.public.evaluation import shape_at

    return shape_at(shape, sizes, named)


def _shape_html(dims: Sequence[Dim]) -> str:
    from symbcast.answers.show import document, html

    return html.render(document.shape_document(dims))


def _shape_latex(dims: Sequence[Dim]) -> str:
    from symbcast.answers.show import document, latex

    return latex.render(document.shape_document(dims))
