"""``symbcast cases`` divides the valid sizes of one broadcast into cases."""

from __future__ import annotations

from typing import Literal

from symbcast.cli.command import command
from symbcast.cli.options import Assumed, AttributeText, MinSize, RuleName, TextOrJson, result_for_shapes
from symbcast.cli.terminal import Exit, checked, print_json, print_text, show
from symbcast.core.algebra.arithmetic import check_limit

EPILOGUE = """Example: symbcast cases "batch, 1, T" "batch, S, T"

Exit status of cases: 0 if there are cases, 1 if no sizes are valid, 2 wrong usage or text, 3 not decided."""


@command(epilogue=EPILOGUE, subject="shapes", notes={"list all every": "cases are listed as it is: leave {} out"})
def cases(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    limit: int | None = None,
    dispatch: Literal["python", "cpp"] | None = None,
    format: TextOrJson = "text",
    **attributes: AttributeText,
) -> int:
    """Divide the valid sizes into cases: in each, all output sizes and stretched axes are the same.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "2..5, ?", "()". - reads them from standard input, one per line.
    limit
        The maximum number of cases to list.
    dispatch
        Instead, print a function that returns the case of given sizes: in Python or C++.
    **attributes
        The rule's own attributes; each is an option.
    """
    if limit is not None:
        checked("--limit", check_limit, limit)
    listed = result_for_shapes("cases", shapes, rule, assume, min_size, attributes).cases(limit)
    if dispatch is not None:
        print_text((listed.to_python() if dispatch == "python" else listed.to_cpp()).rstrip("\n"))
    elif format == "json":
        print_json(listed.to_dict())
    else:
        from symbcast.answers.cases.cases import cases_document

        show(cases_document(listed))
    return Exit.ALWAYS if len(listed) else Exit.FAILS
