"""The answer as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.characters import clipped, visible
from symbcast.display.text import Row, aligned
from symbcast.explaining.alignment import Alignment
from symbcast.explaining.evidence import at_sizes, conflict_lines, failure_at
from symbcast.explaining.fixes import fix
from symbcast.explaining.naming import Namer, cut, rule_text, sizes_text
from symbcast.explaining.sections import Phrase, Section, Span, code, saying, section, words
from symbcast.explaining.table import OperandTable
from symbcast.explaining.words import in_words
from symbcast.formulas import all_of
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.programs.call import Call

LABEL = 13
LONGEST = 400
CLAUSES_SHOWN = 8
ONE_LINE = 200


class Line(NamedTuple):
    """A line of an explanation and what it is: ``verdict``, ``marks``, ``labelled`` or ``text``."""

    text: str
    role: str = "text"


def verdict_words(result: Call) -> str:
    """Return the verdict in words: for a concrete result it is valid or not."""
    if result.scope is None or not result.scope.symbols:
        return "valid" if result.verdict is Verdict.ALWAYS else "not valid"
    return {
        Verdict.ALWAYS: "valid for all sizes",
        Verdict.SOMETIMES: "valid for some sizes",
        Verdict.NEVER: "valid for no sizes",
        Verdict.UNKNOWN: "not decided",
    }[result.verdict]


def explanation(result: Call) -> list[Line]:
    """Return the whole answer as lines."""
    lines = [Line(": ".join(heading(result)), "verdict"), Line("")]
    lines += _table(result)
    for part in sections(result):
        lines += [Line(f"{part.label if n == 0 else '':<{LABEL}}{t}", "labelled") for n, t in enumerate(part.texts)]
    return lines


def heading(result: Call) -> tuple[str, str]:
    """Return the rule, and the verdict in words."""
    return rule_text(result.rule), f"{verdict_words(result)}{_under(result)}"


def _under(result: Call) -> str:
    return " under the assumptions" if result.assumptions else ""


def _table(result: Call) -> list[Line]:
    table = OperandTable(Alignment(result))
    rows = [*table.header, *table.operands]
    output = table.output
    if output is not None:
        rows.append(output)
    if not table.axes:
        scalars = [Row(row.label, ("()",)) for row in rows if row not in table.header]
        return [*map(Line, aligned(scalars)), Line("")]
    texts = aligned([*rows, table.marks])
    return [*map(Line, texts[:-1]), Line(f"{texts[-1]}    {table.legend}", "marks"), Line("")]


def sections(result: Call) -> list[Section]:
    """Return the labelled parts below the table, those that say something."""
    witness, counterexample, change = result.witness(), result.counterexample(), fix(result)
    conflict = conflict_lines(result) if result.verdict is Verdict.NEVER else []
    return saying(
        [
            section("valid when", *_condition(result)),
            section("assuming", code(assumed_text(result))),
            section("undecided" if result.verdict is Verdict.UNKNOWN else "unproven", words(_open(result))),
            section("impossible", *map(words, conflict)),
            section("fails at", _failing(result, counterexample)),
            section("works at", _working(result, witness)),
            section("fix", words(change.text if change is not None else "")),
        ]
    )


def _condition(result: Call) -> list[Phrase]:
    if result.verdict not in (Verdict.SOMETIMES, Verdict.UNKNOWN) or not result.clauses:
        return []
    namer, clauses = Namer(result), result.clauses
    texts = [clipped(in_words(c, namer), LONGEST) for c in clauses[:CLAUSES_SHOWN]]
    if len(texts) > 1:
        texts = [f"{'and ' if n else ''}{t}" for n, t in enumerate(texts)]
    if len(clauses) > CLAUSES_SHOWN:
        texts.append(f"and {len(clauses) - CLAUSES_SHOWN} more; .condition has them all")
    return [*map(words, texts), code(clipped(namer.formula(all_of(clauses[:LONGEST])), LONGEST))]


def assumed_text(result: Call) -> str:
    """Return what is assumed, as it was written; empty where nothing is."""
    texts = [visible(a.text) for a in result.assumptions]
    if result.scope is not None and result.scope.min_size:
        texts.append(f"every size is at least {result.scope.min_size}")
    return clipped("; ".join(texts), LONGEST)


def _open(result: Call) -> str:
    if result.verdict is Verdict.UNKNOWN or not result.reason:
        return result.reason
    return f"that no part of the condition follows from the rest: {result.reason}"


def _failing(result: Call, sizes: Mapping[str, int] | None) -> Phrase:
    if not sizes or result.verdict is Verdict.NEVER:
        return ()
    return Span(sizes_text(sizes), True), Span(f": {failure_at(result, sizes)}")


def _working(result: Call, sizes: Mapping[str, int] | None) -> Phrase:
    if not sizes:
        return ()
    concrete = at_sizes(result, sizes)
    if concrete is None or concrete.shape is None:
        return ()
    return Span(sizes_text(sizes), True), Span(": output "), Span(cut(str(tuple(concrete.shape)), 80), True)


def headline_lines(result: Call, binding: Mapping[str, int] | None) -> list[str]:
    """Return the answer in the few lines of an exception's message."""
    concrete = at_sizes(result, binding) if binding else None
    lines = [_head(result, binding)]
    table = OperandTable(Alignment(result if concrete is None else concrete), max_operands=4)
    if table.axes:
        lines += aligned([*table.operands, table.marks], indent=4)
    if binding:
        lines.append(failure_at(result, binding, 3))
    elif result.verdict is Verdict.NEVER:
        lines += conflict_lines(result, 3)
    condition = _formula(result)
    if condition:
        lines.append(f"valid when {condition}")
    if result.reason:
        lines.append(f"undecided: {result.reason}")
    counterexample = result.counterexample()
    if not binding and result.verdict is Verdict.SOMETIMES and counterexample:
        lines.append(f"fails at {sizes_text(counterexample)}: {failure_at(result, counterexample)}")
    change = fix(result)
    if change is not None:
        lines.append(f"fix: {change.text}")
    return [clipped(line, 400) for line in lines if line]


