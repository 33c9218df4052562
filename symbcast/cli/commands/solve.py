"""``symbcast solve``: for which sizes one broadcast has a wanted output."""

from __future__ import annotations

from symbcast.cli.argument_advice import note_unknown_names
from symbcast.cli.command import command
from symbcast.cli.options import Assumed, AttributeText, MinSize, RuleName, TextOrJson, rule_of, shapes_of
from symbcast.cli.terminal import UsageError, checked, command_line, is_numbers, print_json, show, status_of
from symbcast.core.algebra.arithmetic import check_min_size

EPILOGUE = """Example: symbcast solve "?, 3" "N, 1" --out "5, 3"

Exit status of solve: 0 if sizes give the output, 1 if none do, 2 wrong usage or text, 3 not decided."""


@command(epilogue=EPILOGUE, subject="shapes", needs="--out")
def solve(
    *shapes: str,
    out: str | None = None,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    format: TextOrJson = "text",
    **attributes: AttributeText,
) -> int:
    """Say for which sizes some shapes broadcast to a wanted output.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "?, 3", "N, 1".
    out
        The wanted output, such as "5, 3".
    **attributes
        The rule's own attributes; each is an option.
    """
    from symbcast.answers.public.solutions import call_with_output, solution_document
    from symbcast.answers.public.solutions import solve as ask

    if out is None:
        shapes = shapes or ("?, 3", "N, 1")
        *operands, last = shapes
        is_last = len(operands) > 1 and is_numbers(last)
        given_out = last if is_last else "5, 3"
        raise UsageError(
            f"give the wanted output: {command_line('solve', operands if is_last else shapes, '--out', given_out)}"
        )
    checked("--min-size", check_min_size, min_size)
    operands = shapes_of(shapes, "solve")
    rule_keywords = rule_of(rule, attributes)
    solution = ask(*operands, out=out, assume=assume or (), min_size=min_size, budget=None, **rule_keywords)
    note_unknown_names(assume, [*operands, out])
    if format == "json":
        print_json(solution.to_dict())
    else:
        show(solution_document(call_with_output(solution)))
    return status_of(solution.verdict, "never")
