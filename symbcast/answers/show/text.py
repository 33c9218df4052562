"""Documents as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from symbcast.answers.show.document import Block, Document, Field, Fields, Lines, Part, Records, Row, Table, plain
from symbcast.core.characters import shorten_end, visible

LABEL = 13
"""How wide the labels of fields are, with the space behind them."""
WIDTH = 100
"""Lines of fields are wrapped at this width if no other is asked for."""
CELL = 60
"""A wider cell of a table continues below."""


def render(document: Document, width: int = WIDTH, indent: int = 2) -> str:
    """Return a document as text; lines are wrapped at ``width``, not at all if it is 0; ``indent`` is that of tables.

    >>> from symbcast.answers.show.document import code, field, fields, heading
    >>> print(render(Document(heading("numpy", "valid"), None, (fields([field("works at", code("N=1"))]),))))
    numpy: valid
    <BLANKLINE>
    works at     N=1
    """
    lines = [visible(plain(document.title)), ""] if document.title else []
    before: Block | None = None
    for block in document.blocks:
        lines += [""] if isinstance(before, Table) and not isinstance(block, Lines) else []
        lines += _block(block, width, indent)
        before = block
    return "\n".join(lines).rstrip()


def message(document: Document) -> str:
    """Return a document as the message of an exception, without blank lines."""
    lines = [visible(plain(document.title))]
    for block in document.blocks:
        lines += _block(block, 0, 4)
    return "\n".join(lines)


def _block(block: Block, width: int, indent: int) -> Iterator[str]:
    match block:
        case Fields(entries):
            for field in entries:
                yield from _field(field, width)
        case Records(_, _, records):
            for record in records:
                for field in record:
                    yield from _field(field, width)
        case Lines(lines, is_set_in):
            before = "    " if is_set_in else ""
            texts = [visible(plain(line)) for line in lines]
            yield from (f"{before}{part}" for text in texts for part in _wrapped(text, width and width - len(before)))
        case Table():
            yield from _table(block, indent)


def field_texts(field: Field) -> list[str]:
    """Return the lines of a field as text, with the lead of the first one."""
    return [visible(f"{'' if n else field.lead}{plain(line)}") for n, line in enumerate(field.lines)]


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines that are at most ``width`` wide, or as one line if that is 0."""
    if len(text) <= width and text.isprintable() and text == text.strip():
        return [text]  # as `wrap` would, which takes a hundred times as long
    from textwrap import wrap

    return wrap(text, width, break_on_hyphens=False) or [text] if width else [text]


def _field(field: Field, width: int) -> Iterator[str]:
    parts = field_texts(field)
    if width:
        room = width - LABEL
        parts = [part for text in parts for part in _wrapped(text, room)]
        if field.most and len(parts) > field.most:
            parts = [*parts[: field.most - 1], shorten_end(" ".join(parts[field.most - 1 :]), room)]
    for number, part in enumerate(parts):
        yield f"{'' if number else field.label:<{LABEL}}{part}"


def _table(table: Table, indent: int) -> Iterator[str]:
    parts: list[Part] = []
    lines: list[tuple[str, Sequence[str]]] = []
    for row in table.rows:
        row_lines = _row_lines(row)
        lines += row_lines
        parts += [row.part] * len(row_lines)
    texts = aligned(lines, table.align, indent)
    if not table.legend:
        yield from texts
        return
    legend = table.legend_text
    for part, text in zip(parts, texts, strict=True):
        yield f"{text}    {legend}" if part is Part.MARKS else text
    if Part.MARKS not in parts:
        yield f"{' ' * indent}{legend}"


def _row_lines(row: Row) -> list[tuple[str, Sequence[str]]]:
    """Return the label and the cells of each line of a row; cells that are too wide continue below."""
    label, texts = "" if row.part is Part.MARKS else row.label, [cell.text for cell in row.cells]
    together = "".join(texts)
    if together.isprintable() and (len(together) <= CELL or max(map(len, texts)) <= CELL):
        return [(label, texts)]
    first, *below = zip_longest(*[_wrapped(text, CELL) for text in texts], fillvalue="")
    return [(label, first), *[("", cells) for cells in below]]


def aligned(rows: Sequence[tuple[str, Sequence[str]]], align: str = "", indent: int = 2) -> list[str]:
    """Return labels and cells as lines, with labels at the left and cells aligned by column.

    >>> aligned([("A", ("2", "N")), ("long", ("", "13"))])
    ['  A     2   N', '  long     13']
    """
    if not rows:
        return []
    before, width = " " * indent, max([len(label) for label, _ in rows])
    columns = [[before + label.ljust(width) for label, _ in rows]]
    for n, column in enumerate(zip_longest(*[cells for _, cells in rows], fillvalue="")):
        width = max([len(text) for text in column])
        is_right = align[n : n + 1] in ("", "r")
        columns.append([text.rjust(width) if is_right else text.ljust(width) for text in column])
    return ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
