"""One broadcast as a document, as the message of an exception, and on one line; its operands, and its repairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.answers.explanation import evidence, fixes
from symbcast.answers.explanation.evidence import Alignment, AxisMark
from symbcast.answers.explanation.repairs import Repair, best_edit
from symbcast.answers.explanation.words import Namer, in_words, rule_text, statement_of
from symbcast.answers.show.document import (
    LONGEST,
    NOTHING,
    Dims,
    Document,
    Field,
    JointFormulas,
    Line,
    Lines,
    NamedSizes,
    Part,
    Pieces,
    Room,
    Row,
    Span,
    Table,
    Tone,
    code,
    condition_line,
    conjunction,
    field,
    fields,
    heading,
    plain,
    whole,
    words,
)
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Formula, all_of, literal_count
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import shorten_end, shorten_middle, sizes_text, visible
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.solver.f2_one_size.set_formulas import gathered
from symbcast.core.verdicts import Verdict
from symbcast.errors import UnknownRankError

if TYPE_CHECKING:
    from symbcast.answers.data import RepairsData
    from symbcast.core.account import Account, OpenPart, Sizes
    from symbcast.core.programs.program import Program


# What is open about an answer, as fields: first that it is open, then what is proved to work and to fail.


# Longer conditions have a line for each clause or case.
LONG = 160
# How many clauses or cases of a long condition are shown.
_PARTS = 6
_SHOWN = 4
_NOT_PROVED = "not proved for any sizes"
# The maximum length of a condition that is shown negated; a longer one is easier to read as it is.
_NEGATED = 60


def open_fields(account: Account, namer: Namer) -> Iterator[Field]:
    """Yield what works, what fails and what is open; nothing if everything is decided.

    If the condition, which the caller shows, decides each size, only the open question is shown.
    """
    if not account.open:
        return
    if not account.is_open:
        yield field("open", *(words(f"{_question(account)}: {part.reason}") for part in account.open))
        return
    yield _working(account, namer)
    yield _failing(account, namer)
    is_all = account.works == FALSE and account.needed == TRUE and not account.working and not account.failing
    yield field("open", *_open(account.open, namer, "all sizes" if is_all else "all other sizes"))


def _question(account: Account) -> str:
    if account.working:
        return "whether any sizes fail"
    return "whether any sizes work" if account.failing else "whether any sizes work, and whether any fail"


def _open(parts: Sequence[OpenPart], namer: Namer, rest: str) -> Iterator[Line]:
    for part in parts[:_SHOWN]:
        where = rest if part.where in (TRUE, FALSE) else namer.formula(part.where)
        yield Span(where, part.where not in (TRUE, FALSE)), *words(f": {part.reason}")
    if len(parts) > _SHOWN:
        yield words(f"and {len(parts) - _SHOWN} more reasons; .account.open and JSON have them all")


def _working(account: Account, namer: Namer) -> Field:
    """Return the sizes that are proved to work, or else points that work."""
    if account.works != FALSE:
        return field("works when", *condition_lines(account.works, namer, ".account.works", in_code=True))
    return field("works at", _at(account.working)) if account.working else field("works when", words(_NOT_PROVED))


def _failing(account: Account, namer: Namer) -> Field:
    """Return the sizes that fail: a short condition is negated, a long one follows "unless"."""
    text = namer.formula(account.needed)
    if account.needed == TRUE:
        return field("fails at", _at(account.failing)) if account.failing else field("fails when", words(_NOT_PROVED))
    if account.needed == FALSE or len(text) > _NEGATED:
        return field("fails unless", *condition_lines(account.needed, namer, ".condition", in_code=True))
    return field("fails when", (Span(namer.formula(account.fails), True),))


def condition_lines(formula: Formula, namer: Namer, place: str, *, in_code: bool = False) -> Iterator[Line]:
    """Yield a condition: a short one in words, a long one with a clause or case on each line; nothing is cut.

    ``place`` is where code finds all of a condition that is shown in part.
    """
    formula = gathered(formula)
    if not isinstance(formula, AllOf | AnyOf) or len(namer.formula(formula)) <= LONG:
        yield _one_line(formula, namer, in_code)
        return
    word, kind = ("and", "clause") if isinstance(formula, AllOf) else ("or", "case")
    for number, part in enumerate(formula.parts[:_PARTS]):
        yield (Span(f"{word} "), *_part(part, namer, place)) if number else _part(part, namer, place)
    left = len(formula.parts) - _PARTS
    if left > 0:
        yield words(f"{word} {left} more {kind}{'s' * (left > 1)}; {place} has all")


def stated(formula: Formula, namer: Namer) -> Iterator[Line]:
    """Yield a condition in words; alternatives that have several parts have a line each.

    An alternative whose words would need parentheses is written as a formula.
    """
    math = JointFormulas((namer.renamed_formula(formula),))
    cases = formula.parts if isinstance(formula, AnyOf) and _is_nested(formula, namer) else ()
    if not 1 < len(cases) <= _PARTS:
        yield condition_line(in_words(formula, namer), namer.formula(formula), math)
        return
    for number, case in enumerate(cases):
        text = namer.formula(case) if _is_nested(case, namer) else in_words(case, namer)
        yield (Span(f"{'or ' if number else ''}{text}", math=NOTHING if number else math),)


def _one_line(formula: Formula, namer: Namer, in_code: bool) -> Line:
    text, math = namer.formula(formula), JointFormulas((namer.renamed_formula(formula),))
    is_code = in_code or _is_nested(formula, namer)
    return whole(text, math) if is_code else condition_line(in_words(formula, namer), text, math)


def _part(formula: Formula, namer: Namer, place: str) -> Line:
    is_nested = isinstance(formula, AllOf | AnyOf)
    text = f"({namer.formula(formula)})" if is_nested else namer.formula(formula)
    if len(text) <= LONGEST or not is_nested:
        return whole(text, JointFormulas((namer.renamed_formula(formula),)))
    return words(f"a condition of {literal_count(formula)} comparisons, which {place} has")


def _is_nested(formula: Formula, namer: Namer) -> bool:
    """Return whether words for a formula would need parentheses."""
    if not isinstance(formula, AllOf | AnyOf) or statement_of(formula, namer) is not None:
        return False
    return any(isinstance(part, AllOf | AnyOf) and statement_of(part, namer) is None for part in formula.parts)


def _at(points: Sequence[Sizes]) -> Line:
    return (Span("; ".join(sizes_text(point, 6) for point in points[:_SHOWN]), True),)


# Aligned operands with the output below them and a mark below each axis.


MAX_AXES = 12
MAX_OPERANDS = 9
WIDEST_CELL = 40
LABEL_WIDTH = 24
# The meaning of each mark on an axis.
MEANINGS = {
    AxisMark.FINE: "fine",
    AxisMark.CONDITIONAL: "depends on the sizes",
    AxisMark.IMPOSSIBLE: "impossible",
    AxisMark.UNDECIDED: "not decided",
}
_TONES = {mark: Tone[mark.name] for mark in AxisMark}
_MARKS = {mark: Span(mark.value, tone=_TONES[mark]) for mark in AxisMark}
_GAP = Span("...", True, math=Pieces(("...",)))
TONES = {
    Verdict.ALWAYS: Tone.FINE,
    Verdict.SOMETIMES: Tone.CONDITIONAL,
    Verdict.NEVER: Tone.IMPOSSIBLE,
    Verdict.OBSERVED: Tone.UNDECIDED,
    Verdict.UNKNOWN: Tone.UNDECIDED,
}


def operand_table(aligned: Alignment, cells_width: int = 84) -> Table:
    """Return the aligned operands, with the axes above, and the output, marks and a legend below.

    The middle operands and axes are left out if there are many.
    """
    operands = _Operands(aligned, MAX_OPERANDS, cells_width)
    if not operands.axes:
        return Table("the operands, aligned", tuple(operands.scalars()))
    rows = (*operands.header(), *operands.operands(), *operands.output(), operands.marks())
    return Table("the operands, aligned", rows, operands.legend())


def brief_table(aligned: Alignment, most: int) -> Table:
    """Return only some operands and the marks, without axes or legend; no rows for operands without axes."""
    operands = _Operands(aligned, most, 84)
    return Table("the operands, aligned", (*operands.operands(), operands.marks()) if operands.axes else ())


class _Operands:
    """Builds the rows; ``axes`` are the shown ones, with None for a gap."""

    def __init__(self, aligned: Alignment, max_operands: int, cells_width: int) -> None:
        self._aligned = aligned
        self._namer = aligned.namer
        self._max_operands = max_operands
        self.axes = _chosen_axes(aligned)
        self._cell_width = max(7, min(WIDEST_CELL, cells_width // max(1, len(self.axes)) - 2))
        self._marks = {a: aligned.mark(a) for a in self.axes if a is not None}
        self._tones = {a: _TONES[mark] for a, mark in self._marks.items()}

    def header(self) -> Iterator[Row]:
        """Yield the axes, counted from the front and from the end."""
        rank, sequence = self._aligned.places.rank, self._aligned.sequence
        fronts = ["..." if a is None else a if 0 <= a < rank else "over" for a in self.axes]
        backs = [a - rank if a is not None and 0 <= a < rank else "" for a in self.axes]
        if sequence is not None:
            fronts = ["" if a is not None and a > sequence else t for a, t in zip(self.axes, fronts, strict=True)]
            backs = ["" if a is not None and a < sequence else t for a, t in zip(self.axes, backs, strict=True)]
            place = self.axes.index(sequence)
            fronts[place] = backs[place] = "each"
        for label, places in (("axis", fronts), ("from end", backs)):
            if sequence is None or not {"", "each"}.issuperset(places):
                yield Row(label, tuple(map(_head, places)), Part.HEAD)

    def operands(self) -> Iterator[Row]:
        """Yield a row for each operand that is shown."""
        for operand, label in self._chosen():
            yield Row(label, tuple([self._cell(operand, axis) for axis in self.axes]))

    def output(self) -> Iterator[Row]:
        """Yield the row of the output shape, if there is one."""
        shape = self._aligned.result.aligned_output
        if shape is not None:
            sizes = [[shape[a]] if a is not None and 0 <= a < len(shape) else [] for a in self.axes]
            cells = zip(self.axes, sizes, strict=True)
            yield Row("output", tuple([self._of(a, dims, is_bounded=False) for a, dims in cells]), Part.RESULT)

    def scalars(self) -> Iterator[Row]:
        """Yield the rows of operands without axes."""
        result = self._aligned.result
        cell = Span("()", True, TONES[result.verdict], Pieces(("()",)))
        for _, label in self._chosen():
            yield Row(label, (cell,))
        if result.shape is not None:
            yield Row("output", (cell,), Part.RESULT)

    def marks(self) -> Row:
        """Return the status of each axis."""
        cells = [_MARKS[self._marks[a]] if a is not None else Span("") for a in self.axes]
        return Row("fits", tuple(cells), Part.MARKS)

    def legend(self) -> tuple[tuple[Span, str], ...]:
        """Return the marks in use, with their meanings."""
        used = self._marks.values()
        return tuple([(_MARKS[mark], meaning) for mark, meaning in MEANINGS.items() if mark in used])

    def _cell(self, operand: int | None, axis: int | None) -> Span:
        if operand is None:
            return Span("", True, None if axis is None else self._tones[axis])
        dims = [] if axis is None else self._aligned.sizes(operand, axis)
        return self._of(axis, dims, is_bounded=True)

    def _of(self, axis: int | None, dims: list[Dim], is_bounded: bool) -> Span:
        """Return a cell of the dimensions on an axis: usually one, or none if the operand does not reach it."""
        if axis is None:
            return _GAP
        namer = self._namer
        texts: list[str] = []
        pieces: list[Dim | str] = []
        for dim in dims:
            text = namer.bounded(dim) if is_bounded else namer.dim(dim)
            texts.append(text)
            # An unknown with bounds has no mathematics, and stays text.
            pieces.append(text if is_bounded and isinstance(dim, Unknown) else namer.renamed(dim))
        text = texts[0] if len(texts) == 1 else " & ".join(texts)
        return Span(shorten_middle(text, self._cell_width), True, self._tones[axis], Pieces(tuple(pieces)))

    def _chosen(self) -> list[tuple[int | None, str]]:
        """Return the shown operands with their names; an entry for None says how many are left out."""
        names = self._aligned.names
        if len(names) <= self._max_operands:
            return [(n, shorten_middle(name, LABEL_WIDTH)) for n, name in enumerate(names)]
        chosen = self._chosen_operands(len(names))
        left_out = f"... {len(names) - len(chosen) + 1} more"
        return [(n, left_out if n is None else shorten_middle(names[n], LABEL_WIDTH)) for n in chosen]

    def _chosen_operands(self, count: int) -> list[int | None]:
        """Return the operands to show: the first and last ones and those that clash; None represents the others."""
        half = self._max_operands // 2
        chosen = {*range(half), *range(count - half, count)}
        for axis in self._aligned.clashing[:1]:
            chosen.update(n for n, _ in self._differing(axis))
        # Show one gap, where the first operand is missing, so that the rows keep the order of the call.
        gap = next((n for n in range(count) if n not in chosen), None)
        return [None if n == gap else n for n in range(count) if n in chosen or n == gap]

    def _differing(self, axis: int) -> list[tuple[int, Dim]]:
        cells = self._aligned.cells(axis)
        return list(evidence.clashing_pair(cells)) if len(cells) > 1 else cells


@lru_cache(maxsize=256)
def _head(place: int | str) -> Span:
    return Span(str(place), math=Pieces((place,)) if isinstance(place, int) else None)


def _chosen_axes(aligned: Alignment) -> list[int | None]:
    axes = aligned.all_axes
    if len(axes) <= MAX_AXES:
        return list(axes)
    half = MAX_AXES // 2 - 1
    chosen = {*axes[:half], *axes[len(axes) - half :], *aligned.clashing[:2]}
    axes_shown: list[int | None] = []
    for axis in axes:
        if axis in chosen:
            axes_shown.append(axis)
        elif axes_shown[-1] is not None:
            axes_shown.append(None)
    return axes_shown


# The answer about one broadcast as a document, as the message of an exception, and on one line.


CLAUSES_SHOWN = 8
ONE_LINE = 200
# How many characters the cells of a row have together: a page's table scrolls.
CELLS_WIDTH = {Room.SCREEN: 84, Room.PAGE: 400}


def broadcast_document(result: BroadcastCall, room: Room = Room.SCREEN) -> Document:
    """Return the answer: the operands aligned, the condition, an example, and a fix.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> from symbcast.answers.show.document import render
    >>> print(render(broadcast_document(call_of(broadcast("N, 3", "M, 1")))))
    numpy: valid for some sizes
    <BLANKLINE>
      axis                    0   1
      from end               -2  -1
      A                       N   3
      B                       M   1
      output    broadcast(M, N)   3
                              ?  ok    ok fine, ? depends on the sizes
    <BLANKLINE>
    valid when   N and M are equal, or one of them is 1
                 N == M or N == 1 or M == 1
    fails at     N=2, M=3: axis 0 (-2) has 2 and 3 (sizes must be equal or 1)
    works at     N=1, M=1: output (1, 3)
    fix          assume "N == M" if that is known
    """
    under = " under the assumptions" if result.assumptions else ""
    title = heading(rule_text(result.rule), f"{verdict_words(result)}{under}")
    aligned = Alignment(result)
    return Document(title, TONES[result.verdict], (operand_table(aligned, CELLS_WIDTH[room]), fields(_fields(aligned))))


# The end of a fix of an answer that is open: a fix mends one requirement, and keeps what is open.
MAY_STILL_FAIL = "; open sizes may still fail"


def verdict_words(result: BroadcastCall) -> str:
    """Return the verdict in words: for a concrete result it is valid or not."""
    if not result.shown:
        return "valid" if result.verdict is Verdict.ALWAYS else "not valid"
    return verdict_text(result)


def verdict_text(answer: BroadcastCall | Program) -> str:
    """Return the verdict in words; of one that is open, what is decided."""
    if answer.verdict is Verdict.UNKNOWN:
        if answer.counterexample():
            return "open: fails for some sizes, and whether any are valid was not decided"
        if answer.witness():
            return "open: valid for some sizes, and whether any fail was not decided"
    return VERDICTS[answer.verdict]


VERDICTS = {
    Verdict.ALWAYS: "valid for all sizes",
    Verdict.SOMETIMES: "valid for some sizes",
    Verdict.NEVER: "valid for no sizes",
    Verdict.UNKNOWN: "open, not decided for all sizes",
}


def _fields(aligned: Alignment) -> Iterator[Field]:
    yield from answer_fields(aligned)
    yield field("surprise", *(words(s.text) for s in evidence.outer_products(aligned)))
    yield field("fix", words(_fix(aligned)))


def _fix(aligned: Alignment) -> str:
    """Return the suggested change: the surely intended edit of an operand, else one that makes the shapes broadcast."""
    edit = best_edit(aligned)
    if edit is not None:
        change, code = edit
        return f"{change.text}: {code['numpy']}"
    repair = fixes.fix(aligned)
    return repair.text if repair is not None else ""


def answer_fields(aligned: Alignment) -> Iterator[Field]:
    """Yield the answer's content, without a fix: the condition, assumptions, open questions, and evidence."""
    result = aligned.result
    never, witness, counterexample = result.verdict is Verdict.NEVER, result.witness(), result.counterexample()
    if not result.is_plain:
        yield from open_fields(result.account, aligned.namer)
    yield field("valid when", *_condition(aligned))
    if not result.is_plain:
        yield field("assuming", whole(_assumed(result)))
        yield field("unproven", words(_unproven(result)))
    if never:
        yield field("impossible", *map(words, evidence.constraint_conflict_lines(aligned)))
    elif counterexample:
        yield field("fails at", _failure_fields(aligned, counterexample))
    if witness:
        yield field("works at", _example_fields(result, witness))
    if not result.is_plain:
        yield field("evidence", words(evidence_text(result, bool(witness or counterexample))))


