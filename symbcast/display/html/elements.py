"""The pieces that pages are made of: text made safe, elements with styles of their own, and what they look like.

A page that holds them may have styles for tables and code (JupyterLab has), or take all styles away (GitHub does). So
each element says all that it needs itself, and without any style the words and the tables still say everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from symbcast.characters import clipped, visible
from symbcast.display.palette import CONDITIONAL, FINE, IMPOSSIBLE, UNDECIDED, tint
from symbcast.verdicts import Verdict

LONGEST = 400
"""How many characters of one text are shown."""

RULE = "rgba(127,127,127,.4)"
"""The colour of thin lines."""

COLOURS = {
    Verdict.ALWAYS: FINE,
    Verdict.SOMETIMES: CONDITIONAL,
    Verdict.NEVER: IMPOSSIBLE,
    Verdict.UNKNOWN: UNDECIDED,
}

MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
ISOLATED = "unicode-bidi:isolate"
_PLAIN = "background:transparent;color:inherit;border:0"
_TABLE = f"{_PLAIN};width:auto;margin:0;table-layout:auto;font-size:inherit;line-height:inherit"
_CELL = f"{_PLAIN};line-height:1.5;max-width:none"


def text(content: str, longest: int = LONGEST) -> str:
    r"""Return text as HTML, in an element or an attribute: clipped, and all of it to be seen as it is.

    >>> print(text("a < b" + chr(0x202E)))
    a &lt; b\u202e
    """
    return escape(visible(clipped(content, longest)))


def code(content: str, longest: int = LONGEST) -> str:
    """Return a formula, a shape or a name as HTML."""
    # Isolated, so that names written from right to left do not turn what stands around them.
    style = f"{_PLAIN};{MONO};font-size:.95em;padding:0;white-space:pre-wrap;overflow-wrap:anywhere;{ISOLATED}"
    return element("code", text(content, longest), style)


def element(tag: str, inner: str, style: str = "", **attributes: str) -> str:
    """Return an element around HTML; ``attributes`` are text, an underscore in a name stands for a hyphen.

    >>> element("td", "3", colspan="2")
    '<td colspan="2">3</td>'
    """
    given = {"style": style, **attributes} if style else attributes
    written = "".join(f' {name.replace("_", "-")}="{text(value)}"' for name, value in given.items())
    return f"<{tag}{written}>{inner}</{tag}>"


def table(rows: Iterable[str], label: str, style: str = "") -> str:
    """Return a table of rows; ``label`` says what it shows to those who do not see it."""
    return element("table", "".join(rows), f"{_TABLE};{style}", aria_label=label)


def row(cells: Iterable[str]) -> str:
    """Return a row; it has no ground of its own, even where the page gives every other row one."""
    return element("tr", "".join(cells), _PLAIN)


def cell(inner: str, style: str, tag: str = "td", **attributes: str) -> str:
    """Return a cell; of tag ``th`` it heads its row or column, which ``scope`` tells."""
    weight = "font-weight:inherit;" if tag == "th" else ""
    return element(tag, inner, f"{_CELL};{weight}{style}", **attributes)


def scrolling(inner: str, style: str = "margin:0") -> str:
    """Return what may be wider than the page, so that it alone scrolls."""
    return element("div", inner, f"overflow-x:auto;max-width:100%;{style}")


def heading(subject: str, verdict: str) -> str:
    """Return the first line of an answer: what it is about, and the verdict in words."""
    return element("div", f"{element('strong', text(subject))}: {text(verdict)}", "margin:0 0 6px")


def answer(verdict: Verdict, *parts: str) -> str:
    """Return a whole answer, with the colour of its verdict down its side."""
    edge = f"border-left:4px solid {COLOURS[verdict]};padding:2px 0 2px 14px;margin:2px 0;line-height:1.5"
    return element("div", "".join(parts), f"{edge};text-align:left")


def ground(colour: str) -> str:
    """Return the style of a ground of a colour, on which text of the page's own colour can be read."""
    return f"background:{tint(colour, 0.24)}"
