"""The content of an answer as data: makers build documents from answers; renderers know only documents.

A document is made of lines, and a line of spans. A span holds text and, if that is a formula, a shape or sizes, also
the formula, shape or sizes, for renderers that typeset mathematics. Makers decide how much to say, and cut long parts
other than conditions; renderers lay out all of it. The renderer as plain text is here too.

Shapes and conditions are short documents of their own. A `Shortener` writes aliases for long names of sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from itertools import zip_longest
from typing import TypeAlias

from symbcast.answers.explanation.words import Namer, in_words
from symbcast.core.algebra.formulas import Formula, all_of, clauses
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import prose_list, quoted_name, shorten_end, visible
from symbcast.core.effort import Tier
from symbcast.core.structs import NamedTuple, Struct
from symbcast.core.text.notation import formula_text, shape_text

# The most characters of one text to show, unless a maker sets another limit.
LONGEST = 400

# The most clauses of a condition to show; each is shown whole.
CLAUSES = 100


class Tone(Enum):
    """The status of something; renderers give each a colour, next to the mark or word with the same meaning."""

    FINE = auto()
    CONDITIONAL = auto()
    IMPOSSIBLE = auto()
    UNDECIDED = auto()


class Room(Enum):
    """How much a document shows: as much as fits a screen, a page that scrolls, or everything as text."""

    SCREEN = auto()
    PAGE = auto()
    WHOLE = auto()


class JointFormulas(NamedTuple):
    """Formulas that hold together; their sizes have their display names."""

    clauses: tuple[Formula, ...]


class NamedSizes(NamedTuple):
    """Sizes by name."""

    values: Mapping[str, int]


class Dims(NamedTuple):
    """A shape."""

    dims: tuple[Dim, ...]


class Pieces(NamedTuple):
    """Dimensions side by side; dimensions without a mathematical form are text."""

    pieces: tuple[Dim | str, ...]


Math: TypeAlias = JointFormulas | NamedSizes | Dims | Pieces

# The mathematics of a span that repeats in words or code what another span shows as mathematics.
NOTHING = Pieces(())


class Span(NamedTuple):
    """A piece of a line. A tuple, since a document has many.

    ``is_code`` marks a formula, a name or a shape as one types it; ``tone`` is its status; ``math`` replaces the text
    where mathematics is typeset; ``whole`` is the full text if this is only the part that is shown.
    """

    text: str
    is_code: bool = False
    tone: Tone | None = None
    math: Math | None = None
    whole: str = ""


Line: TypeAlias = tuple[Span, ...]


class Field(NamedTuple):
    """A label and its lines; a field without lines is not shown.

    ``lead`` precedes the first line if no column head shows it. If lines are wrapped, they can become ``most`` lines in
    all, or any number if that is 0.
    """

    label: str
    lines: tuple[Line, ...]
    most: int = 0
    lead: str = ""


class Fields(Struct):
    """Fields, one below the other."""

    fields: tuple[Field, ...]


class Records(Struct):
    """Records of the same fields: a table with column heads if there is room, else all fields in order."""

    name: str
    heads: tuple[str, ...]
    records: tuple[tuple[Field, ...], ...]


class Part(Enum):
    """The role of a row in its table."""

    HEAD = auto()
    BODY = auto()
    RESULT = auto()
    MARKS = auto()


class Row(NamedTuple):
    """A label and its cells, one per column."""

    label: str
    cells: tuple[Span, ...]
    part: Part = Part.BODY

    def cell(self, column: int) -> Span:
        """Return the cell of a column; an empty one beyond the last."""
        return self.cells[column] if column < len(self.cells) else Span("")


class Table(Struct):
    """Rows whose cells are aligned: at the right, or column by column as in ``align`` (``l``, ``r``).

    ``name`` describes the table for people who cannot see it; ``legend`` explains its marks.
    """

    name: str
    rows: tuple[Row, ...]
    legend: tuple[tuple[Span, str], ...] = ()
    align: str = ""

    @property
    def columns(self) -> int:
        """The number of cells in the longest row."""
        return max((len(row.cells) for row in self.rows), default=0)

    def alignment(self, column: int) -> str:
        """Return ``l`` or ``r``."""
        return self.align[column] if column < len(self.align) else "r"

    @property
    def legend_text(self) -> str:
        """The legend as one text."""
        return ", ".join(f"{mark.text} {meaning}" for mark, meaning in self.legend)


class Lines(Struct):
    """Lines of prose, which may be indented or faint."""

    lines: tuple[Line, ...]
    is_set_in: bool = False
    is_faint: bool = False


Block: TypeAlias = Fields | Records | Table | Lines


class Document(Struct):
    """A title, the status of the subject, and the content."""

    title: Line
    tone: Tone | None
    blocks: tuple[Block, ...]


def words(text: str, longest: int = LONGEST) -> Line:
    """Return a line of words; empty if there are none."""
    return (Span(shorten_end(text, longest)),) if text else ()


def whole(text: str, math: Math | None = None) -> Line:
    """Return a line with a condition as code, however long: a condition without its end is another condition."""
    return (Span(text, True, math=math),) if text else ()


def condition_line(text: str, formula: str, math: Math | None = None) -> Line:
    """Return a line with a condition in words, or as a formula if its words are too long to follow."""
    return (Span(text, math=math),) if len(text) <= LONGEST else whole(formula, math)


def conjunction(clauses: Sequence[Formula], namer: Namer, *, is_repeated: bool = False) -> Iterator[Line]:
    """Yield a condition as a formula, each of its clauses whole; of very many that do not fold, the first and a count.

    ``is_repeated`` says that its mathematics is shown elsewhere.
    """
    text = namer.formula(all_of(clauses))
    shown = clauses if len(clauses) <= CLAUSES or len(text) <= LONGEST else clauses[:CLAUSES]
    if shown:
        math = NOTHING if is_repeated else JointFormulas(tuple(map(namer.renamed_formula, shown)))
        yield whole(text if shown is clauses else namer.formula(all_of(shown)), math)
    if len(shown) < len(clauses):
        yield words(f"and {len(clauses) - CLAUSES} more clauses; .condition and JSON have them all")


def code(text: str, math: Math | None = None, longest: int = LONGEST) -> Line:
    """Return a line of code; empty if there is none."""
    return (Span(shorten_end(text, longest), True, math=math),) if text else ()


def heading(subject: str, statement: str) -> Line:
    """Return the title that states something about a subject."""
    return Span(subject, True), Span(f": {statement}")


def field(label: str, *lines: Line, most: int = 0, lead: str = "") -> Field:
    """Return a field with the non-empty lines."""
    return Field(label, tuple([line for line in lines if line]), most, lead)


def fields(entries: Iterable[Field]) -> Fields:
    """Return the non-empty fields.

    >>> [f.label for f in fields([field("fix", words("")), field("works at", code("N=1"))]).fields]
    ['works at']
    """
    return Fields(tuple(f for f in entries if f.lines))


def plain(line: Line) -> str:
    """Return a line as plain text."""
    return "".join([span.text for span in line])


# Standalone shapes and conditions as documents.


LONGEST_CONDITION = 1000


def shape_document(dims: Sequence[Dim]) -> Document:
    """Return a shape as a document, written as in text."""
    return Document((), None, (Lines((code(shape_text(dims), Dims(tuple(dims)), LONGEST_CONDITION),)),))


def with_tiers(document: Document, tiers: Mapping[Tier, Sequence[str]], is_decided: bool = True) -> Document:
    """Return a document that also shows which tiers of the solver decided, or were tried, and for which sizes."""
    said = (f"{tier.name}, {tier.value}{': ' if names else ''}{prose_list(names)}" for tier, names in tiers.items())
    return document.replace(
        blocks=(*document.blocks, fields([field("decided by" if is_decided else "tried", *map(words, said))]))
    )


def condition_document(condition: Formula) -> Document:
    """Return a condition: its formula, and below it its meaning in words."""
    text, meaning = formula_text(condition), in_words(condition, Namer.of({}))
    below = ((Span(meaning, math=NOTHING),),) if len(meaning) <= LONGEST_CONDITION else ()
    return Document((), None, (Lines((whole(text, JointFormulas(clauses(condition))),)), Lines(below, is_faint=True)))


# Aliases in what people read: texts and documents with short names of sizes, and what the names stand for.


# How many names have a line of the legend each; more share its lines.
_LINES = 4


class Shortener:
    """Replaces the names of sizes by their aliases.

    Names are replaced in texts as well as in formulas, because requirements, fixes and assumptions are texts by then.
    A part of a longer name or of a path is another name.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._names = aliases
        self._aliases = {quoted_name(name): alias for alias, name in aliases.items()}

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
        return self._pattern.sub(lambda word: self._aliases[word[0]], text) if self._aliases else text

    def legend(self, texts: Iterable[str]) -> list[str]:
        """Return what each of the aliases in some texts stands for: ``H = p2o.DynamicDimension.2``."""
        mentioned = {word for text in texts for word in re.findall(r"(?<![\w.])\w+", text)}
        return [f"{alias} = {quoted_name(name)}" for alias, name in self._names.items() if alias in mentioned]

    def document(self, document: Document) -> Document:
        """Return a document with aliases, and their legend at its end."""
        if not self._aliases:
            return document
        shortened = document.replace(blocks=tuple(map(self._block, document.blocks)))
        legend = self.legend(span.text for line in _shorten_lines(shortened) for span in line)
        lines = legend if len(legend) <= _LINES else [", ".join(legend)]
        return (
            shortened.replace(blocks=(*shortened.blocks, Fields((field("names", *map(whole, lines)),))))
            if legend
            else shortened
        )

    def _block(self, block: Block) -> Block:
        match block:
            case Fields(entries):
                return Fields(tuple(map(self._field, entries)))
            case Records(_, _, records):
                return block.replace(records=tuple(tuple(map(self._field, record)) for record in records))
            case Lines(lines):
                return block.replace(lines=tuple(map(self._line, lines)))
            case Table(_, rows):
                return block.replace(rows=tuple(map(self._row, rows)))

    def _row(self, row: Row) -> Row:
        return row._replace(label=self.text(row.label), cells=self._line(row.cells))

    def _field(self, entry: Field) -> Field:
        return entry._replace(lines=tuple(map(self._line, entry.lines)))

    def _line(self, line: Line) -> Line:
        return tuple(map(self._span, line))

    def _span(self, span: Span) -> Span:
        math = span.math
        if isinstance(math, NamedSizes):
            math = NamedSizes({self._aliases.get(quoted_name(name), name): size for name, size in math.values.items()})
        return span._replace(text=self.text(span.text), math=math)


def _shorten_lines(document: Document) -> Iterator[Line]:
    """Yield the lines of all blocks."""
    for block in document.blocks:
        match block:
            case Fields(entries):
                yield from (line for f in entries for line in f.lines)
            case Records(_, _, records):
                yield from (line for record in records for f in record for line in f.lines)
            case Lines(lines):
                yield from lines
            case Table(_, rows):
                yield from (row.cells for row in rows)


# Documents as plain text.


# How wide the labels of fields are, with the space behind them.
LABEL = 13
# Lines of fields are wrapped at this width if no other is asked for.
WIDTH = 100
# A wider cell of a table continues below.
CELL = 60


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