def evidence_text(answer: BroadcastCall | Program, is_found: bool) -> str:
    """Return a note if sizes are the smallest found but perhaps not the smallest; else empty."""
    return f"the smallest found: {answer.evidence_reason}" if is_found and answer.evidence_reason else ""


def _condition(aligned: Alignment) -> Iterator[Line]:
    """Yield each clause in words, and all of them as a formula."""
    clauses, namer = _left(aligned.result), aligned.namer
    if not clauses:
        return
    if len(clauses) == 1:
        yield from ((Span(plain(line), math=NOTHING),) for line in stated(clauses[0], namer))
        yield from conjunction(clauses, namer)
        return
    texts = [namer.formula(c) if _is_nested(c, namer) else in_words(c, namer) for c in clauses[:CLAUSES_SHOWN]]
    if all(len(text) <= LONGEST for text in texts):  # longer words are harder to follow than the formula below them
        texts = [f"{'and ' if n else ''}{t}" for n, t in enumerate(texts)]
        if len(clauses) > CLAUSES_SHOWN:
            texts.append(f"and {len(clauses) - CLAUSES_SHOWN} more, all of them below")
        yield from ((Span(text, math=NOTHING),) for text in texts)
    yield from conjunction(clauses, namer)


def _left(result: BroadcastCall) -> tuple[Formula, ...]:
    """Return the clauses of the condition if it is neither true nor false."""
    return result.clauses if result.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN) else ()


