"""A program's answer as a document: requirements and their origins, failures, clashes, and generic sizes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.size_fixes import SizeFixes
from symbcast.answers.explanation.words import Namer, axis_text, rule_text
from symbcast.answers.findings import dims_at, failing_constraint
from symbcast.answers.show import document as doc
from symbcast.answers.show.broadcast import TONES, evidence_text, open_fields, stated, verdict_text
from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.formulas import FALSE, Comparison, Formula, all_of, dims_of
from symbcast.core.algebra.symbols import sizes_and_sequences_of
from symbcast.core.characters import prose_list, shorten_end, sizes_text, visible
from symbcast.core.programs.operations import Op
from symbcast.core.rules.declaration import Constraint
from symbcast.core.solver.evaluation import holds_at, normal_conjuncts
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.programs.answer_parts import SmallSizes
    from symbcast.core.programs.answers import ProgramRequirement
    from symbcast.core.programs.program import Program


# The answer for generic sizes, next to one for all sizes that is undecided or long, and those for smaller sizes.


# At most this many cases of small sizes are shown.
_CASES = 6


def generic_field(program: Program, namer: Namer, *, is_open: bool) -> doc.Field:
    """Return what holds from some sizes on; ``is_open`` says that the answer for all sizes at once is undecided.

    Then the answers for smaller sizes follow, as far as they are known. Otherwise the answer for all sizes is exact but
    long, and the assumption that makes it short is suggested; smaller sizes follow if all parts together are shorter.
    """
    parts = program.parts
    if parts is None:
        return doc.field("")
    clauses = parts.large.program.clauses
    short = doc.Span(
        namer.formula(all_of(clauses)), True, math=doc.JointFormulas(tuple(map(namer.renamed_formula, clauses)))
    )
    where = doc.Span(namer.formula(all_of(parts.large.bounds)), True)
    if is_open:
        return doc.field(
            "large sizes", (doc.Span("for "), where, doc.Span(": exact: "), short), *_smaller(parts.small, namer)
        )
    large = (doc.Span("if "), where, doc.Span(" may be assumed: "), short)
    smaller = list(_smaller(parts.small, namer))
    written = sum(len(span.text) for line in (large, *smaller) for span in line)
    is_whole = parts.small.is_complete and len(parts.small.cases) <= _CASES
    is_shorter = written < len(namer.formula(all_of(program.clauses)))
    return doc.field("shorter", large, *(smaller if is_whole and is_shorter else ()))


def _smaller(small: SmallSizes, namer: Namer) -> Iterator[doc.Line]:
    """Yield a line for each case of smaller sizes in which some work, and one for the others."""
    if not small.cases:
        yield (doc.Span("smaller sizes: not analysed"),)
        return
    working = [case for case in small.cases if case.verdict is not Verdict.NEVER]
    for case in working[:_CASES]:
        yield (*_said(case.where, namer), *_answer(case.verdict, case.clauses, namer))
    if len(working) > _CASES:
        yield (doc.Span(f"and {len(working) - _CASES} more cases; .generic.exceptions in Python has them all"),)
    if small.unanalysed:
        left = ", ".join(namer.formula(where) for where in small.unanalysed[:_CASES])
        more = f" and {len(small.unanalysed) - _CASES} more" if len(small.unanalysed) > _CASES else ""
        yield (doc.Span("not analysed: "), doc.Span(left, True), doc.Span(more))
    if len(working) < len(small.cases):
        yield (doc.Span(f"{'other smaller' if working or small.unanalysed else 'smaller'} sizes: never"),)


def _said(where: Formula, namer: Namer) -> doc.Line:
    return doc.Span("for "), doc.Span(namer.formula(where), True), doc.Span(": ")


def _answer(verdict: Verdict, clauses: tuple[Formula, ...], namer: Namer) -> doc.Line:
    return (doc.Span("always"),) if verdict is Verdict.ALWAYS else (doc.Span(namer.formula(all_of(clauses)), True),)


# A program's answer as a document: its requirements and their origins, where it fails, and the clashes.


# How many conditions, or operations of a conflict, are shown.
SHOWN = 12
# The most operations to name as the origins of one condition.
NAMED = 3


def program_document(env: Program, room: doc.Room = doc.Room.SCREEN) -> doc.Document:
    """Return the answer about a program: the requirements, their operations, an example, a failure.

    >>> from symbcast.core.programs.program import Program
    >>> from symbcast.answers.show.document import render
    >>> env = Program(assume="batch >= 1")
    >>> scores = env.broadcast(("batch, T, S", "batch, 1, T"), origin="mask")
    >>> print(render(program_document(env)))
    1 operation over 3 sizes: valid for some sizes under the assumptions
    <BLANKLINE>
    valid when   T and S are equal, or one of them is 1
                 first needed by mask: numpy of (batch, T, S), (batch, 1, T)
    fix          assume "T == S" if that is known
    together     T == S or T == 1 or S == 1
    assuming     batch >= 1
    fails at     batch=1, T=2, S=3: mask, axis 2 (-1), 3 and 2 (sizes must be equal or 1)
    works at     batch=1, T=1, S=1
    """
    namer, fixes = Namer.of(env.shown), SizeFixes[None](env)
    heads = ("must hold", "needed by", *(("fails at",) if room is doc.Room.PAGE else ()), "fix")
    requirements = []
    for number, requirement in enumerate(env.requirements()[:SHOWN]):
        fix = doc.field("fix", doc.words(fixes.of(requirement.condition)))
        requirements.append((*_requirement_records(env, requirement, number, namer, room), fix))
    records = doc.Records("the requirements of the operations", heads, tuple(requirements))
    left = list(open_fields(env.account, namer)) if env.verdict is Verdict.UNKNOWN else []
    blocks = records, doc.fields(_fields(env, namer))
    return doc.Document(_title(env), TONES[env.verdict], (doc.fields(left), *blocks) if left else blocks)


def _title(env: Program) -> doc.Line:
    count = sum(op.kind != "assume" for op in env.operations)
    plural = "" if count == 1 else "s"
    of = len(sizes_and_sequences_of(env.shown))
    sizes = "1 size" if of == 1 else f"{of} sizes"
    under = " under the assumptions" if env.assumptions else ""
    return doc.heading(f"{count} operation{plural} over {sizes}", f"{verdict_text(env)}{under}")


def refusal_text(op: Op, operations: Sequence[Op], assumptions: Sequence[str]) -> doc.Document:
    """Return why an operation was refused, for an exception's message."""
    others = [o for o in operations if o.number != op.number]
    name = f"the assumption {shorten_end(visible(op.text), 80)}" if op.kind == "assume" else op_name(op)
    beside = prose_list([op_name(o) for o in others]) if len(others) < 4 else "these"
    why = f"cannot hold together with {beside}" if others else "cannot hold for any sizes"
    clash = doc.Lines(
        tuple((doc.Span(text),) for text in operation_conflict_lines(operations, Namer.of({}))), is_set_in=True
    )
    assumed = (doc.Span(f"assuming {'; '.join(assumptions)}"),) if assumptions else ()
    return doc.Document(
        doc.words(f"{name} {why}"), doc.Tone.IMPOSSIBLE, (clash, doc.Lines((assumed,) if assumed else ()))
    )


