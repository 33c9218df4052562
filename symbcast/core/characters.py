"""Text for display: printable, not too long, names and sizes as written, lists in prose.

Names within LaTeX formulas are shown as plain text whatever they contain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

# Longer names are compared with none: it takes time in the square of the length.
_LONGEST_NAME = 200
# Compiled when a name that is not an ASCII identifier is shown: this takes a while.
_PLAIN = r"(?!.*[⁰¹²³⁴-⁹])([^\W\d]\w*(\.\w+)*|(\?|\.\.\.)\w+)"


def visible(text: str) -> str:
    r"""Return a text on one line, with every character that does not print as itself escaped as in Python.

    So line breaks do not break a line, and characters that change the direction of writing have no effect.

    >>> print(visible("N" + chr(10) + "M" + chr(0x202E)))
    N\nM\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shorten_end(text: str, width: int) -> str:
    """Return a text, with its end left out if it is longer than ``width``.

    >>> shorten_end("abcdefghijklmnop", 9)
    'abcdef...'
    """
    return text if len(text) <= width else f"{text[: width - 3]}..."


def quoted_name(name: str) -> str:
    """Return a name as formulas have it: quoted if it is not a plain identifier."""
    return name if (name.isascii() and name.isidentifier()) or re.fullmatch(_PLAIN, name) else repr(name)


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that another one is probably a misspelling of, None if none is similar.

    >>> closest("bacth", ["seq", "batch"]), closest("n", ["M", "N"]), closest("x", ["M", "N"])
    ('batch', 'N', None)
    """
    if len(name) > _LONGEST_NAME:
        return None
    from difflib import get_close_matches  # for messages only

    known = list(names)
    same = [other for other in known if other.casefold() == name.casefold()]
    return next(iter(same or get_close_matches(name, known, 1)), None)


def shorten_middle(text: str, width: int) -> str:
    """Return a text, with its middle left out if it is longer than ``width``.

    >>> shorten_middle("abcdefghijklmnop", 9)
    'abc...nop'
    """
    if len(text) <= width:
        return text
    front = (width - 2) // 2
    return f"{text[:front]}...{text[len(text) - (width - 3 - front) :]}"


def prose_list(texts: Sequence[str], word: str = "and", limit: int = 12) -> str:
    """Return texts as a list in prose, with the middle ones left out if there are many.

    >>> prose_list(["a", "b", "c"]), prose_list([str(n) for n in range(9)], "or", 4)
    ('a, b and c', '0, 1, ... (5 more), 7 or 8')
    """
    texts = elided(texts, limit)
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def elided(texts: Sequence[str], limit: int) -> list[str]:
    """Return texts, with the middle ones replaced by their number if there are more than ``limit``; never just one."""
    half = limit // 2
    if len(texts) <= max(limit, 2 * half + 1):
        return list(texts)
    return [*texts[:half], f"... ({len(texts) - 2 * half} more)", *texts[len(texts) - half :]]


def parts_of_list(text: str) -> list[str]:
    """Return the items of a list written as text: divided by commas, semicolons or spaces outside brackets.

    >>> parts_of_list("numpy, pdpd(axis=1)")
    ['numpy', 'pdpd(axis=1)']
    """
    return [part for part in re.split(r"[\s,;]+(?![^(\[]*[)\]])", text.strip(" ,;[]")) if part]


def number_hint(name: str, value: object, otherwise: str) -> str:
    """Return what to write for a number that was given as text; ``otherwise`` if the text holds none.

    >>> number_hint("limit", "5", "write 1 or more"), number_hint("limit", "all", "write 1 or more")
    ('write limit=5', 'write 1 or more')
    """
    match = re.fullmatch(r"\s*([0-9]{1,18})\s*", value, re.ASCII) if isinstance(value, str) else None
    return f"write {name}={int(match[1])}" if match else otherwise


def sizes_text(sizes: Mapping[str, int], limit: int = 8) -> str:
    """Return sizes by name; if there are many, the commonest size is given once for all names that have it.

    >>> sizes_text({"N": 2, "a b": 3}), sizes_text({"N": 1, "M": 1, "K": 2}, 2)
    ("N=2, 'a b'=3", 'K=2, the 2 others 1')
    """
    shown, others = telling_sizes(sizes, limit)
    texts = [f"{quoted_name(name)}={size}" for name, size in shown.items()]
    return ", ".join([*(elided(texts, 6) if others else texts), *([others] if others else [])])


def telling_sizes(sizes: Mapping[str, int], limit: int = 8) -> tuple[Mapping[str, int], str]:
    """Return the sizes to name and a phrase for the others; if there are many, those of the commonest size.

    >>> telling_sizes({"N": 1, "M": 1, "K": 2}, 2)
    ({'K': 2}, 'the 2 others 1')
    """
    if len(sizes) <= limit:
        return sizes, ""
    common, count = Counter(sizes.values()).most_common(1)[0]
    distinct = {name: size for name, size in sizes.items() if size != common}
    return distinct, f"the {count} others {common}" if distinct else f"all {count} sizes {common}"


# Text within LaTeX formulas.


# How many characters of one text are shown.
LONGEST = 200

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
_PIECES = "([" + "".join(f"\\{c}" for c in _SPECIAL) + "]|(?<= ) )"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*"


def text_latex(content: str, longest: int = LONGEST) -> str:
    r"""Return text for use within a formula.

    >>> print(text_latex("50% of a_b"))
    \text{50}\%\text{ of a}\_\text{b}
    """
    pieces = re.split(_PIECES, visible(shorten_end(content, longest)))
    return "".join(
        _SPECIAL.get(piece) or (r"\ " if piece == " " else rf"\text{{{piece}}}") for piece in pieces if piece
    )


def name_latex(name: str) -> str:
    r"""Return the name of a size: a letter in math italics, a longer name upright, quoted if text requires quotes.

    >>> print(name_latex("N"), name_latex("max_len"), name_latex("alpha"), name_latex("a b"))
    N \mathrm{max\_len} \mathrm{alpha} \text{'a b'}
    """
    if len(name) == 1 and name.isascii() and name.isalpha():
        return name
    if re.fullmatch(_WORD, name) and len(name) <= LONGEST:
        return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"
    latex = text_latex(quoted_name(name))
    return latex if latex.count("\\") == 1 else f"{{{latex}}}"


def near_file(path: str) -> str:
    """Return the file of the same folder whose name is close to a path that does not exist; empty if none is."""
    from pathlib import Path  # slow to load, and needed for a message only

    try:
        names = sorted(entry.name for entry in Path(path).parent.iterdir())
    except OSError:
        return ""
    name = Path(path).name
    same = [n for n in names if Path(n).stem == name]
    near = same[0] if len(same) == 1 else closest(name, names)
    return str(Path(path).parent / near) if near else ""
