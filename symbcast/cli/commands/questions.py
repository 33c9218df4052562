"""``symbcast cases``, ``symbcast solve`` and ``symbcast repair``: further questions about one broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from symbcast.cli.advice.names import note_strangers
from symbcast.cli.advice.words import is_numbers, line
from symbcast.cli.options import Assumed, MinSize, RuleName, TextOrJson
from symbcast.cli.output import print_json, print_text, show
from symbcast.cli.rule_options import Given, rule_of, rule_options, with_options
from symbcast.cli.shapes import read_shapes
from symbcast.cli.statuses import Exit, UsageError, checked, status_of
from symbcast.core.broadcasting.registry import listed_rules
from symbcast.core.program.limits import check_limit
from symbcast.core.program.sizes.assumptions import check_min_size

if TYPE_CHECKING:
    from symbcast.answers.public.result import Result

EPILOGUES = {
    "cases": """Example: symbcast cases "batch, 1, T" "batch, S, T"

Exit status of cases: 0 if there are cases, 1 if no sizes are valid, 2 wrong usage or text, 3 not decided.""",
    "solve": """Example: symbcast solve "?, 3" "N, 1" --out "5, 3"

Exit status of solve: 0 if sizes give the output, 1 if none do, 2 wrong usage or text, 3 not decided.""",
    "repair": """Example: symbcast repair "batch, heads, T, S" "batch, S"

Exit status of repair: 0 if a repair was found or none is needed, 1 if none was found, 2 wrong usage, 3 not decided.""",
}


def question_commands(with_plugins: bool) -> dict[str, Callable[..., int]]:
    """Return the commands by name, each with an option for every attribute of the rules."""
    options = rule_options(listed_rules(with_plugins))
    return {command.__name__: with_options(command, options, after="rule") for command in (cases, solve, repair)}


def cases(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    limit: int | None = None,
    dispatch: Literal["python", "cpp"] | None = None,
    format: TextOrJson = "text",
    **attributes: Given,
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
        The rule's own attributes; `question_commands` makes an option of each.
    """
    if limit is not None:
        checked("--limit", check_limit, limit)
    found = asked("cases", shapes, rule, assume, min_size, attributes).cases(limit)
    if dispatch is not None:
        print_text((found.to_python() if dispatch == "python" else found.to_cpp()).rstrip("\n"))
    elif format == "json":
        print_json(found.to_dict())
    else:
        from symbcast.answers.questions.case_texts import document

        show(document(found))
    return Exit.ALWAYS if len(found) else Exit.FAILS


def solve(
    *shapes: str,
    out: str | None = None,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    format: TextOrJson = "text",
    **attributes: Given,
) -> int:
    """Say for which sizes some shapes broadcast to a wanted output.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "?, 3", "N, 1".
    out
        The wanted output, such as "5, 3".
    **attributes
        The rule's own attributes; `question_commands` makes an option of each.
    """
    from symbcast.answers.public.solutions import call_of
    from symbcast.answers.public.solutions import solve as ask
    from symbcast.answers.questions.solution_texts import document

    if out is None:
        shapes = shapes or ("?, 3", "N, 1")
        *operands, last = shapes
        is_last = len(operands) > 1 and is_numbers(last)
        given_out = last if is_last else "5, 3"
        raise UsageError(
            f"give the wanted output: {line('solve', operands if is_last else shapes, '--out', given_out)}"
        )
    checked("--min-size", check_min_size, min_size)
    operands = _given(shapes, "solve")
    given = rule_of(rule, attributes)
    found = ask(*operands, out=out, assume=assume or (), min_size=min_size, budget=None, **given)
    note_strangers(assume, [*operands, out])
    if format == "json":
        print_json(found.to_dict())
    else:
        show(document(call_of(found)))
    return status_of(found.verdict, "never")


def repair(
    *shapes: str,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    limit: int = 5,
    format: TextOrJson = "text",
    **attributes: Given,
) -> int:
    """Suggest changes after which some shapes broadcast, or broadcast as intended: the likeliest first.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "batch, heads, T, S", "batch, S".
    limit
        The maximum number of repairs to list.
    **attributes
        The rule's own attributes; `question_commands` makes an option of each.
    """
    from symbcast.answers.public.result import call_of
    from symbcast.core.verdicts import Verdict

    checked("--limit", check_limit, limit)
    result = asked("repair", shapes, rule, assume, min_size, attributes)
    found = result.repairs(limit)
    if format == "json":
        from symbcast.answers.show.repairs import to_data

        print_json(to_data(call_of(result), found))
    else:
        from symbcast.answers.show.repairs import document

        show(document(call_of(result), found))
    if result.verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    return Exit.ALWAYS if found or result.verdict is Verdict.ALWAYS else Exit.FAILS


def asked(  # noqa: PLR0913, PLR0917 - the options of the commands
    command: str,
    shapes: Sequence[str],
    rule: str,
    assume: list[str] | None,
    min_size: int,
    attributes: dict[str, Given],
) -> Result:
    """Return the answer about the shapes given to a command; raise `UsageError` if there are none."""
    from symbcast.answers.public.result import broadcast

    checked("--min-size", check_min_size, min_size)
    operands = _given(shapes, command)
    given = rule_of(rule, attributes)
    found = broadcast(*operands, assume=assume or (), min_size=min_size, budget=None, **given)
    note_strangers(assume, operands)
    return found


def _given(shapes: Sequence[str], command: str) -> list[str]:
    if not shapes:
        raise UsageError(f'give one shape or more, each in quotes: symbcast {command} "N, 3" "M, 1"')
    return read_shapes(shapes, is_blank_read=False)
