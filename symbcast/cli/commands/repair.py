"""``symbcast repair`` suggests changes after which shapes broadcast."""

from __future__ import annotations

from symbcast.cli.command import command
from symbcast.cli.options import Assumed, AttributeText, MinSize, RuleName, TextOrJson, result_for_shapes
from symbcast.cli.terminal import Exit, checked, print_json, show
from symbcast.core.algebra.arithmetic import check_limit
from symbcast.core.verdicts import Verdict

EPILOGUE = """Example: symbcast repair "batch, heads, T, S" "batch, S"

Exit status of repair: 0 if a repair was found or none is needed, 1 if none was found, 2 wrong usage, 3 not decided."""
WORDS = {"fix": 'repair "N, 3" "M, 4"'}


@command(epilogue=EPILOGUE, subject="shapes", words=WORDS)
def repair(
    *shapes: str,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    limit: int = 5,
    format: TextOrJson = "text",
    **attributes: AttributeText,
) -> int:
    """Suggest changes after which some shapes broadcast, or broadcast as intended: the likeliest first.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "batch, heads, T, S", "batch, S".
    limit
        The maximum number of repairs to list.
    **attributes
        The rule's own attributes; each is an option.
    """
    from symbcast.answers.public.result import call_of

    checked("--limit", check_limit, limit)
    result = result_for_shapes("repair", shapes, rule, assume, min_size, attributes)
    repairs = result.repairs(limit)
    if format == "json":
        from symbcast.answers.show.broadcast import repairs_data

        print_json(repairs_data(call_of(result), repairs))
    else:
        from symbcast.answers.show.broadcast import repairs_document

        show(repairs_document(call_of(result), repairs))
    if result.verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    return Exit.ALWAYS if repairs or result.verdict is Verdict.ALWAYS else Exit.FAILS
