"""The tokens of a text in symbcast's notation, and the faults at them.

Tokens have no positions: the places of a fault are counted once there is one.
"""

from __future__ import annotations

import re
from typing import NoReturn

from symbcast.core.algebra.arithmetic import FUNCTIONS
from symbcast.core.algebra.symbols import UNKNOWN_WORDS
from symbcast.core.algebra.terms import MAX_BITS

# The longest text that is read.
MAX_LENGTH = 20_000
# How deep brackets may nest: each level takes up to five calls, of the thousand that Python allows.
MAX_DEPTH = 100
_MAX_DIGITS = len(str(2**MAX_BITS))
TOO_LARGE = "a size is at most 2**63 - 1"
FITS = "a size that fits in 64 bits"


class SyntaxFault(Exception):  # noqa: N818 - becomes a ShapeSyntaxError once the whole text is at hand
    """The problem at ``span``, and what is expected there instead."""

    def __init__(self, span: tuple[int, int], problem: str, expected: str = "") -> None:
        super().__init__(span, problem, expected)
        self.span = span
        self.problem = problem
        self.expected = expected


NAME = r"[^\W\d]\w*(?:\.\w+)*"
QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_SEQUENCE = rf"(?:{NAME}|{QUOTED}|\.\.\.\w+)"
_INDEX = r"\s*\[\s*(?::\s*)?-\s*[1-9]\d{0,3}\s*\]"
# Compiled when a text needs them. A quote that is not closed takes the rest of the text: to look for its end again at
# each quote in it is quadratic.
_TOKEN = (
    rf"""(?s:rank\s*\(\s*{_SEQUENCE}\s*\)|{_SEQUENCE}(?:{_INDEX})?|[0-9]+|\*\*|//|[=!<>]=|\?\w*|\.\.\.?|['"].*|\S)"""
)
_BRACKETS = rf"""(?s:{QUOTED}|[()\[\]'"])"""
_ESCAPE = r"(?s:\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.))"
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}

# Kinds of text differ in signs: a sign of another kind is an unexpected character, not an unexpected token.
COMPARISONS = frozenset(("==", "!=", "<=", ">=", "<", ">"))
OPERATORS = frozenset(("+", "-", "*", "//", "%", "**"))
_DIM_SIGNS = OPERATORS | set("():,?…") | {"..", "..."}
_SHAPE_SIGNS = _DIM_SIGNS | set("[]")
_FORMULA_SIGNS = OPERATORS | COMPARISONS | set("(),?…") | {"..."}
FORMULA_WORDS = frozenset(("and", "or", "not", "True", "False"))
RELATIONAL = COMPARISONS | FORMULA_WORDS
RELATION_CALLS = frozenset(("compatible", "each"))
MULTIPLICATIVE = frozenset(("*", "//", "%"))
CALLED = frozenset((*FUNCTIONS, "mod", "floordiv"))
END = ""
AFTER_DIM = frozenset((",", ")", "]", END))
AFTER_PRODUCT = AFTER_DIM | COMPARISONS | {"+", "-"}
_AFTER_LABEL = AFTER_DIM | OPERATORS


def check_limits(text: str, longest: int = MAX_LENGTH) -> None:
    """Reject text that is too long or too deeply nested before it is read."""
    if len(text) > longest:
        raise SyntaxFault((longest, longest + 1), f"the text is longer than {longest:,} characters")
    if text.count("(") + text.count("[") <= MAX_DEPTH:
        return
    depth = 0
    for match in re.finditer(_BRACKETS, text):
        if match[0] in "'\"":
            return  # a quote that is not closed: the reader reports it
        depth += 1 if match[0] in "([" else -1 if match[0] in ")]" else 0
        if depth > MAX_DEPTH:
            raise SyntaxFault(match.span(), f"brackets nest more than {MAX_DEPTH} deep")


def is_integer(token: str) -> bool:
    """Return whether a token is a number."""
    return "0" <= token < ":"  # not `isdecimal`, which takes digits of other scripts


def read_digits(digits: str, span: tuple[int, int]) -> int:
    """Return the value of a run of digits, unless it is absurdly long."""
    if len(digits.lstrip("0")) > _MAX_DIGITS:
        raise SyntaxFault(span, TOO_LARGE, FITS)
    return int(digits.lstrip("0") or "0")


