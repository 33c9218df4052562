"""Common slips in texts, and what to write instead: other notations, other keyboards, forgotten operators.

These corrections are only suggested. A text that cannot be read is an error; if its correction can be read, the error
suggests it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MOST = 400
"""Of longer texts no correction is shown."""

LOOKALIKES = {
    **{chr(0xFF01 + n): chr(0x21 + n) for n in range(0x5E) if not chr(0xFF01 + n).isalpha()},  # full-width forms
    "\uff1b": ",",
    "\uff5b": "(",
    "\uff5d": ")",
    "\u3000": " ",
    "\u3001": ",",
    "\u2212": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u00d7": "*",
    "\u00b7": "*",
    "\u22c5": "*",
    "\u2217": "*",
    "\u00f7": "//",
    "\u2265": ">=",
    "\u2264": "<=",
    "\u2260": "!=",
    "\u2208": "in",
    "\u2227": "and",
    "\u2228": "or",
    "\u00ac": "not",
    ";": ",",
    "{": "(",
    "}": ")",
}
"""Characters that are not accepted, and their replacements."""
SUPERSCRIPTS = {character: str(n) for n, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
"""Digits that Python counts as word characters; in a name they are read as a power."""

_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_TABLE = str.maketrans({c: f" {w} " if w.isalpha() else w for c, w in LOOKALIKES.items()})
_POWERS = str.maketrans(SUPERSCRIPTS)
_NAME = r"[^\W\d][\w.]*"
_CLOSING = {"(": ")", "[": "]"}


class Slip(NamedTuple):
    """A common mistake, and its correction; patterns are compiled at the first error, for most texts have none."""

    pattern: str
    meant: str | Callable[[re.Match[str]], str]


def _alternatives(found: re.Match[str]) -> str:
    """Return membership of a size in a list of numbers as a disjunction, or as a conjunction if it is negated."""
    name, is_negated, numbers = found[1], found[2], re.findall(r"\d+", found[3])
    text = (" and " if is_negated else " or ").join(f"{name} {'!=' if is_negated else '=='} {n}" for n in numbers)
    is_whole = not (found.string[: found.start()] + found.string[found.end() :]).strip()
    return text if is_whole or is_negated else f"({text})"


def _others(found: re.Match[str]) -> str:
    """Return numbers after a size and a relation as relations of their own: ``N == 3 or 4``."""
    numbers = re.findall(r"\d+", found[2])
    return " or ".join(f"{found[1]} == {n}" for n in numbers)


def _range(found: re.Match[str]) -> str:
    return f"{found[1]}..{found[2]}" if int(found[1]) < int(found[2]) else found[0]


_FIRST = (
    Slip(r"(?<=\])\s*\{[\d,\s]*\}\s*$", ""),  # the layout of XLA's f32[2,3]{1,0}
    Slip("[\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb]", ""),
    Slip(f"[{''.join(SUPERSCRIPTS)}]+", lambda found: f"**{found[0].translate(_POWERS)}"),
)
"""Mended before characters are replaced one by one."""
_ANYWHERE = (
    Slip(r"\^", "**"),
    Slip(r"(?<=\d)_(?=\d)", ""),
    Slip(r"(?<![\w.])(\d+)\.0*(?![\w.])", r"\1"),
    Slip(rf"\bceil(?:div)?\(\s*({_NAME})\s*(?:/+|,)\s*(\d+)\s*\)", r"-(-\1//\2)"),
    Slip(rf"\b(?:math\.)?floor\(\s*({_NAME})\s*(?:/+|,)\s*(\d+)\s*\)", r"\1//\2"),
    Slip(r"(?<!/)/(?!/)", "//"),
    Slip(r"(?<=[\w)])\s+mod\s+(?=[\w(])", " % "),
    Slip(r"(?<![\w.?])(\d+)\s*(?=\()", r"\1*"),
    Slip(r"\)\s*(?=\()", ")*"),
)
_OF_PRODUCTS = (Slip(r"(?<![\w.?])(\d+)(?=(?!(?:and|or|not|mod|[eE]\d+)\b)[^\W\d])", r"\1*"),)
_OF_SHAPES = (
    Slip(r"^\s*!torch\.v?tensor\s*<\s*(\[[^\[\]]*\]).*>\s*$", r"\1"),
    Slip(r"^\s*[\w.]*[A-Za-z][\w.]*\(\s*([\[(][^()]*[\])])\s*\)\s*$", r"\1"),  # torch.Size([2, 3])
    Slip(r"^\s*[A-Za-z]+\d+\s*(?=\[)", ""),  # f32[2,3]
    Slip(r"^\s*<([^<>]*)>\s*$", r"(\1)"),
    Slip(r"\]\s*\[", ", "),
    Slip(r"<=\s*(?=\d)", ".."),  # ... with a bounded size
    Slip(r"(?<![\w.])(?:\d+|\?)(?:x(?:\d+|\?))+(?!\w)", lambda found: found[0].replace("x", ", ")),
    Slip(r"(?<=[\w?)])\s+[xX]\s+(?=[\w?(])", ", "),
    Slip(r"(?<=[\w?)])\s+by\s+(?=[\w?(])", ", "),
    Slip(r"(?<![\w?])(\d+)\s*:\s*(?=\d)", r"\1.."),
    Slip(r"(?:(?<=^)|(?<=[,(\[])|(?<=[,(\[]\s))(\d+)\s*(?:-|\bto\b)\s*(\d+)(?=\s*(?:[,)\]]|$))", _range),
    Slip(r"(^|[,(\[])(\s*):(?=\s*(?:[,)\]]|$))", r"\1\2?"),
    Slip(r"\.\.\s*(?:inf\b|\u221e)", ".."),
)
_SPACE = re.compile(r"(?<=[\w?)])\s+(?=[\w?(])")
_CROSS = re.compile("(?<=[\\w?)])\\s*\u00d7\\s*(?=[\\w?(])")
_WORDS = re.compile(r"(?<![\w.?])([^\W\d]\w+)\s+(?!(?:by|to|mod|and|or|in)\b)(?=[^\W\d]\w+(?![\w.(]))")
"""A word before another: of a shape with commas, both are one name."""
_IS = r"(?:is|are|must\s+be|should\s+be)\s+"
_HAS = rf"(?:={{1,2}}|:|\b{_IS}|\b(?:is\s+)?in\b)"
_OF_WORDS = (
    Slip(rf"\b(?:len|size|dim|int|abs)\(\s*({_NAME})\s*\)", r"\1"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?(?:an?\s+)?even\b(?:\s+number)?", r"\1 % 2 == 0"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?(?:an?\s+)?odd\b(?:\s+number)?", r"\1 % 2 == 1"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?(?:a\s+)?(?:multiple\s+of|divisible\s+by)\s+(\w+)", r"\1 % \2 == 0"),
    Slip(rf"\b(\w+)\s+divides\s+({_NAME})", r"\2 % \1 == 0"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?between\s+(\d+)\s+and\s+(\d+)", r"\2 <= \1 <= \3"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?from\s+(\d+)\s+to\s+(\d+)", r"\2 <= \1 <= \3"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?(not\s+)?in\s*[\[(]([\d\s,]+)[\])]", _alternatives),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?in\s+range\(\s*(\d+)\s*,\s*(\d+)\s*\)", r"\2 <= \1 < \3"),
    Slip(rf"\b({_NAME})\s+(?:{_IS})?in\s+range\(\s*(\d+)\s*\)", r"\1 < \2"),
    Slip(rf"\b({_NAME})\s*{_HAS}\s*[\[(]?\s*(\d+)\s*(?:\.\.|-|:)\s*(\d+)[\])]?", r"\2 <= \1 <= \3"),
    Slip(rf"\b(?:{_IS})?(?:strictly\s+)?(?:positive|non-?zero)\b", ">= 1"),
    Slip(rf"\b(?:{_IS})?at\s+least\b", ">="),
    Slip(rf"\b(?:{_IS})?at\s+most\b", "<="),
    Slip(rf"\b(?:{_IS})?(?:greater|larger|bigger|more)\s+than\b", ">"),
    Slip(rf"\b(?:{_IS})?(?:less|smaller|fewer)\s+than\b", "<"),
    Slip(rf"\b{_IS}not(?:\s+equal\s+to)?\b", "!="),
    Slip(rf"\b({_NAME})\s+and\s+({_NAME})\s+(?:are\s+)?(?:equal|the\s+same)\b", r"\1 == \2"),
    Slip(rf"\b({_NAME})\s+not\s+(?:equals?\s+(?:to\s+)?)?(?=\w+\s*$)", r"\1 != "),
    Slip(rf"\b({_NAME})\s+not\s+(\d+)\b", r"\1 != \2"),
    Slip(rf"\b{_IS}(?:equal\s+to|the\s+same\s+as)\b", "=="),
    Slip(rf"\b({_NAME})\s*(?:={{1,2}}|\bis|\bequals)\s*(\d+(?:\s*(?:,|,?\s*or)\s*\d+)+)\s*$", _others),
)
"""Relations as people say them."""
_OF_FORMULAS = (
    Slip(r"([<>!=])\s+=(?!=)", r"\1="),
    Slip(r"=>", ">="),
    Slip(r"=<", "<="),
    Slip(r"<>", "!="),
    Slip(r"!==+", "!="),
    Slip(r"={3,}", "=="),
    Slip(r"(?<![=!<>])=(?!=)", "=="),
    Slip(r"\s*&&?\s*", " and "),
    Slip(r"\s*\|\|?\s*", " or "),
    Slip(r"[!~]\s*(?!=)", "not "),
    Slip(r"\b(?:AND|OR|NOT)\b", lambda found: found[0].lower()),
    *_OF_WORDS,
    Slip(r"\b(?:is|equals)\b", "=="),
    Slip(rf"^\s*({_NAME})\s*,\s*({_NAME})\s*([<>=!]=|[<>])\s*(\d+)\s*$", r"\1 \3 \4 and \2 \3 \4"),
    Slip(rf"^\s*({_NAME})\s+(and|or)\s+({_NAME})\s*([<>=!]=|[<>])\s*(\w+)\s*$", r"\1 \4 \5 \2 \3 \4 \5"),
)


def correction(text: str, is_formula: bool, reads: Callable[[str], bool]) -> str:
    """Return the corrected text, if it can be parsed; otherwise an empty text.

    >>> correction("N => 2", True, lambda text: True), correction("2N x 3^2", False, lambda text: True)
    ('N >= 2', '2*N, 3**2')
    """
    if len(text) > MOST:
        return ""
    for found in dict.fromkeys(_candidates(text, is_formula)):
        if found.strip() != text.strip() and reads(found):
            return " ".join(found.split())
    return ""


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
    words = [word.strip() for word in re.split("([=<>!]+)", text[first : min(ends, default=len(text))])]
    return " ".join(_mended(" ".join(words), True).split()) if len(words) > 1 and all(words) else ""


def _candidates(text: str, is_formula: bool) -> Iterator[str]:
    if is_formula:
        found = _mended(text, True)
        yield found
        yield _conjunction(found)
        return
    yield re.sub(r"^\s*vector\s*<", "tensor<", text)
    if has_spaced_name(text):
        joined = _mended(_WORDS.sub(r"\1_", text), False)
        yield joined
        yield _SPACE.sub(", ", joined)
    for times in (", ", "*") if "," not in text else ("*",):
        found = _mended(_CROSS.sub(times, text), False)
        yield found
        yield _closed(found)
        spaced = _SPACE.sub(", ", found)
        yield spaced
        yield _closed(spaced)


def _mended(text: str, is_formula: bool) -> str:
    """Return a text with its slips corrected; text in quotes is a name, and stays."""
    own = (*_OF_FORMULAS, *_ANYWHERE) if is_formula else (*_OF_SHAPES, *_ANYWHERE)
    parts = _QUOTED.split(text)
    for n in range(0, len(parts), 2):
        part = _applied(_FIRST, parts[n]).translate(_TABLE)
        parts[n] = _applied((*own, *_OF_PRODUCTS), part)
    return "".join(parts)


def _applied(slips: tuple[Slip, ...], text: str) -> str:
    for slip in slips:
        text = re.sub(slip.pattern, slip.meant, text)
    return text


def _closed(text: str) -> str:
    """Return a text with the missing closing or opening brackets added."""
    opened: list[str] = []
    for character in _QUOTED.sub("", text):
        if character in _CLOSING:
            opened.append(character)
        elif character in _CLOSING.values():
            if not opened:
                return ("(" if character == ")" else "[") + text
            opened.pop()
    return text.rstrip() + "".join(_CLOSING[o] for o in reversed(opened))


def _conjunction(text: str) -> str:
    """Return relations separated by commas joined by ``and`` instead; commas in brackets stay."""
    depth, parts, start = 0, [], 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return " and ".join(part for part in parts if part)
