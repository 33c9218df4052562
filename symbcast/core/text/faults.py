"""Descriptions of syntax errors in plain words, without names of grammar rules or terminals."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from symbcast.core.text.layouts import has_spaced_name, relation_within
from symbcast.core.text.words import LOOKALIKES

if TYPE_CHECKING:
    from lark import UnexpectedCharacters, UnexpectedToken

RELATION = "a relation such as 'N >= 2'"
_MOST = 400
_TYPE = re.compile(r"\s*(!?[^\W\d][\w.]*)\s*<.*>\s*", re.DOTALL)

_WORDS = {
    "INT": "a number",
    "LPAR": "'('",
    "COLON": "':'",
    "COMMA": "','",
    "AND": "'and'",
    "OR": "'or'",
    "RPAR": "')'",
    "RSQB": "']'",
    "$END": "the end",
}
_CHARACTERS = {
    "=": ("a single '='", "'==' for equality"),
    "/": ("exact division of a size is not supported", "'//' for floor division"),
    ".": ("a size is an integer, and a name has dots only between its words", ""),
    "'": ("a quote that is not closed", ""),
    '"': ("a quote that is not closed", ""),
    "&": ("unexpected '&'", "'and'"),
    "|": ("unexpected '|'", "'or'"),
    "!": ("unexpected '!'", "'!=' or 'not'"),
    "~": ("unexpected '~'", "'not'"),
    "^": ("there is no operator '^'", "'**' for a power"),
}
_RANGE = re.compile(r"\s*((\d+)\s*\.\.\s*(\d+))\s*")
_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
_LAST_NAME = re.compile(r"[^\W\d][\w.]*(?=\s*\Z)")


class Fault(Exception):  # noqa: N818 - becomes a ShapeSyntaxError once the whole text is at hand
    """The problem at ``span``, and what is expected there instead."""

    def __init__(self, span: tuple[int, int], problem: str, expected: str = "") -> None:
        super().__init__(span, problem, expected)
        self.span = span
        self.problem = problem
        self.expected = expected


def at_character(source: str, error: UnexpectedCharacters, formula: bool) -> Fault:
    """Return the fault for a character that begins no token; relations are allowed only in a formula."""
    position = error.pos_in_stream or 0
    character = source[position]
    if (found := _wrong_number(source, position)) is not None:
        return found
    factorial = re.match(r"!(?!=)", source[position:]) and re.search(r"[\w)]\s*\Z", source[:position])
    if factorial:
        name = _LAST_NAME.search(source[:position])
        return Fault((position, position + 1), f"{_brief(name[0] if name else '...')[1:-1]}! is not a size")
    if character in "=<>!&|~" and not formula:
        return _relation(source, position)
    if character in LOOKALIKES:
        return Fault((position, position + 1), f"unexpected {character!r}", f"'{LOOKALIKES[character]}'")
    if source[position : position + 2] in ("=>", "=<"):
        written = source[position : position + 2]
        return Fault((position, position + 2), f"there is no relation '{written}'", f"'{written[::-1]}'")
    bare = _RANGE.fullmatch(source) if formula else None
    if bare:
        return Fault(
            bare.span(1), "an assumption needs the name of a size", f"{bare[2]} <= N <= {bare[3]}, for example"
        )
    if character == "[" and formula:
        return Fault((position, position + 1), "a size has a name, and no index", "a relation such as 'N >= 2'")
    problem, expected = _CHARACTERS.get(character, (f"unexpected character {character!r}", ""))
    return Fault((position, position + 1), problem, expected)


def _wrong_number(source: str, position: int) -> Fault | None:
    """Return the fault for a number with decimals, such as a size or an exponent."""
    number = next((m for m in _DECIMAL.finditer(source) if m.start() <= position < m.end()), None)
    if number is None:
        return None
    if source[: number.start()].rstrip().endswith(("**", "^")):
        return Fault(number.span(), f"an exponent is a whole number; no roots of sizes, such as **{number[0]}")
    return Fault(number.span(), f"sizes are whole numbers; {number[0]} is not")


def _relation(source: str, position: int) -> Fault:
    """Return the fault for a relation among the sizes of a shape, or for an unsupported MLIR type."""
    other = _TYPE.fullmatch(source)
    if other and source[position] in "<!":
        return Fault(other.span(1), f"MLIR type {_brief(other[1])} is not supported", "tensor<...> or memref<...>")
    relation = relation_within(source[:_MOST], position) or "N >= 2"
    wanted = f"a size alone, and the relation as an assumption: assume= in Python, --assume {relation!r} for a command"
    return Fault((position, position + 1), "a relation is not a dimension", wanted)


def at_token(source: str, error: UnexpectedToken) -> Fault:
    """Return the fault for a word where it is not allowed."""
    token = error.token
    accepted = error.accepts or error.expected
    expected = wanted(accepted)
    if token.type == "$END":
        end = len(source.rstrip())
        return Fault((end, end), "the text ends too early" if end else "the text is empty", expected)
    start, stop = token.start_pos or 0, token.end_pos or 0
    before = source[max(0, start - 200) : start].rstrip()
    called = _LAST_NAME.search(before) if token.type == "LPAR" else None
    if called:
        end = len(source[:start].rstrip())
        span = (end - len(called[0]), end)
        if called[0] == "rank":
            return Fault(span, "'rank' takes the name of a sequence of axes", "'rank(batch)' for the rank of '*batch'")
        return Fault(span, f"there is no function {_brief(called[0])}", _functions(accepted))
    if token.type == "NAME" and before[-1:].isdigit() and "STAR" in accepted:
        return Fault((start, stop), f"unexpected {_brief(token)} after a number", "'*' between them")
    is_in_name = token.type == "NAME" and "COMMA" in accepted and has_spaced_name(f"{source[:stop][-200:]},")
    problem = f"a name has no spaces before {_brief(token)}" if is_in_name else f"unexpected {_brief(token)}"
    return Fault((start, stop), problem, expected)


def wanted(accepted: Collection[str]) -> str:
    """Describe in words what is allowed where the parser accepts these terminals.

    >>> wanted({"COMMA", "PLUS", "$END"}), wanted({"NAME", "INT", "NONE"})
    ("',' or the end", 'a dimension')
    """
    if "NOT" in accepted:
        return RELATION
    if "NAME" in accepted:
        return "a dimension"
    words = [word for terminal, word in _WORDS.items() if terminal in accepted]
    if "COMPARE" in accepted and not {"AND", "$END"} & set(accepted):
        words.insert(0, RELATION)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _functions(accepted: Collection[str]) -> str:
    relations = ", compatible" if "COMPARE" in accepted else ""
    return f"one of min, max, mod, floordiv, broadcast{relations}"


def _brief(text: str) -> str:
    return f"'{text}'" if len(text) <= 30 else f"'{text[:27]}...'"
