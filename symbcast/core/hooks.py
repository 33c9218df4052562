"""What higher rooms register for the core: messages of errors, displays of shapes, conditions in their public form.

`symbcast` registers functions here when it is imported. They load what they need when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Hooks:
    """The functions of higher layers.

    Attributes:
        condition_class: Returns `symbcast.Condition`, the public form of conditions.
        message: Returns the message of an error about a broadcast or a program.
        shape_html: Returns a shape as HTML.
        shape_latex: Returns a shape as LaTeX.
        readers: What loads the reader of a framework's shapes, by the package that its classes are from.
    """

    condition_class: Callable[[], Any]
    message: Callable[[Any], str]
    shape_html: Callable[[Sequence[Any]], str]
    shape_latex: Callable[[Sequence[Any]], str]
    readers: dict[str, Callable[[], Any]]

    def __init__(self) -> None:
        self.readers = {}


hooks = Hooks()
"""What this process uses."""