def _assumed(result: BroadcastCall) -> str:
    texts = [visible(a.text) for a in result.assumptions]
    if result.min_size:
        texts.append(f"every size is at least {result.min_size}")
    return "; ".join(texts)


def _unproven(result: BroadcastCall) -> str:
    if result.verdict is Verdict.UNKNOWN or not result.reason:
        return ""
    return f"that no part of the condition follows from the rest: {result.reason}"


def _failure_fields(aligned: Alignment, sizes: Mapping[str, int]) -> Line:
    return Span(sizes_text(sizes), True, math=NamedSizes(sizes)), Span(f": {evidence.failure_at(aligned, sizes)}")


def _example_fields(result: BroadcastCall, sizes: Mapping[str, int]) -> Line:
    concrete = evidence.at_evidence(result, sizes)
    if concrete is None or concrete.shape is None:
        return ()
    shape = concrete.shape
    output = Span(shorten_middle(str(tuple(shape)), 80), True, math=Dims(shape.dims))
    return Span(sizes_text(sizes), True, math=NamedSizes(sizes)), Span(": output "), output


def headline(result: BroadcastCall, binding: Mapping[str, int] | None = None) -> Document:
    """Return the answer in the few lines of an exception's message; with ``binding``, why it fails at those sizes."""
    concrete = evidence.at_sizes(result, binding) if binding else None
    aligned = Alignment(result)
    table = brief_table(aligned if concrete is None else Alignment(concrete), 4)
    lines = Lines(tuple(words(text) for text in _headlines(aligned, binding) if text))
    return Document(words(_headline_parts(result, binding)), TONES[result.verdict], (table, lines))


