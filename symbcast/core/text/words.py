"""The words of sentences about sizes: tokens of other notations and languages, each with what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symbcast.core.structs import NamedTuple

# Characters that are not accepted, and their replacements.
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
    "\u00f7": "/",
    "\u2265": ">=",
    "\u2a7e": ">=",
    "\u2264": "<=",
    "\u2a7d": "<=",
    "\u2260": "!=",
    "\u2208": "in",
    "\u2209": "not in",
    "\u2227": "and",
    "\u2228": "or",
    "\u00ac": "not",
    "\u2223": "divides",
    "\u2224": "does not divide",
    "\u2026": "...",
    "\u221e": "inf",
    ";": ",",
    "{": "(",
    "}": ")",
}
# Digits that Python counts as word characters; in a name they are read as a power.
SUPERSCRIPTS = {character: str(n) for n, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}

# LaTeX commands; those with an empty meaning are left out.
_LATEX = {
    "le": "<=",
    "leq": "<=",
    "leqslant": "<=",
    "lt": "<",
    "ge": ">=",
    "geq": ">=",
    "geqslant": ">=",
    "gt": ">",
    "ne": "!=",
    "neq": "!=",
    "cdot": "*",
    "times": "*",
    "bmod": "mod",
    "mod": "mod",
    "pmod": "pmod",
    "land": "and",
    "wedge": "and",
    "lor": "or",
    "vee": "or",
    "neg": "not",
    "lnot": "not",
    "in": "in",
    "notin": "not in",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "max": "max",
    "min": "min",
    "frac": "frac",
    "dfrac": "frac",
    "tfrac": "frac",
    "mid": "divides",
    "nmid": "does not divide",
    "equiv": "≡",
    "implies": "implies",
    "Rightarrow": "implies",
    "iff": "iff",
    "lbrace": "{",
    "rbrace": "}",
    "left": "",
    "right": "",
    "quad": "",
    "big": "",
    "Big": "",
    "text": "",
    "mathrm": "",
    "mathit": "",
    "operatorname": "",
}
_FORTRAN = {
    "and": "and",
    "or": "or",
    "not": "not",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}

_IS_FORTRAN = r"\.(?:and|or|not|eq|ne|lt|le|gt|ge)\."
_QUOTE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PATTERNS = (
    ("latex", r"\\[A-Za-z]+|\\[{}]|\\[,;!: ]"),
    ("dropped", r"\bstd::"),
    ("name", r"[A-Za-z]+n['\u2019]t\b"),
    ("raw", rf"(?:{_QUOTE}|[^\W\d][\w.]*|\.\.\.\w+)\s*\[\s*:?\s*-\s*[1-9]\d{{0,3}}\s*\]"),
    ("raw", rf"rank\s*\(\s*(?:{_QUOTE}|[^\W\d][\w.]*|\.\.\.\w+)\s*\)"),
    ("raw", rf"{_QUOTE}|\?\w+"),
    ("fortran", _IS_FORTRAN),
    ("number", r"\d+(?:_\d+)*(?:\.(?!\.)(?![A-Za-z]{2,3}\.)\d*)?(?:[eE][-+]?\d+)?"),
    ("raised", f"[{''.join(SUPERSCRIPTS)}]+"),
    ("name", rf"[^\W\d](?:(?![{''.join(SUPERSCRIPTS)}])\w)*(?:(?!{_IS_FORTRAN})\.[^\W\d]?\w+)*"),
    ("dropped", "[\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb]"),
    ("sign", r"={2,}>|<=>|<->|===+|!==+|[<>!=]\s+=(?!=)|[<>=!~/]=|=[<>]|<>|->|<<|>>|\*\*|//|\.\.\.|\.\.|&&|\|\||::"),
    ("sign", r"\S"),
)
# What other languages write, and the sign that means it here.
_SIGNS = {
    "=": "==",
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "~=": "!=",
    "/=": "!=",
    "^": "**",
    "&&": "&",
    "||": "|",
    "!": "~",
    "==>": "implies",
    "->": "implies",
    "⇒": "implies",
    "⟹": "implies",
    "<=>": "iff",
    "<->": "iff",
    "⇔": "iff",
}
# The languages of these signs, of words in capitals and of ``.and.`` round ``/`` down.
_C_LIKE = frozenset({"&&", "||", "!", "/="})


class Token(NamedTuple):
    """A word, number or sign: what it means, and whether it directly follows the one before."""

    kind: str
    text: str
    is_adjacent: bool
    written: str


class Words(NamedTuple):
    """The tokens of a sentence; whether some are slips, which are corrected, not accepted; and whether ``/`` rounds."""

    tokens: tuple[Token, ...]
    is_slip: bool
    is_rounding: bool


def words_of(text: str) -> Words:
    r"""Return the words of a sentence.

    >>> [t.text for t in words_of("N \\le 2M && K is 3").tokens]
    ['N', '<=', '2', 'M', '&', 'K', 'is', '3']
    """
    formula = re.fullmatch(r"\s*\$(.*)\$\s*", text, re.DOTALL)  # LaTeX
    tokens = tuple(_tokens(formula[1] if formula else text))
    signs = {t.written for t in tokens if t.kind == "sign"}
    capitals = {t.text for t in tokens if t.kind == "word"} & {
        "AND",
        "OR",
        "NOT",
        "MOD",
        "BETWEEN",
        "CASE",
        "CEIL",
        "CEILING",
    }
    is_fortran = any(t.written.startswith(".") and t.written.endswith(".") and len(t.written) > 3 for t in tokens)
    is_slip = formula is not None or is_fortran or bool(capitals) or any(t.written != t.text for t in tokens)
    return Words(tokens, is_slip, is_fortran or bool(capitals) or not signs.isdisjoint(_C_LIKE))


_scanner: list[re.Pattern[str]] = []


def _tokens(text: str) -> Iterator[Token]:
    if not _scanner:  # compiled for the first text that the grammar refuses
        groups = "|".join(f"(?P<g{n}_{kind}>{pattern})" for n, (kind, pattern) in enumerate(_PATTERNS))
        _scanner.append(re.compile(groups, re.DOTALL | re.IGNORECASE))
    end = 0
    for match in _scanner[0].finditer(text):
        kind, written = (match.lastgroup or "").partition("_")[2], match[0]
        is_adjacent, end = match.start() == end, match.end()
        for n, (of, word) in enumerate(_meanings(kind, written)):
            yield Token(of, word, is_adjacent and not n, written)


def _meanings(kind: str, written: str) -> list[tuple[str, str]]:
    """Return the kinds and texts of the tokens that are meant by one."""
    match kind:
        case "latex":
            plain = {"\\{": "{", "\\}": "}"}.get(written, "") or _LATEX.get(written[1:], written[:1].strip("\\$ "))
            return _plain(plain) if written[1:] in _LATEX or plain else _unknown(written)
        case "fortran":
            return _plain(_FORTRAN[written[1:-1].casefold()])
        case "raised":
            return [("sign", "**"), ("number", "".join(SUPERSCRIPTS[c] for c in written))]
        case "dropped":
            return []
        case "name":
            return [("word", written.replace("\u2019", "'"))]
        case "number":
            return [("number", written.replace("_", ""))]
        case "sign":
            squeezed = "".join(written.split())
            if len(squeezed) > 2 and not squeezed.strip("=!"):
                squeezed = squeezed[:2]
            plain = _SIGNS.get(squeezed, squeezed)
            return _plain(plain if written in "{}" else LOOKALIKES.get(plain, plain))
    return [(kind, written)]


def _unknown(written: str) -> list[tuple[str, str]]:
    return [] if written in ("\\,", "\\;", "\\!", "\\:", "\\ ") else [("sign", written)]


def _plain(plain: str) -> list[tuple[str, str]]:
    """Return tokens for words and signs."""
    return [("word" if part[0].isalpha() else "sign", part) for part in plain.split()]
