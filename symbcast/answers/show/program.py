"""A program's answer as a document: its requirements and their origins, where it fails, and the clashes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.names import Namer, axis_text, rule_text
from symbcast.answers.explanation.words import in_words
from symbcast.answers.report.failures import broken, dims_at
from symbcast.answers.show.account import open_fields
from symbcast.answers.show.call import VERDICTS, evidence_text
from symbcast.answers.show.document import (
    Conjunction,
    Document,
    Field,
    Line,
    Lines,
    Records,
    Room,
    Sizes,
    Span,
    Tone,
    code,
    conjunction,
    field,
    fields,
    heading,
    said,
    whole,
    words,
)
from symbcast.answers.show.generic import generic_field
from symbcast.answers.show.operands import TONES
from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.sequences import spoken_of
from symbcast.core.characters import clipped, listed, sizes_text, visible
from symbcast.core.logic.formulas import FALSE, Comparison, all_of, dims_of
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.operations.operation import Op
    from symbcast.core.program.whole.answers import Requirement
    from symbcast.core.program.whole.program import Program

SHOWN = 12
"""How many conditions, or operations of a conflict, are shown."""
NAMED = 3
"""The most operations to name as the origins of one condition."""


def document(env: Program, room: Room = Room.SCREEN) -> Document:
    """Return the answer about a program: the requirements, their operations, an example, a failure.

    >>> from symbcast.core.program.whole.program import Program
    >>> from symbcast.answers.show.text import render
    >>> env = Program(assume="batch >= 1")
    >>> scores = env.broadcast(("batch, T, S", "batch, 1, T"), origin="mask")
    >>> print(render(document(env)))
    1 operation over 3 sizes: valid for some sizes under the assumptions
    <BLANKLINE>
    valid when   T and S are equal, or one of them is 1
                 first asked by mask: numpy of (batch, T, S), (batch, 1, T)
    together     T == S or T == 1 or S == 1
    assuming     batch >= 1
    fails at     batch=1, T=2, S=3: mask, axis 2 (-1), 3 beside 2 (sizes must be equal or 1)
    works at     batch=1, T=1, S=1
    """
    namer = Namer.of(env.shown)
    asked = [tuple(_asked(env, r, n, namer, room)) for n, r in enumerate(env.requirements()[:SHOWN])]
    records = Records("the requirements of the operations", ("must hold", "asked by", "fails at"), tuple(asked))
    left = list(open_fields(env.account, namer)) if env.verdict is Verdict.UNKNOWN else []
    blocks = records, fields(_fields(env, namer))
    return Document(_title(env), TONES[env.verdict], (fields(left), *blocks) if left else blocks)


def _title(env: Program) -> Line:
    count = sum(op.kind != "assume" for op in env.operations)
    plural = "" if count == 1 else "s"
    of = len(spoken_of(env.shown))
    sizes = "1 size" if of == 1 else f"{of} sizes"
    under = " under the assumptions" if env.assumptions else ""
    return heading(f"{count} operation{plural} over {sizes}", f"{VERDICTS[env.verdict]}{under}")


def refusal(op: Op, operations: Sequence[Op], assumptions: Sequence[str]) -> Document:
    """Return why an operation was refused, for an exception's message."""
    others = [o for o in operations if o.number != op.number]
    name = f"the assumption {clipped(visible(op.text), 80)}" if op.kind == "assume" else op_name(op)
    beside = listed([op_name(o) for o in others]) if len(others) < 4 else "these"
    why = f"cannot hold together with {beside}" if others else "cannot hold for any sizes"
    clash = Lines(tuple((Span(text),) for text in conflict_lines(operations, Namer.of({}))), is_set_in=True)
    assumed = (Span(f"assuming {'; '.join(assumptions)}"),) if assumptions else ()
    return Document(words(f"{name} {why}"), Tone.IMPOSSIBLE, (clash, Lines((assumed,) if assumed else ())))


def conflict_lines(operations: Sequence[Op], namer: Namer) -> list[str]:
    """Return the operations of a conflict, each with its requirements."""
    shown = operations[:SHOWN]
    texts = [f"{op_name(o)}: {_op_kind(o, namer)}" for o in shown]
    lines = [t if o.kind == "require" else f"{t} {_asks(o, namer)}" for t, o in zip(texts, shown, strict=True)]
    if len(operations) > len(shown):
        lines.append(f"and {len(operations) - len(shown)} more")
    return lines


def op_name(op: Op) -> str:
    """Return an operation's name, on one line."""
    return visible(op.name)


def _op_kind(op: Op, namer: Namer) -> str:
    """Return an operation's kind, with its operands."""
    shapes = [operand.dims for operand in op.operands]
    written = shapes if op.rule is None else op.rule.written_operands(shapes)
    operands = ", ".join(map(namer.shape, written))
    if op.rule is not None:
        return f"{rule_text(op.rule)} of {operands}"
    return f"equality of {operands}" if op.kind == "equal" else f"{op.kind} {visible(op.text)}"


