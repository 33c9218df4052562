"""A program's answer in words: what it asks and where that comes from first, where it fails, and what clashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.characters import clipped, visible
from symbcast.explaining.naming import Namer, axis_text, listed, rule_text, sizes_text
from symbcast.explaining.sections import Section, Span, code, saying, section, words
from symbcast.explaining.words import in_words
from symbcast.formulas import FALSE, Formula, all_of, dims_of
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.constraints import Constraint
    from symbcast.programs.answers import Requirement
    from symbcast.programs.op import Op
    from symbcast.programs.program import Program

LABEL = 13
LONGEST = 400
SHOWN = 12
"""How many conditions, or operations of a conflict, are shown."""
NAMED = 3
"""How many of the operations that one condition comes from are named."""


def explanation(env: Program) -> str:
    """Return the answer about a program in words.

    >>> from symbcast.programs.program import Program
    >>> env = ShapeEnv(assume="batch >= 1")
    >>> scores = env.broadcast("batch, T, S", "batch, 1, T", origin="mask")
    >>> print(explanation(env))
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
    parts = [_as_section(told, n) for n, told in enumerate(requirements(env, namer))] + sections(env, namer)
    lines = [": ".join(heading(env)), ""]
    for part in parts:
        lines += [f"{part.label if n == 0 else '':<{LABEL}}{clipped(t, LONGEST)}" for n, t in enumerate(part.texts)]
    return "\n".join(lines).rstrip()


def heading(env: Program) -> tuple[str, str]:
    """Return how large the program is, and the verdict in words."""
    count = sum(op.kind != "assume" for op in env.operations)
    plural = "" if count == 1 else "s"
    sizes = "1 size" if len(env.shown) == 1 else f"{len(env.shown)} sizes"
    under = " under the assumptions" if env.assumptions else ""
    return f"{count} operation{plural} over {sizes}", f"{_verdict(env.verdict)}{under}"


def refusal(op: Op, operations: Sequence[Op], assumptions: Sequence[str]) -> str:
    """Return why an operation was refused, for an exception's message."""
    others = [o for o in operations if o.number != op.number]
    name = f"the assumption {clipped(visible(op.text), 80)}" if op.kind == "assume" else op_name(op)
    if not others:
        lines = [f"{name} can hold for no sizes"]
    else:
        beside = listed([op_name(o) for o in others]) if len(others) < 4 else "these"
        lines = [f"{name} cannot hold beside {beside}"]
    lines += [f"    {clipped(text, 200)}" for text in conflict_lines(operations, Namer.of({}))]
    if assumptions:
        lines.append(f"assuming {clipped('; '.join(assumptions), 200)}")
    return "\n".join(lines)


def conflict_lines(operations: Sequence[Op], namer: Namer) -> list[str]:
    """Return the operations of a conflict, each with what it asks."""
    shown = operations[:SHOWN]
    lines = [op_text(o, namer) if o.kind == "require" else f"{op_text(o, namer)} asks {asks(o, namer)}" for o in shown]
    if len(operations) > len(shown):
        lines.append(f"and {len(operations) - len(shown)} more")
    return lines


def op_name(op: Op) -> str:
    """Return what an operation is called, on one line."""
    return visible(op.name)


def op_text(op: Op, namer: Namer) -> str:
    """Return an operation: what it is called, and what it is."""
    return f"{op_name(op)}: {op_kind(op, namer)}"


def op_kind(op: Op, namer: Namer) -> str:
    """Return what an operation is, with its operands."""
    operands = ", ".join(map(namer.shape, op.operands))
    match op.kind:
        case "broadcast":
            return f"{rule_text(op.rule) if op.rule else ''} of {operands}"
        case "equal":
            return f"equality of {operands}"
        case kind:
            return f"{kind} {visible(op.text)}"


def asks(op: Op, namer: Namer) -> str:
    """Return what an operation asks of sizes, as text; of what cannot be, why."""
    from symbcast.deciding.normal import flattened

    for constraint in op.constraints:
        if FALSE in flattened([constraint.requirement]):
            origin = constraint.origin
            where = f"{axis_text(origin.axis, origin.rank)}: " if origin.axis is not None and origin.rank else ""
            sizes = " beside ".join(dict.fromkeys(map(namer.dim, dims_of(constraint.requirement))))
            return f"what cannot be: {where}{f'{sizes}, and ' if sizes else ''}{constraint.reason}"
    return namer.formula(all_of(flattened(c.requirement for c in op.constraints)))


