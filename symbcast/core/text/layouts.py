"""Shapes in other layouts: other brackets and separators, forgotten ones, and the types of other tools.

A shape is taken apart into its items, and each item is read by itself: by the grammar, or as a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from symbcast.core.text.sentences import read_sentence, read_size
from symbcast.core.text.spoken_sizes import RESERVED
from symbcast.core.text.words import LOOKALIKES

_MOST = 400
"""Longer shapes are not taken apart: each of their items is parsed."""
_QUOTE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_PARTS = re.compile(rf"{_QUOTE}|[()\[\]{{}}]|,|.", re.DOTALL)
_OF_ALL = r"(?:\w+\.)*(?:prod|sum|len|max|min|any|all|mean|gcd|lcm|set|sorted|reversed|rank|ndim|numel|hash|str)\("
"""Functions whose result is no shape, or another one."""
_WRAPPERS = (
    r"\s*!torch\.v?tensor\s*<\s*(\[[^\[\]]*\]).*>\s*",
    rf"\s*(?!{_OF_ALL})[\w.]*[A-Za-z][\w.]*\(\s*(\[[^()]*\]|\([^()]*\))\s*\)\s*",  # torch.Size([2, 3])
    r"\s*[A-Za-z]+\d+\s*(\[[^\[\]]*\])\s*(?:\{[\d,\s]*\})?\s*",  # f32[2,3]{1,0}
    r"\s*(\[[^\[\]]*\])\s*\{[\d,\s]*\}\s*",
    r"\s*<([^<>]*)>\s*",
)
"""Types of other tools around a shape in brackets."""
_CROSSED = re.compile(r"(?:\d+|\?)(?:x(?:\d+|\?))+")
_BETWEEN_SIZES = re.compile(r"(?<=[\w?)])\s*\u00d7\s*(?=[\w?(])|(?<=[\w?)])\s+(?:[xX]|by)\s+(?=[\w?(])")
_SPACE = re.compile(r"(?<=[\w?).])\s+(?=[\w?(.])")
_WORDS = re.compile(r"(?<![\w.?])([^\W\d]\w+)\s+(?=[^\W\d]\w+(?![\w.(]))")
"""A word before another: in a shape with commas, both are one name."""
_BOUNDED = (
    (r"(\d+)\s*(?:-|to|\.\.\.)\s*(\d+)", r"\1..\2"),
    (r"(?:<=|\u2264)\s*(\d+)", r"..\1"),
    (r"(?:>=|\u2265)\s*(\d+)", r"\1.."),
    (r"(\d+)\s*\.\.\s*(?:inf|\u221e)", r"\1.."),
    (r":", "?"),
)
"""Sizes with bounds; ``2:5`` includes 5 in some languages only."""


_SAME = {ord(sign): meant for sign, meant in LOOKALIKES.items() if len(meant) == 1 and sign not in ";{}"}


class Layout(NamedTuple):
    """A shape as the grammar reads it; with slips, it is suggested and not accepted."""

    text: str
    is_slip: bool


def read_layout(text: str, reads: Callable[[str], bool]) -> Layout | None:
    """Return a shape in the notation of the grammar, None if it has no certain reading.

    ``reads`` says whether the grammar accepts a text as a shape.

    >>> read_layout("2 x 3", lambda text: "x" not in text), read_layout("2:5, 3", lambda text: ":" not in text)
    (Layout(text='2, 3', is_slip=True), None)
    """
    if len(text) > _MOST:
        return None
    if re.match(r"\s*vector\s*<", text):
        tensor = re.sub(r"\s*vector\s*<", "tensor<", text, count=1)
        return Layout(tensor, True) if reads(tensor) else None
    plain = text.translate({ord("\u201c"): "", ord("\u201d"): "", ord("\u2018"): "", ord("\u2019"): ""})
    for pattern in _WRAPPERS:
        if wrapped := re.fullmatch(pattern, plain, re.DOTALL):
            inner = _read(wrapped[1], reads)
            return inner and Layout(inner.text, True)
    found = _read(plain, reads)
    return found and (found if plain == text else Layout(found.text, True))


def _read(text: str, reads: Callable[[str], bool]) -> Layout | None:
    body, opening, is_slip = _without_brackets(re.sub(r"\]\s*\[", ", ", text.strip()))
    is_slip |= text.strip()[1:-1] != body and text.strip() != body
    items = _items(body)
    if items is None:
        return None
    is_slip |= any(item[1] for item in items)
    texts = [item[0] for item in items]
    is_list = len(texts) > 1 or "," in body
    found = [_item(item, reads) for item in texts] if is_list else _single(texts[0], reads)
    shape: list[str] = []
    for part in found:
        if part is None:
            return None
        shape.append(part.text)
        is_slip |= part.is_slip
    joined = ", ".join(shape)
    is_tuple = opening and (len(shape) != 1 or opening == "[" or body.rstrip().endswith(","))
    if is_tuple and len(shape) == 1 and opening == "(":
        joined += ","
    whole = f"{opening}{joined}{_CLOSING[opening]}" if is_tuple and opening else joined
    return Layout(whole, is_slip) if reads(whole) else None


def _without_brackets(text: str) -> tuple[str, str, bool]:
    """Return a shape without the brackets around it, the opening one, and whether they were not as they should be."""
    opened: list[tuple[str, int]] = []
    for match in _PARTS.finditer(text):
        if match[0] in _CLOSING:
            opened.append((match[0], match.start()))
        elif match[0] in _CLOSING.values():
            if not opened:
                whole = match.end() == len(text)
                return (text[:-1], "(" if match[0] != "]" else "[", True) if whole else (text, "", True)
            bracket, start = opened.pop()
            if not start and match.end() == len(text):
                return text[1:-1], "[" if bracket == "[" else "(", bracket == "{" or _CLOSING[bracket] != match[0]
    if opened and opened[0][1] == 0 and len(opened) == 1:
        return text[1:], "[" if opened[0][0] == "[" else "(", True
    return text, "", False


def _items(text: str) -> list[tuple[str, bool]] | None:
    """Return the items between commas, and whether each comma before it was another sign; None if brackets clash."""
    found, item, opened, is_other = list[tuple[str, bool]](), "", list[str](), False
    for match in _PARTS.finditer(text):
        sign = LOOKALIKES.get(match[0], match[0])
        if match[0] in _CLOSING:
            opened.append(_CLOSING[match[0]])
        elif match[0] in _CLOSING.values() and (not opened or opened.pop() != match[0]):
            return None
        if sign == "," and not opened:
            found.append((item, is_other or match[0] != ","))
            item, is_other = "", False
        else:
            item += match[0]
    if opened:
        return None
    return [*found, (item, is_other)] if item.strip() or not found else found


def _single(text: str, reads: Callable[[str], bool]) -> list[Layout | None]:
    """Return the items of a shape without commas: sizes between spaces, crosses or words, or one size."""
    if _CROSSED.fullmatch(text.strip()):
        return [Layout(part, True) for part in text.strip().split("x")]
    parts = _BETWEEN_SIZES.split(text)
    if len(parts) == 1:
        whole = _item(text, reads)
        if whole is not None:
            return [whole]
        parts = _SPACE.split(text.strip())
        if (len(parts) == 2 and parts[0].isdecimal()) or not RESERVED.isdisjoint(text.casefold().split()):
            return [None]  # `2 N` may be a product, and `N is 4` is no shape
    found = [_item(part, reads) for part in parts]
    return [item and Layout(item.text, True) for item in found]


def _item(text: str, reads: Callable[[str], bool]) -> Layout | None:
    """Return one size."""
    text = text.strip()
    if text and reads(text):
        return Layout(text, False)
    for pattern, meant in _BOUNDED:
        if found := re.fullmatch(pattern, text):
            bounded = found.expand(meant)
            return Layout(bounded, True) if reads(bounded) else None
    plain = text.translate(_SAME)
    if plain != text and reads(plain):
        return Layout(plain, True)
    size = read_size(text)
    if size is not None and reads(size[0]):
        return Layout(size[0], size[1] or re.fullmatch(r"[\d.]+", text) is not None)
    joined = _WORDS.sub(r"\1_", text)
    if joined == text or not RESERVED.isdisjoint(text.casefold().split()):
        return None
    found_parts = _SPACE.split(joined)
    return Layout(", ".join(found_parts), True) if all(reads(part) for part in found_parts) else None


def has_spaced_name(text: str) -> bool:
    """Return whether a shape with commas has two words, of two or more letters each, with only a space between them.

    >>> has_spaced_name("batch size, 3"), has_spaced_name("batch size 3"), has_spaced_name("B T, 3")
    (True, False, False)
    """
    return "," in text and _WORDS.search(text) is not None


def relation_within(text: str, position: int) -> str:
    """Return the relation, between commas or brackets, at a position in a shape; empty if there is none.

    >>> relation_within("N, (M=3)", 5), relation_within("f32[<=10]", 4)
    ('M == 3', '')
    """
    first = max(text.rfind(character, 0, position) for character in ",([") + 1
    ends = [n for n in (text.find(character, position) for character in ",)]") if n >= 0]
    part = text[first : min(ends, default=len(text))]
    found = read_sentence(part)
    return found[0] if found else ""
