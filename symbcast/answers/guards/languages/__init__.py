"""The languages in which guards are written. Each module here is one, and adding it is all that it takes.

The module ``cpp`` has a function ``cpp_source`` of a condition, the names of its sizes and the name of the guard, and
``COMMENT``, which opens a comment. Then each answer has the method ``to_cpp``, and the command line ``--guard cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeAlias

from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Symbol
from symbcast.core.hooks import files_beside

Writer: TypeAlias = "Callable[[Formula, Mapping[Symbol, str], str], str]"
"""Writes a condition, given the names of its sizes and its own."""

# The names of all languages: Python, whose guards run here, and the others in alphabetical order.
LANGUAGES = tuple(sorted(files_beside(__file__), key=lambda language: language != "python"))


def writer_of(language: str) -> Writer:
    """Return the function that writes conditions in a language."""
    writer: Writer = getattr(_module(language), f"{language}_source")
    return writer


def comment_of(language: str) -> str:
    """Return what opens a comment in a language."""
    comment: str = _module(language).COMMENT
    return comment


def _module(language: str) -> ModuleType:
    return import_module(f"{__name__}.{language}")