def _headlines(aligned: Alignment, binding: Mapping[str, int] | None) -> Iterator[str]:
    result = aligned.result
    if binding:
        yield evidence.failure_at(aligned, binding, 3)
    elif result.verdict is Verdict.NEVER:
        yield from evidence.constraint_conflict_lines(aligned, 3)
    condition = _formula(result, aligned.namer)
    yield f"valid when {condition}" if condition else ""
    yield f"open: {result.reason}" if result.reason else ""
    counterexample = result.counterexample()
    if not binding and result.verdict is Verdict.SOMETIMES and counterexample:
        yield f"fails at {sizes_text(counterexample)}: {evidence.failure_at(aligned, counterexample)}"
    change = _fix(aligned)
    yield f"fix: {change}" if change else ""


def _headline_parts(result: BroadcastCall, binding: Mapping[str, int] | None) -> str:
    rule = rule_text(result.rule)
    if binding:
        return f"{rule} cannot broadcast these shapes at {sizes_text(binding)}"
    match result.verdict:
        case Verdict.NEVER if result.shown:
            return f"{rule} cannot broadcast these shapes at any sizes"
        case Verdict.NEVER:
            return f"{rule} cannot broadcast these shapes"
        case Verdict.SOMETIMES:
            return f"{rule} can broadcast these shapes only at some sizes"
        case Verdict.UNKNOWN:
            return f"{rule}: whether these shapes broadcast was not decided"
    return f"{rule} can broadcast these shapes"


