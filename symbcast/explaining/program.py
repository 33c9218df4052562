"""A program's answer in words: what it asks and where that comes from first, where it fails, and what clashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.explaining.naming import Namer, axis_text, clipped, listed, rule_text, sizes_text
from symbcast.explaining.words import in_words
from symbcast.formulas import FALSE, all_of, dims_of
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.constraints import Constraint
    from symbcast.env import ShapeEnv
    from symbcast.programs.answers import Requirement
    from symbcast.programs.op import Op

LABEL = 13
LONGEST = 400
SHOWN = 12
"""How many conditions, or operations of a conflict, are shown."""
NAMED = 3
"""How many of the operations that one condition comes from are named."""


def explanation(env: ShapeEnv) -> str:
    """Return the answer about a program in words.

    >>> from symbcast.env import ShapeEnv
    >>> env = ShapeEnv(assume="batch >= 1")
    >>> scores = env.broadcast("batch, T, S", "batch, 1, T", origin="mask")
    >>> print(explanation(env))
    1 operation over 3 sizes: valid for some sizes under the assumptions
    <BLANKLINE>
    valid when   S and T are equal, or one of them is 1
                 first asked by mask: numpy of (batch, T, S), (batch, 1, T)
    together     S == T or S == 1 or T == 1
    assuming     batch >= 1
    fails at     batch=1, T=2, S=3: mask, axis 2 (-1), 3 beside 2 (sizes must be equal or 1)
    works at     batch=1, T=1, S=1
    """
    namer = Namer.of(env.names)
    ops = [op for op in env.operations if op.kind != "assume"]
    plural = "" if len(ops) == 1 else "s"
    sizes = "1 size" if len(env.symbols) == 1 else f"{len(env.symbols)} sizes"
    under = " under the assumptions" if env.assumptions else ""
    lines = [f"{len(ops)} operation{plural} over {sizes}: {_verdict(env.verdict)}{under}", ""]
    for label, texts in _sections(env, namer):
        lines += [f"{label if n == 0 else '':<{LABEL}}{clipped(t, LONGEST)}" for n, t in enumerate(texts)]
    return "\n".join(lines).rstrip()


def refusal(op: Op, operations: Sequence[Op], assumptions: Sequence[str]) -> str:
    """Return why an operation was refused, for an exception's message."""
    others = [o for o in operations if o.number != op.number]
    name = f"the assumption {clipped(op.text, 80)}" if op.kind == "assume" else op.name
    if not others:
        lines = [f"{name} can hold for no sizes"]
    else:
        beside = listed([o.name for o in others]) if len(others) < 4 else "these"
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


def op_text(op: Op, namer: Namer) -> str:
    """Return an operation: what it is called, and what it is."""
    operands = ", ".join(map(namer.shape, op.operands))
    match op.kind:
        case "broadcast":
            return f"{op.name}: {rule_text(op.rule) if op.rule else ''} of {operands}"
        case "equal":
            return f"{op.name}: equality of {operands}"
        case kind:
            return f"{op.name}: {kind} {op.text}"


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


def _sections(env: ShapeEnv, namer: Namer) -> list[tuple[str, list[str]]]:
    witness, counterexample = env.witness(), env.counterexample()
    requirements = env.requirements()
    found: list[tuple[str, list[str]]] = []
    for number, requirement in enumerate(requirements[:SHOWN]):
        found.append(("and" if number else "valid when", _requirement(requirement, namer)))
    if len(requirements) > SHOWN:
        found.append(("and", [f"{len(requirements) - SHOWN} more; .requirements() has them all"]))
    if requirements:
        found.append(("together", [namer.formula(all_of(env.clauses))]))
    found.append(("impossible", conflict_lines(env.conflict, namer)))
    assumed = [a.text for a in env.assumptions]
    found.append(("assuming", ["; ".join(assumed)] if assumed else []))
    found.append(("undecided" if env.verdict is Verdict.UNKNOWN else "unproven", [env.reason] if env.reason else []))
    if counterexample and env.verdict is not Verdict.NEVER:
        found.append(("fails at", [f"{sizes_text(counterexample)}: {_failure(env, counterexample)}"]))
    found.append(("works at", [sizes_text(witness)] if witness else []))
    return [(label, texts) for label, texts in found if texts]


def _requirement(requirement: Requirement, namer: Namer) -> list[str]:
    first, *others = requirement.origins or (None,)
    lines = [in_words(requirement.condition, namer)]
    if first is not None and (requirement.is_asked or not others):
        also = f", then by {listed([o.name for o in others], limit=NAMED)}" if others else ""
        lines.append(f"first asked by {clipped(op_text(first, namer), 160)}{clipped(also, 120)}")
    else:
        shown = requirement.origins[:NAMED]
        lines += [f"{'by' if n == 0 else 'and'} {clipped(op_text(o, namer), 160)}" for n, o in enumerate(shown)]
        lines += [f"and {len(requirement.origins) - NAMED} more"] * (len(requirement.origins) > NAMED)
    return lines


def _failure(env: ShapeEnv, sizes: Mapping[str, int]) -> str:
    """Return the first operation that is not valid at some sizes, and on which axis."""
    from symbcast.deciding.evaluating import holds_at

    bound = {s: sizes[name] for s, name in env.names.items()}
    for op in env.operations:
        if op.kind == "assume":
            continue
        for constraint in op.constraints:
            if not holds_at(constraint.requirement, bound):
                origin = constraint.origin
                where = f", {axis_text(origin.axis, origin.rank)}" if origin.axis is not None and origin.rank else ""
                return f"{op.name}{where}{_sizes_there(op, constraint, bound)} ({constraint.reason})"
    return "an operation is not valid"


def _sizes_there(op: Op, constraint: Constraint, bound: Mapping[object, int]) -> str:
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
