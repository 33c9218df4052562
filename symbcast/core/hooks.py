"""What higher rooms register for the core: messages of errors, displays of shapes, conditions in their public form.

`symbcast` registers functions here when it is imported. They load what they need when they are called.
"""

from __future__ import annotations

import os
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


# What this process uses.
hooks = Hooks()


def files_beside(init: str) -> list[str]:
    """Return the names of the modules in a folder, in alphabetical order, given its ``__init__.py``.

    For folders whose files register themselves: the folder is the list.
    """
    # Not pkgutil, which takes longer to load than the first answer.
    names = os.listdir(os.path.dirname(init))  # noqa: PTH120, PTH208 - as above
    return sorted({name.partition(".")[0] for name in names if name.endswith((".py", ".pyc")) and name[0] != "_"})