def _verdict(verdict: Verdict) -> str:
    return {
        Verdict.ALWAYS: "valid for all sizes",
        Verdict.SOMETIMES: "valid for some sizes",
        Verdict.NEVER: "valid for no sizes",
        Verdict.UNKNOWN: "not decided",
    }[verdict]


class Asker(NamedTuple):
    """An operation that a requirement comes from: ``also`` are those after it that ask the same."""

    name: str
    kind: str
    also: str = ""


class Told(NamedTuple):
    """A requirement in words: ``is_asked`` by the first of its askers alone, or by all of them together."""

    condition: Formula
    words: str
    is_asked: bool
    askers: tuple[Asker, ...]
    more: str = ""


def requirements(env: Program, namer: Namer) -> list[Told]:
    """Return what a program asks and where that comes from, as far as it is shown."""
    return [_told(requirement, namer) for requirement in env.requirements()[:SHOWN]]


def sections(env: Program, namer: Namer) -> list[Section]:
    """Return the labelled parts of an answer that come after its requirements, those that say something."""
    witness, counterexample, more = env.witness(), env.counterexample(), len(env.requirements()) - SHOWN
    fails = counterexample if env.verdict is not Verdict.NEVER else None
    return saying(
        [
            section("and", words(f"{more} more; .requirements() has them all" if more > 0 else "")),
            section("together", code(_together(env, namer))),
            section("impossible", *map(words, conflict_lines(env.conflict, namer))),
            section("assuming", code("; ".join(visible(a.text) for a in env.assumptions))),
            section("undecided" if env.verdict is Verdict.UNKNOWN else "unproven", words(env.reason)),
            section("fails at", (Span(sizes_text(fails), True), Span(f": {failure(env, fails)}")) if fails else ()),
            section("works at", code(sizes_text(witness) if witness else "")),
        ]
    )


def _together(env: Program, namer: Namer) -> str:
    # Of a clause there are some characters at least: more clauses than these are not seen.
    return namer.formula(all_of(env.clauses[:LONGEST])) if env.requirements() else ""


def _told(requirement: Requirement, namer: Namer) -> Told:
    said, origins = in_words(requirement.condition, namer), requirement.origins
    if len(origins) > 0 and (requirement.is_asked or len(origins) == 1):
        others = listed([op_name(o) for o in origins[1:]], limit=NAMED)
        asker = Asker(op_name(origins[0]), op_kind(origins[0], namer), f", then by {others}" if others else "")
        return Told(requirement.condition, said, True, (asker,))
    askers = tuple(Asker(op_name(o), op_kind(o, namer)) for o in origins[:NAMED])
    more = f"and {len(origins) - NAMED} more" if len(origins) > NAMED else ""
    return Told(requirement.condition, said, False, askers, more)


def _as_section(told: Told, number: int) -> Section:
    lines = [words(told.words)]
    for n, asker in enumerate(told.askers):
        lead = "first asked by" if told.is_asked else "and" if n else "by"
        lines.append(words(f"{lead} {clipped(f'{asker.name}: {asker.kind}', 160)}{clipped(asker.also, 120)}"))
    return section("and" if number else "valid when", *lines, words(told.more))


def failure(env: Program, sizes: Mapping[str, int]) -> str:
    """Return an operation that is not valid at some sizes, the first of those that are told of, and on which axis."""
    from symbcast.deciding.evaluating import holds_at

    bound = {s: sizes[name] for s, name in env.shown.items()}
    failed = [r for r in env.requirements() if not holds_at(r.condition, bound)]
    asking = {op.number: op for r in failed for op in (r.origins[:1] if r.is_asked else r.origins)}
    for op in [asking[n] for n in sorted(asking)]:
        for constraint in op.constraints:
            if not holds_at(constraint.requirement, bound):
                origin = constraint.origin
                where = f", {axis_text(origin.axis, origin.rank)}" if origin.axis is not None and origin.rank else ""
                return f"{op_name(op)}{where}{_sizes_there(op, constraint, bound)} ({constraint.reason})"
    return "an operation is not valid"


def _sizes_there(op: Op, constraint: Constraint, bound: Mapping[Any, int]) -> str:
    """Return the sizes that meet where a constraint fails."""
    from symbcast.deciding.compiled import UndefinedError
    from symbcast.deciding.evaluating import size_at

    try:
        values = [str(size_at(d, bound)) for d in dims_of(constraint.requirement)]
    except (UndefinedError, ZeroDivisionError):
        return ""
    if op.kind == "require":
        return ""
    distinct = list(dict.fromkeys(values))
    clashing = [v for v in distinct if v != "1"]
    shown = clashing if len(clashing) > 1 else distinct
    return f", {' beside '.join(shown)}" if len(shown) > 1 else ""
