"""The answer about one broadcast as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.latex import text_latex
from symbcast.display.latex.formulas import Typesetter, shape_latex, sizes_latex
from symbcast.display.latex.layout import array, displayed, labelled, row, stacked
from symbcast.explaining import report
from symbcast.explaining.alignment import Alignment
from symbcast.explaining.evidence import at_sizes, conflict_lines
from symbcast.explaining.naming import Namer
from symbcast.explaining.table import OperandTable
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.programs.call import Call

_LONGEST_TEXT = 100
_LINE = r"\hline "


def result_latex(result: Call) -> str:
    """Return the whole answer: the verdict, the operands under each other, the condition, and evidence."""
    head = text_latex(": ".join(report.heading(result)))
    return displayed(stacked((head, *_operands(result), labelled(_sections(result)))))


def _operands(result: Call) -> Iterator[str]:
    made = OperandTable(Alignment(result))
    typesetter = Typesetter(Namer(result))
    columns = f"l|{'r' * max(1, len(made.axes))}"
    if not made.axes:
        lines = [row((text_latex(label), "()")) for _, label in made.chosen]
        if made.output is not None:
            lines.append(f"{_LINE if lines else ''}{row((text_latex('output'), '()'))}")
        yield array(columns, lines)
        return
    lines = [row((text_latex(head.label), *map(_number, head.cells))) for head in made.header]
    for place, (operand, label) in enumerate(made.chosen):
        cells = ["" if operand is None else _cell(made, operand, axis, typesetter) for axis in made.axes]
        lines.append(f"{'' if place else _LINE}{row((text_latex(label), *cells))}")
    if result.shape is not None:
        lines.append(f"{_LINE}{row((text_latex('output'), *_output(result.shape.dims, made.axes, typesetter)))}")
    lines.append(f"{_LINE}{row((text_latex('fits'), *map(text_latex, made.marks.cells)))}")
    yield array(columns, lines)
    yield text_latex(made.legend)


def _number(text: str) -> str:
    return text if text.removeprefix("-").isdecimal() else text_latex(text)


def _cell(made: OperandTable, operand: int, axis: int | None, typesetter: Typesetter) -> str:
    if axis is None:
        return r"\cdots"
    return r"\ \&\ ".join(map(typesetter.bounded, made.dims(operand, axis)))


def _output(shape: Sequence[Dim], axes: Sequence[int | None], typesetter: Typesetter) -> Iterator[str]:
    for axis in axes:
        if axis is None:
            yield r"\cdots"
        else:
            yield typesetter.dim(shape[axis]) if 0 <= axis < len(shape) else ""


def _sections(result: Call) -> Iterator[tuple[str, Sequence[str]]]:
    verdict, typesetter = result.verdict, Typesetter(Namer(result))
    if verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN) and result.clauses:
        yield "valid when", typesetter.clauses(result.clauses)
    assumed = report.assumed_text(result)
    if assumed:
        yield "assuming", [text_latex(assumed, _LONGEST_TEXT)]
    if result.reason:
        yield "undecided" if verdict is Verdict.UNKNOWN else "unproven", [text_latex(result.reason, _LONGEST_TEXT)]
    if verdict is Verdict.NEVER:
        yield "impossible", [text_latex(line, _LONGEST_TEXT) for line in conflict_lines(result)]
    counterexample, witness = result.counterexample(), result.witness()
    if counterexample and verdict is not Verdict.NEVER:
        yield "fails at", [sizes_latex(counterexample)]
    if witness:
        yield "works at", [_working(result, witness)]


def _working(result: Call, witness: Mapping[str, int]) -> str:
    concrete = at_sizes(result, witness)
    sizes = sizes_latex(witness)
    if concrete is None or concrete.shape is None:
        return sizes
    return f"{sizes}{text_latex(': output ')}{shape_latex(concrete.shape.dims)}"
