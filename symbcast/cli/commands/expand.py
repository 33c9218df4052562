"""``symbcast expand``: which operands one broadcast stretches, and along which axes."""

from __future__ import annotations

from typing import Literal

from symbcast.cli.command import command
from symbcast.cli.options import Assumed, AttributeText, MinSize, RuleName, result_for_shapes
from symbcast.cli.terminal import Exit, print_json, print_text, show
from symbcast.core.verdicts import Verdict

EPILOGUE = """Example: symbcast expand "n, 4" "2, 4"

Exit status of expand: 0 all axes are decided, 1 no sizes are valid, 2 wrong usage or text, 3 not decided."""


@command(epilogue=EPILOGUE, subject="shapes")
def expand(
    *shapes: str,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    format: Literal["text", "json", "stablehlo"] = "text",
    **attributes: AttributeText,
) -> int:
    """Say for each operand and each axis of the output whether the operand is stretched: always, never, or when.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "n, 4", "2, 4". - reads them from standard input, one per line.
    format
        Text to read, JSON, or a StableHLO module that states what is proved about the axes.
    **attributes
        The rule's own attributes; each is an option.
    """
    from symbcast.answers.public.consequences import all_expansions, expansion_document
    from symbcast.answers.public.result import call_of

    result = result_for_shapes("expand", shapes, rule, assume, min_size, attributes)
    never = result.verdict is Verdict.NEVER
    expansions = () if never else all_expansions(call_of(result))
    if format == "stablehlo":
        print_text(result.to_stablehlo().rstrip("\n"))  # raises the reason if no sizes are valid
    elif format == "json":
        print_json({"verdict": result.verdict.value, "expansions": [e.to_dict() for e in expansions]})
    else:
        show(expansion_document(call_of(result), expansions))
    if never:
        return Exit.FAILS
    return Exit.UNDECIDED if any(e.verdict is Verdict.UNKNOWN for e in expansions) else Exit.ALWAYS