def _formula(result: BroadcastCall, namer: Namer) -> str:
    clauses = _left(result)
    return namer.formula(all_of(clauses)) if clauses else ""


def with_condition(text: str, condition: str, clauses: int) -> str:
    """Return text with a condition behind it, or with the number of its clauses if it does not fit on one line.

    >>> with_condition("numpy: sometimes", "N == 1", 1), with_condition("numpy: sometimes", "N" * 200, 3)
    ('numpy: sometimes if N == 1', 'numpy: sometimes if 3 clauses hold')
    """
    conditional = f"{text} if {condition}"
    return (
        conditional
        if len(conditional) <= ONE_LINE
        else f"{text} if {clauses} clause{' holds' if clauses == 1 else 's hold'}"
    )


def one_line_summary(result: BroadcastCall) -> str:
    """Return the answer on one line of at most `ONE_LINE` characters.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> one_line_summary(call_of(broadcast("N", "3")))
    'numpy: sometimes (3,) if N == 1 or N == 3'
    """
    verdict, namer = result.verdict, Namer(result)
    text = f"{rule_text(result.rule)}: {verdict.value}"
    if result.shape is not None:
        text = f"{text} {shorten_end(namer.shape(result.shape), 70)}"
    condition = _formula(result, namer)
    if condition:
        text = with_condition(text, condition, len(_left(result)))
    if verdict is Verdict.UNKNOWN:
        text = f"{text} ({result.reason})"
    if verdict is Verdict.NEVER:
        text = f"{text} {' and '.join(shorten_end(namer.shape(s), 60) for s in result.operands[:4])}"
    return shorten_end(visible(text), ONE_LINE)


