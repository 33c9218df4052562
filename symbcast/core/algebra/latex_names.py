"""Names and other text within LaTeX formulas, shown as plain text whatever they contain."""

from __future__ import annotations

import re

from symbcast.core.characters import clipped, quoted, visible

LONGEST = 200
"""How many characters of one text are shown."""

# MathJax reads no escapes in \text, and LaTeX requires them there: so special characters stand outside it, as formulas.
_SPECIAL = {
    "\\": r"\backslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "_": r"\_",
    "^": r"{\wedge}",
    "~": r"{\sim}",
    "<": "{<}",
    ">": "{>}",
    "|": "{|}",
    "`": r"\text{`}",  # two in a row, like two hyphens, become another character
    "-": r"\text{-}",
}
# TeX would merge a space with the one before it.
_PIECES = re.compile("([" + re.escape("".join(_SPECIAL)) + "]|(?<= ) )")
_LETTER = re.compile("[A-Za-z]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*")


def text_latex(content: str, longest: int = LONGEST) -> str:
    r"""Return text for use within a formula.

    >>> print(text_latex("50% of a_b"))
    \text{50}\%\text{ of a}\_\text{b}
    """
    pieces = _PIECES.split(visible(clipped(content, longest)))
    return "".join(
        _SPECIAL.get(piece) or (r"\ " if piece == " " else rf"\text{{{piece}}}") for piece in pieces if piece
    )


def name_latex(name: str) -> str:
    r"""Return the name of a size: a letter in math italics, a longer name upright, quoted if text requires quotes.

    >>> print(name_latex("N"), name_latex("max_len"), name_latex("alpha"), name_latex("a b"))
    N \mathrm{max\_len} \mathrm{alpha} \text{'a b'}
    """
    if _LETTER.fullmatch(name):
        return name
    if _WORD.fullmatch(name) and len(name) <= LONGEST:
        return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"
    latex = text_latex(quoted(name))
    return latex if latex.count("\\") == 1 else f"{{{latex}}}"
