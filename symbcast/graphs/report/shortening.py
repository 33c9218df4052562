"""Aliases in what people read: texts and documents with short names of sizes, and what the names stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.show.document import (
    Block,
    Document,
    Field,
    Fields,
    Line,
    Lines,
    Records,
    Row,
    Sizes,
    Span,
    Table,
    field,
    whole,
)
from symbcast.core.characters import quoted

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_LINES = 4
"""How many names have a line of the legend each; more share its lines."""


class Shortener:
    """Replaces the names of sizes by their aliases.

    Names are replaced in texts as well as in formulas, because requirements, fixes and assumptions are texts by then.
    A part of a longer name or of a path is another name.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._names = aliases
        self._aliases = {quoted(name): alias for alias, name in aliases.items()}

    def namer(self, names: Mapping[Symbol, str]) -> Namer:
        """Return a namer that writes aliases."""
        short = {name: alias for alias, name in self._names.items()}
        return Namer.of({s: short.get(name, name) for s, name in names.items()})

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        names = "|".join(map(re.escape, sorted(self._aliases, key=len, reverse=True)))
        return re.compile(rf"(?<![\w.])(?<!(?<!/)/)(?:{names})(?!\w|\.\w|/(?!/))")

    def text(self, text: str) -> str:
        """Return a text with aliases."""
        return self._pattern.sub(lambda found: self._aliases[found[0]], text) if self._aliases else text

    def legend(self, texts: Iterable[str]) -> list[str]:
        """Return what each of the aliases in some texts stands for: ``H = p2o.DynamicDimension.2``."""
        met = {word for text in texts for word in re.findall(r"(?<![\w.])\w+", text)}
        return [f"{alias} = {quoted(name)}" for alias, name in self._names.items() if alias in met]

    def document(self, document: Document) -> Document:
        """Return a document with aliases, and their legend at its end."""
        if not self._aliases:
            return document
        made = document.replace(blocks=tuple(map(self._block, document.blocks)))
        legend = self.legend(span.text for line in _lines(made) for span in line)
        lines = legend if len(legend) <= _LINES else [", ".join(legend)]
        return made.replace(blocks=(*made.blocks, Fields((field("names", *map(whole, lines)),)))) if legend else made

    def _block(self, block: Block) -> Block:
        match block:
            case Fields(found):
                return Fields(tuple(map(self._field, found)))
            case Records(_, _, records):
                return block.replace(records=tuple(tuple(map(self._field, record)) for record in records))
            case Lines(lines):
                return block.replace(lines=tuple(map(self._line, lines)))
            case Table(_, rows):
                return block.replace(rows=tuple(map(self._row, rows)))

    def _row(self, row: Row) -> Row:
        return row._replace(label=self.text(row.label), cells=self._line(row.cells))

    def _field(self, found: Field) -> Field:
        return found._replace(lines=tuple(map(self._line, found.lines)))

    def _line(self, line: Line) -> Line:
        return tuple(map(self._span, line))

    def _span(self, span: Span) -> Span:
        math = span.math
        if isinstance(math, Sizes):
            math = Sizes({self._aliases.get(quoted(name), name): size for name, size in math.values.items()})
        return span._replace(text=self.text(span.text), math=math)


def _lines(document: Document) -> Iterator[Line]:
    """Yield the lines of all blocks."""
    for block in document.blocks:
        match block:
            case Fields(found):
                yield from (line for f in found for line in f.lines)
            case Records(_, _, records):
                yield from (line for record in records for f in record for line in f.lines)
            case Lines(lines):
                yield from lines
            case Table(_, rows):
                yield from (row.cells for row in rows)