class Tokens:
    """The tokens of a text, and the place of the next one; shapes, sizes and formulas have their own signs."""

    at = 0
    is_formula = is_shape = False
    words: frozenset[str] = frozenset()

    def __init__(self, text: str, is_formula: bool = False, longest: int = MAX_LENGTH) -> None:
        check_limits(text, longest)
        self.text = text
        self.tokens: list[str] = re.findall(_TOKEN, text)
        self.tokens += (END, END)
        if is_formula:
            self.is_formula, self.words = True, FORMULA_WORDS

    def name(self, token: str, place: int) -> str:
        """Return the name that a word or a text in quotes is."""
        if token[0] in "'\"":
            return self.unquoted(token, place)
        if not token.isascii():
            from symbcast.core.text.words import SUPERSCRIPTS

            for n, character in enumerate(token):
                if character in SUPERSCRIPTS:
                    self.check_next()
                    start = self.span(place, place + 1)[0] + n
                    problem = f"{character!r} is not allowed in a name"
                    raise SyntaxFault((start, start + 1), problem, "'**' for a power, or quotes")
        return token

    def unquoted(self, written: str, place: int) -> str:
        """Return the name between quotes; the escapes are those that ``repr`` writes."""

        def character(match: re.Match[str]) -> str:
            code = match[1]
            if len(code) == 1:
                return _CONTROLS.get(code, code)
            if int(code[1:], 16) > 0x10FFFF:
                self.fault(place, place + 1, "there is no such character")
            return chr(int(code[1:], 16))

        name = re.sub(_ESCAPE, character, written[1:-1])
        if not name:
            self.fault(place, place + 1, "a name is not empty")
        return name

    # Faults: what is accepted at the place is named by its terminals, as `corrections` describes them.

    def unexpected_operand(self, place: int) -> NoReturn:
        self.at = place
        self.unexpected("NAME", *(("NOT",) if self.may_begin_formula(place) else ()))

    def unexpected_after_size(self, *accepted: str, is_argument: bool = False) -> NoReturn:
        """Raise for a token after a size: its operators would be accepted, too."""
        tokens, at = self.tokens, self.at
        before = tokens[at - 2] if at > 1 else END
        if tokens[at - 1] == "..":
            accepted = ("INT", *accepted) if tokens[at] not in AFTER_DIM else accepted
        elif before not in ("..", ":") and tokens[at - 3 : at - 2] != [".."]:
            accepted = ("STAR", *accepted)
        is_label = self.is_label(at - 1) and before in ("(", "[", ",", END) and tokens[at] not in _AFTER_LABEL
        if is_label and not (self.is_formula or is_argument):
            accepted = ("COLON", *accepted)
        self.unexpected(*accepted)

    def unexpected_after_formula(self, closing: str) -> NoReturn:
        tokens, at = self.tokens, self.at
        if tokens[at] in (")", END):  # the formula is complete: only what closes it is missing
            self.unexpected(closing)
        comparison = ("COMPARE", "STAR") if tokens[at - 1] not in ("True", "False") else ()
        self.unexpected(closing, "AND", "OR", *comparison)

    def unexpected(self, *accepted: str) -> NoReturn:
        """Raise for the token here."""
        from symbcast.core.text.corrections import fault_at_character, fault_at_token

        span = self.span(self.at, self.at + 1)
        token = self.tokens[self.at]
        if not self.is_token(token):
            raise SyntaxFault(*fault_at_character(self.text, span[0], self.is_formula))
        raise SyntaxFault(*fault_at_token(self.text, span, self.is_plain_name(self.at), accepted))

    def fault(self, start: int, stop: int, problem: str, expected: str = "") -> NoReturn:
        """Raise for tokens that can be read, but have no meaning."""
        self.check_next()
        raise SyntaxFault(self.span(start, stop), problem, expected)

    def check_next(self) -> None:
        """Raise if a character of no token follows: that comes first."""
        if not self.is_token(self.tokens[self.at]):
            self.unexpected()

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the characters from one token to before another."""
        # Tokens are found without positions, for speed: only a text with a fault is scanned again.
        spans = [match.span() for match in re.finditer(_TOKEN, self.text)]
        end = len(self.text.rstrip())
        return (spans[start][0] if start < len(spans) else end), (spans[stop - 1][1] if stop <= len(spans) else end)

    def is_token(self, token: str) -> bool:
        """Return whether this kind of text has such a token."""
        signs = _FORMULA_SIGNS if self.is_formula else _SHAPE_SIGNS if self.is_shape else _DIM_SIGNS
        if token in signs or token == END:
            return True
        if token[0] in "'\"":
            return re.match(QUOTED, token, re.DOTALL) is not None
        # A letter of Unicode's identifiers that is no letter of words, such as U+2118, is no name.
        return re.match(r"[^\W\d]|[0-9]|\?|\.\.\.", token) is not None

    def is_plain_name(self, place: int) -> bool:
        """Return whether a token is an ordinary name."""
        token = self.tokens[place]
        is_word = (token.isascii() and token.isidentifier()) or re.fullmatch(NAME, token) is not None
        if not is_word or token in self.words or token in UNKNOWN_WORDS:
            return False
        is_called = token in CALLED or (self.is_formula and token in RELATION_CALLS)
        return not is_called or self.tokens[place + 1] != "("

    def may_begin_formula(self, place: int) -> bool:
        """Return whether a formula may begin at a token: after a word, or directly within brackets of formulas."""
        tokens = self.tokens
        if not self.is_formula:
            return False
        while place and tokens[place - 1] == "(":
            place -= 1
            if place and tokens[place - 1] == "each":
                return True
        return not place or tokens[place - 1] in ("and", "or", "not")

    def is_label(self, place: int) -> bool:
        return self.tokens[place][:1] == "?" and self.tokens[place] != "?"
