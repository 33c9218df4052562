"""Documents on a terminal, at its width and in its colours: laid out and drawn by Rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table as Grid
from rich.text import Text

from symbcast.answers.show import document as doc
from symbcast.core.characters import visible

STYLES = {
    doc.Tone.FINE: "green",
    doc.Tone.CONDITIONAL: "yellow",
    doc.Tone.IMPOSSIBLE: "red",
    doc.Tone.UNDECIDED: "magenta",
}
# On a terminal with fewer columns, the lines of a field are below its label.
NARROW = 60
_GAP = 2
_LEGEND_GAP = 4


def draw(document: doc.Document, console: Console, indent: int = 2) -> None:
    """Draw a document: words are wrapped, and a table that is too wide continues below."""
    drawing = _TerminalDrawing(console, indent)
    for renderable in drawing.parts(document):
        for line in console.render_lines(renderable, pad=False):
            console.print(Segments([*_stripped(line), Segment.line()]), end="", soft_wrap=True)


def _stripped(line: Sequence[Segment]) -> list[Segment]:
    """Return a line without the trailing spaces that a grid adds."""
    rest = list(line)
    while rest:
        last = rest.pop()
        text = last.text.rstrip()
        if text:
            return [*rest, Segment(text, last.style)]
    return rest


class _TerminalDrawing:
    """Builds the renderables for Rich."""

    def __init__(self, console: Console, indent: int) -> None:
        self._console = console
        self._indent = indent

    def parts(self, document: doc.Document) -> list[RenderableType]:
        """Return the blocks in order."""
        tone = "" if document.tone is None else f" {STYLES[document.tone]}"
        parts: list[RenderableType] = []
        if document.title:
            parts += [self._text(doc.plain(document.title), f"bold{tone}"), Text("")]
        before: doc.Block | None = None
        for block in document.blocks:
            parts += [Text("")] if isinstance(before, doc.Table) and not isinstance(block, doc.Lines) else []
            parts += self._block(block)
            before = block
        while parts and isinstance(parts[-1], Text) and not parts[-1]:
            parts.pop()
        return parts

    def _text(self, content: str, style: str = "") -> Text:
        """Return words in a style, with characters that the terminal cannot encode as escapes."""
        encoding = self._console.encoding
        return Text(visible(content).encode(encoding, "backslashreplace").decode(encoding), style, overflow="fold")

    def _block(self, block: doc.Block) -> Iterator[RenderableType]:
        match block:
            case doc.Fields(entries):
                yield from self._fields(entries)
            case doc.Records(_, _, records):
                yield from self._fields([field for record in records for field in record])
            case doc.Lines(lines, is_set_in, is_faint):
                for line in lines:
                    yield _set_in(self._text(doc.plain(line), "dim" if is_faint else ""), 4 if is_set_in else 0)
            case doc.Table():
                yield from self._tables(block)

    def _fields(self, entries: Sequence[doc.Field]) -> Iterator[RenderableType]:
        """Yield labels with their lines next to them, or below them if the terminal is narrow."""
        is_narrow = self._console.width < NARROW
        grid = Grid.grid()
        grid.add_column(min_width=doc.LABEL, max_width=doc.LABEL, overflow="fold")
        grid.add_column(overflow="fold")
        for field in entries:
            for n, content in enumerate(doc.field_texts(field)):
                label, text = self._text("" if n else field.label, "bold"), self._text(content)
                if is_narrow:
                    yield from ([label] if label else [])
                    yield _set_in(text, _GAP)
                else:
                    grid.add_row(label, text)
        if grid.row_count:
            yield grid

    # Tables.

    def _tables(self, table: doc.Table) -> Iterator[RenderableType]:
        """Yield a table, split into several that fit the terminal if it is too wide."""
        if not table.rows:
            return
        room = self._console.width - self._indent
        labels = min(max(self._width(row.label) for row in table.rows if row.part is not doc.Part.MARKS), room // 2)
        widest = [max(self._width(row.cell(n).text) for row in table.rows) for n in range(table.columns)]
        widths = [min(width, room - labels - _GAP) for width in widest]
        runs = list(_fitting(widths, room - labels))
        used = labels + sum(width + _GAP for width in widths)
        legend = self._legend(table)
        has_marks = any(row.part is doc.Part.MARKS for row in table.rows)
        is_beside = has_marks and len(runs) == 1 and used + _LEGEND_GAP + legend.cell_len <= room
        for number, run in enumerate(runs):
            yield from [Text("")] if number else []
            yield self._grid(table, labels, {n: widths[n] for n in run}, legend if is_beside else Text(""))
        if legend and not is_beside:
            yield _set_in(legend, self._indent)

    def _grid(self, table: doc.Table, labels: int, widths: dict[int, int], legend: Text) -> RenderableType:
        grid = Grid.grid()
        grid.add_column(width=self._indent + labels)
        for n, width in widths.items():
            grid.add_column(width=width + _GAP, justify="left" if table.alignment(n) == "l" else "right")
        grid.add_column(width=_LEGEND_GAP + legend.cell_len if legend else 0)
        for row in table.rows:
            is_marks = row.part is doc.Part.MARKS
            style = "bold" if row.part is doc.Part.HEAD else ""
            label = _set_in(self._text("" if is_marks else row.label, style), self._indent)
            cells = [_set_in(self._toned(row.cell(n), style), _GAP) for n in widths]
            grid.add_row(label, *cells, _set_in(legend, _LEGEND_GAP) if is_marks and legend else Text(""))
        return grid

    def _legend(self, table: doc.Table) -> Text:
        legend = Text(overflow="fold")
        for number, (mark, meaning) in enumerate(table.legend):
            legend.append(", " if number else "")
            legend.append_text(self._toned(mark, ""))
            legend.append(f" {meaning}")
        return legend

    def _toned(self, span: doc.Span, style: str) -> Text:
        """Return a mark in the colour of its tone; sizes are unchanged, since their marks are below them."""
        return self._text(span.text, style if span.tone is None or span.is_code else STYLES[span.tone])

    def _width(self, content: str) -> int:
        return self._text(content).cell_len


def _set_in(renderable: RenderableType, indent: int) -> RenderableType:
    return Padding(renderable, (0, 0, 0, indent))


def _fitting(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield runs of columns that fit side by side: at least one run, even if empty."""
    run: list[int] = []
    used = 0
    for n, width in enumerate(widths):
        if run and used + width + _GAP > room:
            yield run
            run, used = [], 0
        run.append(n)
        used += width + _GAP
    yield run