# Repairs as a document: each with the answer that it gives and its code.


# The version of the data: incremented when a key changes meaning or is removed.
VERSION = 1
_LABELS = {"numpy": "NumPy", "torch": "PyTorch", "onnx": "ONNX"}


def repairs_document(result: BroadcastCall, repairs: Sequence[Repair]) -> Document:
    """Return the problems of a broadcast, and its repairs.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> from symbcast.answers.show.document import render
    >>> result = broadcast("N", "N, 1")
    >>> print(render(repairs_document(call_of(result), result.repairs(1))))
    numpy: valid for all sizes
    <BLANKLINE>
      axis       0   1
      from end  -2  -1
      A              N
      B          N   1
      output     N   N
                ok  ok    ok fine
    <BLANKLINE>
    surprise     A (N,) and B (N, 1) make an outer product: N of both is on two axes of the output (N, N)
    repair 1     reshape B to (N,)
                 always valid, output (N,)
    NumPy        b.squeeze(1)
    PyTorch      b.squeeze(1)
    ONNX         b_1_axes = Constant <value_ints = [1]> ()
                 b_1 = Squeeze (b, b_1_axes)
    """
    title = heading(rule_text(result.rule), verdict_words(result))
    return Document(
        title, TONES[result.verdict], (operand_table(Alignment(result)), fields(_repair_fields(result, repairs)))
    )


