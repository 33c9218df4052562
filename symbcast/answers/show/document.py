"""The content of an answer as data: makers build documents from answers; renderers know only documents.

A document is made of lines, and a line of spans. A span holds text and, if that is a formula, a shape or sizes, also
the formula, shape or sizes, for renderers that typeset mathematics. Makers decide how much to say, and cut long parts
other than conditions; renderers lay out all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.characters import clipped
from symbcast.core.logic.formulas import all_of
from symbcast.core.structs import Struct

if TYPE_CHECKING:
    from symbcast.answers.explanation.names import Namer
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula

LONGEST = 400
"""The most characters of one text to show, unless a maker sets another limit."""

CLAUSES = 100
"""The most clauses of a condition to show; each is shown whole."""


class Tone(Enum):
    """The status of something; renderers give each a colour, next to the mark or word with the same meaning."""

    FINE = auto()
    CONDITIONAL = auto()
    IMPOSSIBLE = auto()
    UNDECIDED = auto()


class Room(Enum):
    """How much a document shows: as much as fits a screen, or a page that scrolls."""

    SCREEN = auto()
    PAGE = auto()


class Conjunction(NamedTuple):
    """Formulas that hold together; their sizes have their display names."""

    clauses: tuple[Formula, ...]


class Sizes(NamedTuple):
    """Sizes by name."""

    values: Mapping[str, int]


class Dims(NamedTuple):
    """A shape."""

    dims: tuple[Dim, ...]


class Pieces(NamedTuple):
    """Dimensions side by side; dimensions without a mathematical form are text."""

    pieces: tuple[Dim | str, ...]


Math: TypeAlias = Conjunction | Sizes | Dims | Pieces

NOTHING = Pieces(())
"""The mathematics of a span that repeats in words or code what another span shows as mathematics."""


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
    return (Span(clipped(text, longest)),) if text else ()


def whole(text: str, math: Math | None = None) -> Line:
    """Return a line with a condition as code, however long: a condition without its end is another condition."""
    return (Span(text, True, math=math),) if text else ()


def said(text: str, formula: str, math: Math | None = None) -> Line:
    """Return a line with a condition in words, or as a formula if its words are too long to follow."""
    return (Span(text, math=math),) if len(text) <= LONGEST else whole(formula, math)


def conjunction(clauses: Sequence[Formula], namer: Namer, *, is_repeated: bool = False) -> Iterator[Line]:
    """Yield a condition as a formula, each of its clauses whole; of very many clauses, the first and a count.

    ``is_repeated`` says that its mathematics is shown elsewhere.
    """
    shown = clauses[:CLAUSES]
    if shown:
        math = NOTHING if is_repeated else Conjunction(tuple(map(namer.renamed_formula, shown)))
        yield whole(namer.formula(all_of(shown)), math)
    if len(clauses) > CLAUSES:
        yield words(f"and {len(clauses) - CLAUSES} more clauses; .condition and JSON have them all")


def code(text: str, math: Math | None = None, longest: int = LONGEST) -> Line:
    """Return a line of code; empty if there is none."""
    return (Span(clipped(text, longest), True, math=math),) if text else ()


def heading(subject: str, statement: str) -> Line:
    """Return the title that states something about a subject."""
    return Span(subject, True), Span(f": {statement}")


def field(label: str, *lines: Line, most: int = 0, lead: str = "") -> Field:
    """Return a field with the non-empty lines."""
    return Field(label, tuple([line for line in lines if line]), most, lead)


def fields(found: Iterable[Field]) -> Fields:
    """Return the non-empty fields.

    >>> [f.label for f in fields([field("fix", words("")), field("works at", code("N=1"))]).fields]
    ['works at']
    """
    return Fields(tuple(f for f in found if f.lines))


def plain(line: Line) -> str:
    """Return a line as plain text."""
    return "".join([span.text for span in line])