def _asks(op: Op, namer: Namer) -> str:
    """Return that an operation requires something, or why it is impossible."""
    from symbcast.core.solver.groups.normal_form import flattened

    for constraint in op.constraints:
        if FALSE in flattened([constraint.requirement]):
            origin = constraint.origin
            where = (
                f"{axis_text(origin.axis, origin.rank, origin.sequence)}: "
                if origin.axis is not None and origin.rank
                else ""
            )
            own = {namer.dim(d) for operand in op.operands for d in operand.dims}
            sizes = _clashing(list(dict.fromkeys(map(namer.dim, dims_of(constraint.requirement)))), own)
            return f"is impossible: {where}{f'{sizes}: ' if sizes else ''}{constraint.reason}"
    asked = flattened(c.requirement for c in op.constraints)
    return f"requires {namer.formula(all_of(map(_without_difference, asked)))}"


def _without_difference(formula: Formula) -> Formula:
    """Return a difference held against 0 as two sizes held against each other: ``H >= 3`` for ``H - 3 >= 0``."""
    match formula:
        case Comparison(operator, 0, right) if not isinstance(right, int) and right.constant < 0:
            return Comparison(operator, -right.constant, add(right, -right.constant))
    return formula


def _clashing(sizes: Sequence[str], own: Container[str]) -> str:
    """Return the sizes that clash as text; empty for a remainder or a difference, which is held against 0."""
    if "0" in sizes and "0" not in own:
        return ""
    others = [size for size in sizes if size != "1"]
    return " beside ".join(others if len(others) > 1 else sizes)


def _asked(env: Program, requirement: Requirement, number: int, namer: Namer, room: Room) -> Iterator[Field]:
    """Yield each requirement, its operations, and on a page the smallest sizes at which it fails."""
    condition, origins = requirement.condition, requirement.origins
    math = Conjunction((namer.renamed_formula(condition),))
    yield field("and" if number else "valid when", said(in_words(condition, namer), namer.formula(condition), math))
    if origins and (requirement.is_asked or len(origins) == 1):
        others = listed([op_name(o) for o in origins[1:]], limit=NAMED)
        also = clipped(f", then by {others}" if others else "", 120)
        yield field("", (*_operation(origins[0], namer), Span(also)), lead="first asked by ")
    else:
        lines = [_operation(o, namer) for o in origins[:NAMED]]
        lines[1:] = [(Span("and "), *line) for line in lines[1:]]
        more = words(f"and {len(origins) - NAMED} more" if len(origins) > NAMED else "")
        yield field("", *lines, more, lead="by ")
    if room is Room.PAGE:
        sizes = env.counterexample(condition if len(env.clauses) > 1 else None)
        yield field("fails at", code(sizes_text(sizes), Sizes(sizes)) if sizes else ())


def _operation(op: Op, namer: Namer) -> Line:
    name, kind = clipped(op_name(op), 80), _op_kind(op, namer)
    return Span(name, True), Span(": "), Span(kind if op.kind == "require" else clipped(kind, 158 - len(name)), True)


def _fields(env: Program, namer: Namer) -> Iterator[Field]:
    witness, counterexample, more = env.witness(), env.counterexample(), len(env.requirements()) - SHOWN
    yield field("and", words(f"{more} more; .findings and JSON list them all" if more > 0 else ""))
    if env.requirements():
        yield generic_field(env, namer, is_open=env.is_open)
        yield field("together", *conjunction(env.clauses, namer, is_repeated=True))
    yield field("impossible", *((Span(text),) for text in conflict_lines(env.conflict, namer)))
    yield field("assuming", whole("; ".join(visible(a.text) for a in env.assumptions)))
    yield field("unproven", words("" if env.verdict is Verdict.UNKNOWN else env.reason))
    if counterexample and env.verdict is not Verdict.NEVER:
        sizes = Span(sizes_text(counterexample), True, math=Sizes(counterexample))
        yield field("fails at", (sizes, Span(f": {_failure(env, counterexample)}")))
    if witness:
        yield field("works at", code(sizes_text(witness), Sizes(witness)))
    yield field("evidence", words(evidence_text(env, bool(witness or counterexample))))


def _failure(env: Program, sizes: Mapping[str, int]) -> str:
    """Return the first reported operation that is not valid at some sizes, and its axis."""
    from symbcast.core.solver.evaluation.evaluation import holds_at

    bound = env.symbol_sizes(sizes)
    failed = [r for r in env.requirements() if not holds_at(r.condition, bound)]
    asking = {op.number: op for r in failed for op in (r.origins[:1] if r.is_asked else r.origins)}
    for op in [asking[n] for n in sorted(asking)]:
        constraint = broken(op, bound)
        if constraint is not None:
            origin = constraint.origin
            where = (
                f", {axis_text(origin.axis, origin.rank, origin.sequence)}"
                if origin.axis is not None and origin.rank
                else ""
            )
            return f"{op_name(op)}{where}{_sizes_there(op, constraint, bound)} ({constraint.reason})"
    return "an operation is not valid"


def _sizes_there(op: Op, constraint: Constraint, bound: Mapping[Any, int]) -> str:
    """Return the sizes that meet where a constraint fails."""
    values = dims_at(dims_of(constraint.requirement), bound)
    if op.kind == "require" or None in values:
        return ""
    distinct = list(dict.fromkeys(map(str, values)))
    own = {str(size) for operand in op.operands for size in dims_at(operand.dims, bound)}
    shown = _clashing(distinct, own) if len(distinct) > 1 else ""
    return f", {shown}" if shown else ""