def repairs_data(result: BroadcastCall, repairs: Sequence[Repair]) -> RepairsData:
    """Return repairs and surprises as data that `json.dumps` accepts."""
    try:
        surprising = [s.to_dict() for s in evidence.surprises(result)]
    except UnknownRankError:
        surprising = None
    return {"version": VERSION, "repairs": [r.to_dict() for r in repairs], "surprises": surprising}


def _repair_fields(result: BroadcastCall, repairs: Sequence[Repair]) -> Iterator[Field]:
    namer = Namer(result)
    if result.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN):
        yield field("valid when", whole(namer.formula(all_of(result.clauses))))
    yield field("undecided", words(result.reason if result.verdict is Verdict.UNKNOWN else ""))
    try:
        yield field("surprise", *(words(s.text) for s in evidence.surprises(result)))
    except UnknownRankError as error:
        yield field("not told", words(str(error)))
    for number, repair in enumerate(repairs, 1):
        yield field(f"repair {number}", words(repair.text), _outcome(repair, namer))
        for framework, text in repair.code.items():
            yield field(_LABELS[framework], *(code(line) for line in text.splitlines()))
    if not repairs:
        none = "none is needed" if result.verdict is Verdict.ALWAYS else "none was found"
        yield field("repair", words(none))


def _outcome(repair: Repair, namer: Namer) -> Line:
    if repair.shape is None:
        return ()
    valid = "always valid" if repair.verdict is Verdict.ALWAYS else "valid for some sizes"
    output = Span(shorten_end(namer.shape(repair.shape), 80), True, math=Dims(repair.shape.dims))
    return Span(f"{valid}, output "), output