def operation_conflict_lines(operations: Sequence[Op], namer: Namer) -> list[str]:
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
    for constraint in op.constraints:
        if FALSE in normal_conjuncts([constraint.requirement]):
            origin = constraint.origin
            where = (
                f"{axis_text(origin.axis, origin.rank, origin.sequence)}: "
                if origin.axis is not None and origin.rank
                else ""
            )
            own = {namer.dim(d) for operand in op.operands for d in operand.dims}
            sizes = _clashing(list(dict.fromkeys(map(namer.dim, dims_of(constraint.requirement)))), own)
            return f"is impossible: {where}{f'{sizes}: ' if sizes else ''}{constraint.reason}"
    requirements = normal_conjuncts(c.requirement for c in op.constraints)
    return f"requires {namer.formula(all_of(map(_without_difference, requirements)))}"


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
    return " and ".join(others if len(others) > 1 else sizes)


def _requirement_records(
    env: Program, requirement: ProgramRequirement, number: int, namer: Namer, room: doc.Room
) -> Iterator[doc.Field]:
    """Yield each requirement, its operations, and on a page the smallest sizes at which it fails."""
    condition, origins = requirement.condition, requirement.origins
    yield doc.field("and" if number else "valid when", *stated(condition, namer))
    if origins and (requirement.is_direct or len(origins) == 1):
        others = prose_list([op_name(o) for o in origins[1:]], limit=NAMED)
        also = shorten_end(f", then by {others}" if others else "", 120)
        yield doc.field("", (*_operation(origins[0], namer), doc.Span(also)), lead="first needed by ")
    else:
        lines = [_operation(o, namer) for o in origins[:NAMED]]
        lines[1:] = [(doc.Span("and "), *line) for line in lines[1:]]
        more = doc.words(f"and {len(origins) - NAMED} more" if len(origins) > NAMED else "")
        yield doc.field("", *lines, more, lead="by ")
    if room is doc.Room.PAGE:
        sizes = env.counterexample(condition if len(env.clauses) > 1 else None)
        yield doc.field("fails at", doc.code(sizes_text(sizes), doc.NamedSizes(sizes)) if sizes else ())


def _operation(op: Op, namer: Namer) -> doc.Line:
    name, kind = shorten_end(op_name(op), 80), _op_kind(op, namer)
    return (
        doc.Span(name, True),
        doc.Span(": "),
        doc.Span(kind if op.kind == "require" else shorten_end(kind, 158 - len(name)), True),
    )


def _fields(env: Program, namer: Namer) -> Iterator[doc.Field]:
    witness, counterexample, more = env.witness(), env.counterexample(), len(env.requirements()) - SHOWN
    yield doc.field("and", doc.words(f"{more} more; .findings and JSON list them all" if more > 0 else ""))
    if env.requirements():
        yield generic_field(env, namer, is_open=env.is_open)
        yield doc.field("together", *doc.conjunction(env.clauses, namer, is_repeated=True))
    yield doc.field("impossible", *((doc.Span(text),) for text in operation_conflict_lines(env.conflict, namer)))
    yield doc.field("assuming", doc.whole("; ".join(visible(a.text) for a in env.assumptions)))
    yield doc.field("unproven", doc.words("" if env.verdict is Verdict.UNKNOWN else env.reason))
    if counterexample and env.verdict is not Verdict.NEVER:
        sizes = doc.Span(sizes_text(counterexample), True, math=doc.NamedSizes(counterexample))
        yield doc.field("fails at", (sizes, doc.Span(f": {_failure(env, counterexample)}")))
    if witness:
        yield doc.field("works at", doc.code(sizes_text(witness), doc.NamedSizes(witness)))
    yield doc.field("evidence", doc.words(evidence_text(env, bool(witness or counterexample))))


def _failure(env: Program, sizes: Mapping[str, int]) -> str:
    """Return the first reported operation that is not valid at some sizes, and its axis."""
    bound = env.symbol_sizes(sizes)
    failed = [r for r in env.requirements() if not holds_at(r.condition, bound)]
    asking = {op.number: op for r in failed for op in (r.origins[:1] if r.is_direct else r.origins)}
    for op in [asking[n] for n in sorted(asking)]:
        constraint = failing_constraint(op, bound)
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
