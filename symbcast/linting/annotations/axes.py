"""The axes of a shape annotation, in jaxtyping's notation."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal, TypeAlias

from symbcast.core.text import parse_shape
from symbcast.errors import SymbcastError

Kind: TypeAlias = Literal["name", "fixed", "any", "term"]


@dataclass(frozen=True)
class Axis:
    """One item of a shape annotation.

    Attributes:
        kind: ``"name"``; ``"fixed"`` for a number; ``"any"`` for ``_`` and ``...``; ``"term"`` for an expression.
        text: The name, the number or the expression.
        is_many: Whether it stands for any number of axes: ``*batch``, ``...``.
        can_stretch: Whether an axis of size 1 is accepted too: ``#batch``.
        is_of_leaf: Whether each leaf of a tree has a size of its own: ``?n``.
    """

    kind: Kind
    text: str = ""
    is_many: bool = False
    can_stretch: bool = False
    is_of_leaf: bool = False

    def __str__(self) -> str:
        if self.kind == "any":
            return "..." if self.is_many else "_"
        return f"{'#' * self.can_stretch}{'*' * self.is_many}{'?' * self.is_of_leaf}{self.text}"


def read_axes(text: str) -> tuple[Axis, ...]:
    """Return the axes of a jaxtyping annotation.

    >>> [str(a) for a in read_axes("*batch rows=3 #n 2*n+1 _")]
    ['*batch', '3', '#n', '2*n+1', '_']
    """
    return tuple(map(_axis, text.split()))


def _axis(text: str) -> Axis:
    if text == "...":
        return Axis("any", is_many=True)
    flags = set()
    while text and (text[0] in "#*_?" or text.count("=") == 1):
        if text[0] in "#*_?":
            flags.add(text[0])
            text = text[1:]
        else:
            text = text.split("=")[1]
    many, stretched, of_leaf = "*" in flags, "#" in flags, "?" in flags
    if "_" in flags:
        return Axis("any", is_many=many)
    if not text or text.isidentifier():
        return Axis("name", text, many, stretched, of_leaf)
    try:
        return Axis("fixed", str(int(text)), can_stretch=stretched)
    except ValueError:
        return Axis("term", text, can_stretch=stretched)


def split_expression(text: str) -> str:
    """Return the expression that spaces divide into several axes, such as ``2*n + 1``; empty if there is none.

    An axis that is not an expression by itself belongs to the axes around it, if they are one expression together.
    """
    parts = text.split()
    for first in range(len(parts)):
        for last in range(len(parts), first + 1, -1):
            whole = " ".join(parts[first:last])
            inner = [p.lstrip("#?").removeprefix("*") for p in parts[first:last]]  # ``*batch`` is an axis by itself
            is_divided = any(p[:1] in "+-/%" or not _is_expression(p) for p in inner)
            if is_divided and _is_expression(whole) and not parts[first].startswith("*"):
                return whole
    return ""


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.lstrip("#?"), mode="eval")
    except SyntaxError:
        return False
    return True


_KEPT: dict[str, str] = {}


def name_for(text: str) -> str:
    """Return a name that stands for an axis name in shapes as text; names that have a meaning there get a suffix.

    >>> name_for("batch"), name_for("lambda")
    ('batch', 'lambda')
    """
    if text not in _KEPT:
        try:
            read = parse_shape(f"{text}, 1")
            is_kept = len(read) == 2 and str(read[0]) == text and bool(parse_shape(f"2*{text}, 1"))
        except SymbcastError:
            is_kept = False
        _KEPT[text] = text if is_kept else f"{text}_"
    return _KEPT[text]