def _head(result: Call, binding: Mapping[str, int] | None) -> str:
    rule = rule_text(result.rule)
    if binding:
        return f"{rule} cannot broadcast these shapes at {sizes_text(binding)}"
    match result.verdict:
        case Verdict.NEVER if result.scope is not None and result.scope.symbols:
            return f"{rule} cannot broadcast these shapes at any sizes"
        case Verdict.NEVER:
            return f"{rule} cannot broadcast these shapes"
        case Verdict.SOMETIMES:
            return f"{rule} can broadcast these shapes at some sizes only"
        case Verdict.UNKNOWN:
            return f"{rule}: whether these shapes broadcast was not decided"
    return f"{rule} can broadcast these shapes"


def _formula(result: Call) -> str:
    if result.verdict not in (Verdict.SOMETIMES, Verdict.UNKNOWN) or not result.clauses:
        return ""
    return clipped(Namer(result).formula(all_of(result.clauses)), 300)


def summary(result: Call) -> str:
    """Return the answer on one line of at most `ONE_LINE` characters."""
    verdict, namer = result.verdict, Namer(result)
    text = f"{rule_text(result.rule)}: {verdict.value}"
    if result.shape is not None:
        text = f"{text} {clipped(namer.shape(result.shape), 70)}"
    condition = _formula(result)
    if condition:
        text = f"{text} if {condition}"
    if verdict is Verdict.UNKNOWN:
        text = f"{text} ({result.reason})"
    if verdict is Verdict.NEVER:
        text = f"{text} {' and '.join(clipped(namer.shape(s), 60) for s in result.operands[:4])}"
    return clipped(visible(text), ONE_LINE)
