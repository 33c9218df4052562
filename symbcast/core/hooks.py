"""What higher rooms register for the core: messages of errors, displays of shapes, conditions in their public form.

`symbcast` registers functions here when it is imported. They load what they need when they are called.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from importlib.metadata import EntryPoint
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


class Hooks:
    """The functions of higher layers.

    Attributes:
        condition_class: Returns `symbcast.Condition`, the public form of conditions.
        message: Returns the message of an error about a broadcast or a program.
        shape_html: Returns a shape as HTML.
        shape_latex: Returns a shape as LaTeX.
        shape_at: Returns a shape at given sizes, by name or symbol and by keyword.
        readers: What loads the reader of a framework's shapes, by the package that its classes are from.
        examples: The functions of users that make objects for `symbcast.lint`.
    """

    condition_class: Callable[[], Any]
    message: Callable[[Any], str]
    shape_html: Callable[[Sequence[Any]], str]
    shape_latex: Callable[[Sequence[Any]], str]
    shape_at: Callable[[Any, Any, Mapping[str, int]], tuple[int, ...]]
    readers: dict[str, Callable[[], Any]]
    examples: list[Callable[..., Any]]

    def __init__(self) -> None:
        self.readers = {}
        self.examples = []


# What this process uses.
hooks = Hooks()


def example(function: _Function) -> _Function:
    """Declare a function that makes an object, for `symbcast.lint`, which needs one to check the methods of its class.

    The class is the annotation of its result. Parameters without a default are annotated, as those of a function to
    check: an ``int`` is any size. The function itself is unchanged. For example::

        @symbcast.example
        def small_model(width: int) -> Model:
            return Model(width, activation=np.tanh)
    """
    hooks.examples.append(function)
    return function


def files_beside(init: str) -> list[str]:
    """Return the names of the modules in a folder, in alphabetical order, given its ``__init__.py``.

    For folders whose files register themselves: the folder is the list.
    """
    # Not pkgutil, which takes longer to load than the first answer.
    names = os.listdir(os.path.dirname(init))  # noqa: PTH120, PTH208 - as above
    return sorted({name.partition(".")[0] for name in names if name.endswith((".py", ".pyc")) and name[0] != "_"})


def entry_points_of(group: str) -> Collection[EntryPoint]:
    """Return the entry points of installed packages in a group.

    The library that reads them takes longer to load than a short command takes altogether, and mostly there are none:
    it is loaded only if the group's name is written in a file that it would read.
    """
    if not _may_have(group):
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=group)


# The finders of Python itself: they look for metadata of packages in the folders of `sys.path` only.
_OWN_FINDERS = frozenset(("BuiltinImporter", "FrozenImporter", "PathFinder"))


def _may_have(group: str) -> bool:
    """Return whether a package may offer something in a group: one that lies elsewhere than in a folder may."""
    others = (f for f in sys.meta_path if getattr(f, "__name__", "") not in _OWN_FINDERS)
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    return any(_offers(folder or ".", group.encode()) for folder in dict.fromkeys(sys.path))


def _offers(folder: str, group: bytes) -> bool:
    """Return whether metadata in a folder may have a group; a file, such as an archive, may."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - pathlib is not loaded
    except FileNotFoundError:
        return False
    except OSError:
        return True
    infos = (name for name in names if name.lower().endswith((".dist-info", ".egg-info", "egg-info")))
    return any(group in _contents(f"{folder}/{name}/entry_points.txt") for name in infos)


def _contents(path: str) -> bytes:
    """Return what is in a file; nothing if it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not loaded
            return file.read()
    except OSError:
        return b""
