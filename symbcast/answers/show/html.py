"""Documents as static HTML: no script, no style sheet, no external resources, for light and dark pages.

A page that holds them may have styles for tables and code (JupyterLab has), or strip all styles (GitHub does). So
each element carries its own style, and without any style the words and tables are still complete.

Colours are Okabe and Ito's (https://jfly.uni-koeln.de/color/), distinct for all kinds of colour vision. None is used
alone: wherever one is used, a mark or a word has the same meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from symbcast.answers.show import document as doc
from symbcast.core.characters import visible

FINE = "#009E73"
CONDITIONAL = "#E69F00"
IMPOSSIBLE = "#D55E00"
UNDECIDED = "#7F7F7F"

# The colours of different failures in pictures: neighbours are as distinct as possible.
FAILURES = (IMPOSSIBLE, "#0072B2", "#F0E442", "#CC79A7", CONDITIONAL, "#56B4E9")

COLOURS = {
    doc.Tone.FINE: FINE,
    doc.Tone.CONDITIONAL: CONDITIONAL,
    doc.Tone.IMPOSSIBLE: IMPOSSIBLE,
    doc.Tone.UNDECIDED: UNDECIDED,
}


def tint(colour: str, opacity: float) -> str:
    """Return a colour as translucent CSS, which suits light and dark pages.

    >>> tint(FINE, 0.2)
    'rgba(0,158,115,0.2)'
    """
    return f"rgba({channels(colour)},{opacity:g})"


def channels(colour: str) -> str:
    """Return the red, green and blue of a colour, in CSS notation.

    >>> channels(FINE)
    '0,158,115'
    """
    return ",".join(str(int(colour[n : n + 2], 16)) for n in (1, 3, 5))


# The colour of thin lines.
RULE = "rgba(127,127,127,.4)"

MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
# Isolated, so that right-to-left names do not reorder the text around them.
_ISOLATED = "unicode-bidi:isolate"
_PLAIN = "background:transparent;color:inherit;border:0"
_TABLE = f"{_PLAIN};width:auto;margin:0;table-layout:auto;font-size:inherit;line-height:inherit"
_CELL = f"{_PLAIN};line-height:1.5;max-width:none"
_CODE = f"{_PLAIN};{MONO};font-size:.95em;padding:0;white-space:pre-wrap;overflow-wrap:anywhere;{_ISOLATED}"
_CHIP = f"{MONO};font-size:.95em;padding:0 6px"
_FAINT = "opacity:.75"
_ABOVE = f"border-top:1px solid {RULE}"

_FIELD_LABEL = f"padding:2px 16px 2px 0;text-align:left;vertical-align:top;white-space:nowrap;{_FAINT}"
_FIELD_BODY = "padding:2px 0;text-align:left;vertical-align:top;white-space:normal;overflow-wrap:anywhere"
_RECORD = (
    "padding:4px 18px 4px 0;text-align:left;vertical-align:top;white-space:normal;min-width:7em"
    f";border-bottom:1px solid {RULE}"
)
_ROW_LABEL = "padding:1px 12px 1px 0;text-align:left;vertical-align:baseline;white-space:nowrap"
_ALIGNED = f"padding:1px 10px;vertical-align:baseline;white-space:pre;{_ISOLATED};{MONO};font-size:.95em"


def render(document: doc.Document) -> str:
    """Return a document as HTML to embed in a page, with the colour of its tone along its side.

    >>> render(doc.Document((), None, (doc.Lines((doc.words("1 < 2"),)),)))
    '<div style="line-height:1.5;text-align:left"><div>1 &lt; 2</div></div>'
    """
    inner = "".join((_title(document.title), *map(_block, document.blocks)))
    if document.tone is None:
        return element("div", inner, "line-height:1.5;text-align:left")
    edge = f"border-left:4px solid {COLOURS[document.tone]};padding:2px 0 2px 14px;margin:2px 0;line-height:1.5"
    return element("div", inner, f"{edge};text-align:left")


def text(content: str) -> str:
    r"""Return text as HTML, for an element or an attribute, so that all of it is displayed literally.

    >>> print(text("a < b" + chr(0x202E)))
    a &lt; b\u202e
    """
    return escape(visible(content))


def element(tag: str, inner: str, style: str = "", **attributes: str) -> str:
    """Return an element around HTML; ``attributes`` are text, with hyphens written as underscores in names.

    >>> element("td", "3", colspan="2")
    '<td colspan="2">3</td>'
    """
    styled = {"style": style, **attributes} if style else attributes
    written = "".join(f' {name.replace("_", "-")}="{text(value)}"' for name, value in styled.items())
    return f"<{tag}{written}>{inner}</{tag}>"


def _title(title: doc.Line) -> str:
    inner = "".join(element("strong", text(s.text)) if s.is_code else text(s.text) for s in title)
    return element("div", inner, "margin:0 0 6px") if title else ""


def _block(block: doc.Block) -> str:
    match block:
        case doc.Fields(entries):
            rows = [_row((_head(f.label, _FIELD_LABEL, "row"), _cell(_lines(f), _FIELD_BODY))) for f in entries]
            return _table(rows, "the answer", "border-collapse:collapse;max-width:100%") if rows else ""
        case doc.Records():
            return _records(block)
        case doc.Lines(lines, is_set_in, is_faint):
            styles = ["margin:0 0 0 2em"] * is_set_in + [_FAINT] * is_faint
            return "".join(element("div", _line(line), ";".join(styles)) for line in lines)
        case doc.Table():
            return _aligned(block)


def _records(block: doc.Records) -> str:
    """Return records as a table with column heads, without empty columns."""
    columns = [n for n in range(len(block.heads)) if any(len(r) > n and r[n].lines for r in block.records)]
    heads = [_head(block.heads[n], f"{_RECORD};white-space:nowrap;{_FAINT}", "col") for n in columns]
    rows = [[_cell(_lines(r[n]) if len(r) > n else "", _RECORD) for n in columns] for r in block.records]
    table = _table(map(_row, (heads, *rows)), block.name, "border-collapse:collapse")
    return _scrolling(table, "margin:0 0 8px") if rows else ""


def _aligned(block: doc.Table) -> str:
    heads = [n for n, row in enumerate(block.rows) if row.part is doc.Part.HEAD]
    rows = (_aligned_row(block, row, is_first=n in heads[:1]) for n, row in enumerate(block.rows))
    # The spacing precedes the first column, too: undo it there.
    table = _table(rows, block.name, "border-collapse:separate;border-spacing:3px 0")
    legend = ", ".join(f"{_span(mark)} {text(meaning)}" for mark, meaning in block.legend)
    below = element("div", legend, "margin:-4px 0 8px") if legend else ""
    return f"{_scrolling(table, 'margin:0 0 8px -3px')}{below}"


def _aligned_row(block: doc.Table, row: doc.Row, is_first: bool) -> str:
    cells = [_head(row.label, _ROW_LABEL, "row")]
    for n in range(block.columns):
        span = row.cell(n)
        style = f"{_ALIGNED};text-align:{'left' if block.alignment(n) == 'l' else 'right'}"
        if row.part is doc.Part.HEAD:
            cells.append(
                _head(span.text, f"{style};{_FAINT}", "col")
                if is_first
                else _cell(text(span.text), f"{style};{_FAINT}")
            )
            continue
        above = f";{_ABOVE}" if row.part in (doc.Part.RESULT, doc.Part.MARKS) and span.tone is not None else ""
        cells.append(_cell(text(span.text), f"{style}{_ground(span.tone)}{above}"))
    return _row(cells)


def _lines(field: doc.Field) -> str:
    return "<br>".join(map(_line, field.lines))


def _line(line: doc.Line) -> str:
    return "".join(map(_span, line))


def _span(span: doc.Span) -> str:
    whole = {"title": span.whole} if span.whole else {}
    if span.tone is not None:
        return element("span", text(span.text), f"{_CHIP}{_ground(span.tone)}", **whole)
    if span.is_code:
        return element("code", text(span.text), _CODE, **whole) if span.text else ""
    return element("span", text(span.text), **whole) if whole else text(span.text)


def _ground(tone: doc.Tone | None) -> str:
    """Return a background style for a tone, on which text in the page's own colour is readable."""
    return "" if tone is None else f";background:{tint(COLOURS[tone], 0.24)}"


def _table(rows: Iterable[str], name: str, style: str) -> str:
    return element("table", "".join(rows), f"{_TABLE};{style}", aria_label=name)


def _row(cells: Sequence[str] | Iterator[str]) -> str:
    # No background, even if the page colours every other row.
    return element("tr", "".join(cells), _PLAIN)


def _cell(inner: str, style: str) -> str:
    return element("td", inner, f"{_CELL};{style}")


def _head(content: str, style: str, scope: str) -> str:
    return element("th", text(content), f"{_CELL};font-weight:inherit;{style}", scope=scope)


def _scrolling(inner: str, style: str) -> str:
    """Wrap content that may be wider than the page, so that only it scrolls."""
    return element("div", inner, f"overflow-x:auto;max-width:100%;{style}")
