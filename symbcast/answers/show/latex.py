"""Formulas and documents as LaTeX, for MathJax and for LaTeX with amsmath and amssymb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any, TypeAlias, TypeVar

from symbcast.answers.show import document as doc
from symbcast.core.algebra import formulas, symbols
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Symbol, Term
from symbcast.core.characters import name_latex, telling_sizes, text_latex, visible
from symbcast.core.text.notation import dim_text, formula_text, labels_of

# Building blocks of LaTeX formulas and answers: brackets, dots, rows of arrays, delimiters.


T = TypeVar("T")

# The most terms, factors, members or sizes to show in one expression.
MOST = 12
# What replaces parts that are not shown.
OMITTED = r"\ldots"
_GAP = r"\\[6pt]"


def displayed(latex: str) -> str:
    """Return a formula in the delimiters that notebooks typeset."""
    return rf"$\displaystyle {latex}$"


def array(columns: str, rows: Iterable[str], end: str = r" \\ ") -> str:
    """Return rows as an array; ``columns`` gives the alignment of each column."""
    return rf"\begin{{array}}{{{columns}}} {end.join(rows)} \end{{array}}"


def row(cells: Sequence[str]) -> str:
    """Return a row of cells."""
    return " & ".join(cells)


def stacked(parts: Iterable[str]) -> str:
    """Return parts under each other, with some space between; empty parts are skipped."""
    return array("l", [p for p in parts if p], rf" {_GAP} ")


def some(items: Sequence[T], write: Callable[[T], str]) -> list[str]:
    """Return items as text, with dots for the middle ones if there are many; only the items shown are written."""
    if len(items) <= MOST:
        return list(map(write, items))
    return [*map(write, items[: MOST - 2]), OMITTED, write(items[-1])]


def call(name: str, arguments: Sequence[str]) -> str:
    """Return a function applied to arguments."""
    called = rf"\{name}" if name in ("max", "min") else rf"\operatorname{{{name}}}"
    return f"{called}{brackets(', '.join(arguments))}"


def brackets(latex: str) -> str:
    """Return brackets around a formula, as tall as the formula."""
    return rf"\left({latex}\right)" if r"\frac" in latex else f"({latex})"


# Dimensions as LaTeX, with their parts in the same order as in text.


# How long the LaTeX of one dimension may be; a longer one is replaced with dots.
LONGEST = 1500


def dim_latex(dim: Dim, labels: Mapping[Symbol, str]) -> str:
    r"""Return a dimension as LaTeX; ``labels`` are the names of unknowns.

    >>> from symbcast.core.text import parse_dim
    >>> print(dim_latex(parse_dim("2*N + batch//2"), {}))
    2\,N + \left\lfloor \frac{\mathrm{batch}}{2} \right\rfloor
    """
    if isinstance(dim, int):
        return str(dim)
    written = _LatexWriter(labels).write(dim, symbols.SUM)
    return written if len(written) <= LONGEST else OMITTED


class _LatexWriter:
    """Writes one term, in brackets if its context binds tighter."""

    def __init__(self, labels: Mapping[Symbol, str]) -> None:
        self._labels: Mapping[Any, str] = labels
        self._text = symbols.TermWriter(labels)
        self._written: dict[Term, tuple[str, int]] = {}

    def write(self, value: Term, place: int) -> str:
        latex, binding = self._kept(value)
        return brackets(latex) if binding < place else latex

    def _kept(self, value: Term) -> tuple[str, int]:
        if value not in self._written:
            self._written[value] = self._atom(value) if isinstance(value, Atom) else self._sum(value)
        return self._written[value]

    def _sum(self, value: Term) -> tuple[str, int]:
        if not value.coefficients:
            return "0", symbols.ATOM
        (minus, monomial, number), *rest = self._text.products(value)
        if not rest:
            product, binding = self._product(monomial, number)
            return (f"-{product}", symbols.UNARY) if minus else (product, binding)
        first = f"{'-' if minus else ''}{self._product(monomial, number)[0]}"
        return " ".join(
            [first, *some(rest, lambda t: f"{'-' if t[0] else '+'} {self._product(*t[1:])[0]}")]
        ), symbols.SUM

    def _product(self, monomial: Monomial, number: int) -> tuple[str, int]:
        if not monomial:
            return str(number), symbols.ATOM
        if number == 1 and len(monomial) == 1:
            return self._kept(monomial[0])
        powers = [(atom, len(list(same))) for atom, same in groupby(monomial)]
        powers.sort(key=lambda p: (isinstance(p[0], Operation), self._text.dim(p[0])))
        texts = some(powers, lambda p: self._power(*p))
        if number != 1:
            texts.insert(0, str(number))
        return r"\,".join(texts), symbols.POWER if len(texts) == 1 else symbols.PRODUCT

    def _power(self, atom: Atom, exponent: int) -> str:
        return self.write(atom, symbols.POWER) if exponent == 1 else f"{self.write(atom, symbols.ATOM)}^{{{exponent}}}"

    def _atom(self, atom: Atom) -> tuple[str, int]:
        if isinstance(atom, symbols.SequenceSymbol):
            return _of_sequence(atom), symbols.ATOM
        if not isinstance(atom, Operation):
            return name_latex(str(self._labels.get(atom) or getattr(atom, "name", ""))), symbols.ATOM
        match atom.kind:
            case "//":
                dividend, divisor = (self.write(a, symbols.SUM) for a in atom.args)
                return rf"\left\lfloor \frac{{{dividend}}}{{{divisor}}} \right\rfloor", symbols.ATOM
            case "%":
                dividend, divisor = (self.write(a, symbols.ATOM) for a in atom.args)
                # In a product, only brackets show which factor is divided.
                return rf"{dividend} \bmod {divisor}", symbols.SUM
            case kind:
                ordered = sorted(atom.args, key=lambda a: (a.is_constant, not a.is_Symbol, self._text.dim(a)))
                return call(
                    {"join": "broadcast"}.get(kind, kind), some(ordered, lambda a: self.write(a, symbols.SUM))
                ), symbols.ATOM


def _of_sequence(s: symbols.SequenceSymbol) -> str:
    r"""Return a symbol that belongs to a sequence of axes.

    >>> from symbcast.core.algebra.symbols import AxisSequence
    >>> batch = AxisSequence("batch")
    >>> print(_of_sequence(batch.axis(1)), _of_sequence(batch.rest(2)), _of_sequence(batch.rank))
    \mathrm{batch}_{-1} {*}\mathrm{batch}_{:-2} \operatorname{rank}(\mathrm{batch})
    """
    called = name_latex(s.sequence.name)
    match s:
        case symbols.Rank():
            return call("rank", [called])
        case symbols.AxisSize():
            return f"{called}_{{-{s.place}}}"
    return f"{'' if s.sequence.is_anonymous else '{*}'}{called}{f'_{{:-{s.place}}}' if s.place else ''}"


# Formulas, shapes and sizes as LaTeX, with the same names as in text.


_SIGNS = {"==": "=", "!=": r"\ne", "<=": r"\le", "<": "<"}
_MIRRORED = {"<=": r"\ge", "<": ">"}
_WORDS: dict[type[AllOf | AnyOf], str] = {AllOf: r" \land ", AnyOf: r" \lor "}
# How long the LaTeX of a clause may be; a longer one is written as text, on several lines.
_LONGEST = 4000
# Typesetters do not break text: it continues on a new line after this many characters.
_WIDTH = 100

_Kind: TypeAlias = type[AllOf | AnyOf] | None


def shape_latex(dims: Sequence[Dim]) -> str:
    r"""Return a shape that belongs to no answer: an unknown has a name only where it occurs more than once.

    >>> from symbcast.core.text import parse_shape
    >>> print(shape_latex(parse_shape("N, ?, 2*N + 1")))
    (N, {\text{?}}, 2\,N + 1)
    """
    if all(isinstance(d, int) for d in dims):
        return _in_brackets(some(dims, str))

    labels = labels_of(dims)
    uses: Counter[Any] = Counter(s for d in dims if not isinstance(d, int) for s in d.symbols())

    def write(dim: Dim) -> str:
        is_alone = _is_unknown(dim) and uses[dim] == 1
        return f"{{{text_latex(dim_text(dim))}}}" if is_alone else _dim(dim, labels)

    return _in_brackets(some(dims, write))


def pieces_latex(pieces: Sequence[Dim | str]) -> str:
    r"""Return dimensions side by side under their display names; text stays text.

    >>> print(pieces_latex(["2..5", 3]), pieces_latex(["..."]))
    {\text{2..5}}\ \&\ 3 \cdots
    """

    def write(piece: Dim | str) -> str:
        if isinstance(piece, str):
            return {"...": r"\cdots", "()": "()"}.get(piece) or f"{{{text_latex(piece)}}}"
        return str(piece) if isinstance(piece, int) else _dim(piece, labels_of((piece,)))

    return r"\ \&\ ".join(map(write, pieces))


def clause_lines(clauses: Sequence[Formula]) -> list[str]:
    r"""Return clauses over sizes with their display names, a line each, and all of them.

    A clause that is too long for mathematics, or whose parts would be left out, is typed text on as many lines as it
    needs.

    >>> from symbcast.core.text import parse_formula
    >>> print(clause_lines([parse_formula("2 <= N and (N == M or M % 8 == 0)")])[0])
    N \ge 2 \land (N = M \lor M \bmod 8 = 0)
    """
    labels = labels_of(d for c in clauses for d in formulas.dims_of(c))
    within = AllOf if len(clauses) > 1 else None
    lines: list[str] = []
    for n, clause in enumerate(clauses):
        first, *rest = _clause_lines(clause, labels, within)
        lines += [f"{{}}{_WORDS[AllOf]}{first}" if n else first, *(rf"\quad {line}" for line in rest)]
    return lines


def _clause_lines(clause: Formula, labels: Mapping[Symbol, str], within: _Kind) -> list[str]:
    """Return one clause, in brackets if it is joined with others by another word."""
    latex, kind = _formula(clause, labels)
    is_joined = within is not None and kind not in (None, within)
    if len(latex) <= _LONGEST and OMITTED not in latex:
        return [brackets(latex) if is_joined else latex]

    text = formula_text(clause, labels or None)
    parts = wrap(visible(f"({text})" if is_joined else text), _WIDTH, break_on_hyphens=False)
    return [text_latex(part) for part in parts]


def sizes_latex(sizes: Mapping[str, int]) -> str:
    r"""Return sizes by name; if there are many, the most common size is written once for all that have it.

    >>> print(sizes_latex({"N": 2, "max_len": 3}))
    N = 2,\ \mathrm{max\_len} = 3
    """
    telling, others = telling_sizes(sizes)
    texts = some(list(telling.items()), lambda named: f"{name_latex(named[0])} = {named[1]}")
    return r",\ ".join([*texts, *([text_latex(others)] if others else [])])


def _dim(dim: Dim, labels: Mapping[Symbol, str]) -> str:
    if isinstance(dim, int):
        return str(dim)
    # Imported only here: sizes that are all numbers are shown without algebra.

    return dim_latex(dim, labels)


def _is_unknown(dim: Dim) -> bool:
    if isinstance(dim, int):
        return False

    return isinstance(dim, symbols.Unknown)


def _in_brackets(texts: Sequence[str]) -> str:
    return brackets(f"{texts[0]}," if len(texts) == 1 else ", ".join(texts))


def _formula(formula: Formula, labels: Mapping[Symbol, str], is_within: bool = False) -> tuple[str, _Kind]:
    """Return the LaTeX of a formula and the kind of formula that joins its parts, if one does."""
    match formula:
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, labels), None
        # Alternatives over sequences may differ from axis to axis: without this mark, all axes would seem to choose
        # alike. It stands on the outermost of them.
        case AnyOf(parts) if not is_within and any(map(symbols.mentions_rest, formulas.dims_of(formula))):
            return call("each", [_joined(parts, AnyOf, labels, True)[0]]), None
        case AllOf(parts) | AnyOf(parts):
            if not parts:
                return rf"\text{{{isinstance(formula, AllOf)}}}", None
            return _joined(parts, type(formula), labels, is_within)
        case Compatible() | Clashing():
            return _compatibility(formula, labels)


def _joined(
    parts: Sequence[Formula], kind: type[AllOf | AnyOf], labels: Mapping[Symbol, str], is_within: bool
) -> tuple[str, _Kind]:
    if len(parts) == 1:
        return _formula(parts[0], labels, is_within)

    def write(part: Formula) -> str:
        latex, inner = _formula(part, labels, is_within)
        return latex if inner in (None, kind) else brackets(latex)

    return _WORDS[kind].join(some(parts, write)), kind


def _comparison(operator: str, left: Dim, right: Dim, labels: Mapping[Symbol, str]) -> str:
    sign = _SIGNS[operator]
    if operator in _MIRRORED and isinstance(left, int) and not isinstance(right, int):
        sign, left, right = _MIRRORED[operator], right, left
    return f"{_dim(left, labels)} {sign} {_dim(right, labels)}"


def _compatibility(formula: Compatible | Clashing, labels: Mapping[Symbol, str]) -> tuple[str, _Kind]:
    """Return a compatibility; a pair is spelled out, as in text."""
    dims, is_valid = formula.dims, isinstance(formula, Compatible)
    if not dims or (len(dims) == 2 and 1 in dims):
        return rf"\text{{{is_valid}}}", None
    if len(dims) != 2 or all(isinstance(d, int) for d in dims) or any(map(symbols.mentions_rest, dims)):
        sign = "" if is_valid else r"\lnot "
        return f"{sign}{call('compatible', some(dims, lambda d: _dim(d, labels)))}", None
    left, right = dims[::-1] if isinstance(dims[0], int) else dims
    pairs = [(left, right), (left, 1), *([] if isinstance(right, int) else [(right, 1)])]
    parts = tuple((formulas.equal if is_valid else formulas.different)(a, b) for a, b in pairs)
    return _formula(AnyOf(parts) if is_valid else AllOf(parts), labels)


# Documents as LaTeX: one formula, for MathJax and for LaTeX with amsmath and amssymb.


# Start a new row after this many characters of words: typesetters do not break formulas.
WIDTH = 100
_RULE = r"\hline "


def render(document: doc.Document) -> str:
    r"""Return a document as LaTeX: blocks in order, labels next to their lines.

    >>> print(render(doc.Document((), None, (doc.Lines((doc.words("50%"),)),))))
    $\displaystyle \text{50}\%$
    """
    rows = [_text(doc.plain(document.title))[0]] if document.title else []
    for block in document.blocks:
        rows += _block(block)
    if len(rows) == 1 and not document.title:
        return displayed(rows[0])
    return displayed(stacked(rows))


def _block(block: doc.Block) -> Iterator[str]:
    match block:
        case doc.Fields(entries):
            yield _labelled(entries)
        case doc.Records(_, _, records):
            yield _labelled([field for record in records for field in record])
        case doc.Lines(lines, is_set_in):
            rows = [row for line in lines for row in _rows(line)]
            rows = [rf"\quad {row}" for row in rows] if is_set_in else rows
            yield rows[0] if len(rows) == 1 else array("l", rows) if rows else ""
        case doc.Table():
            yield from _table(block)


def _labelled(fields: Sequence[doc.Field]) -> str:
    """Return labels, each with one or more rows; empty if there are none."""
    rows = []
    for field in fields:
        for n, line in enumerate(field.lines):
            lead = () if n or not field.lead else (doc.Span(field.lead),)
            rows += [(field.label, latex) for latex in _rows((*lead, *line))]
    shown = ((label if not n or rows[n - 1][0] is not label else "", latex) for n, (label, latex) in enumerate(rows))
    return array("ll", [row((text_latex(label), latex)) for label, latex in shown]) if rows else ""


def _rows(line: doc.Line) -> list[str]:
    """Return a line: words in as many rows as they need, a condition in a row for each of its conjuncts."""
    match line:
        case (doc.Span(math=doc.JointFormulas(clauses)),):
            return clause_lines(clauses) or [r"\text{True}"]
    if all(span.math is None for span in line):
        return _text(doc.plain(line))
    latex = "".join(_span(span) for span in line)
    return [latex] if latex else []


def _text(content: str) -> list[str]:
    return [text_latex(part) for part in wrap(visible(content), WIDTH, break_on_hyphens=False)]


def _span(span: doc.Span) -> str:
    if span.math is not None:
        return _math(span.math)
    return text_latex(span.text) if len(span.text) <= WIDTH else _stacked(_text(span.text))


def _stacked(rows: Sequence[str]) -> str:
    """Return rows as one formula."""
    return array("l", rows) if len(rows) > 1 else "".join(rows)


def _math(math: doc.Math) -> str:
    match math:
        case doc.JointFormulas(clauses):
            return _stacked(clause_lines(clauses))
        case doc.NamedSizes(values):
            return sizes_latex(values)
        case doc.Dims(dims):
            return shape_latex(dims)
        case doc.Pieces(pieces):
            return pieces_latex(pieces)


def _table(table: doc.Table) -> Iterator[str]:
    if not table.rows:
        return
    columns = "".join(table.alignment(n) for n in range(table.columns))
    rows: list[str] = []
    before = doc.Part.HEAD
    for shown in table.rows:
        rule = _RULE if rows and shown.part is not before else ""
        rows.append(f"{rule}{row((text_latex(shown.label), *map(_span, shown.cells)))}")
        before = shown.part
    yield array(f"l|{columns}", rows)
    if table.legend:
        yield text_latex(table.legend_text)
