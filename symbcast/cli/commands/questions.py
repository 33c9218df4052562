"""``symbcast cases``, ``solve``, ``repair``, ``prove`` and ``expand``: further questions about one broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from symbcast.cli.argument_advice import note_unknown_names
from symbcast.cli.options import (
    Assumed,
    AttributeText,
    MinSize,
    RuleName,
    TextOrJson,
    rule_of,
    rule_options,
    with_options,
)
from symbcast.cli.terminal import (
    Exit,
    UsageError,
    checked,
    command_line,
    is_numbers,
    print_json,
    print_text,
    read_shapes,
    show,
    status_of,
)
from symbcast.core.programs.arguments import check_limit
from symbcast.core.programs.assumptions import check_min_size
from symbcast.core.rules.registry import listed_rules

if TYPE_CHECKING:
    from symbcast.answers.public.result import Result


# ``symbcast cases``, ``symbcast solve`` and ``symbcast repair``: further questions about one broadcast.


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
        The rule's own attributes; `question_commands` makes an option of each.
    """
    if limit is not None:
        checked("--limit", check_limit, limit)
    found = result_for_shapes("cases", shapes, rule, assume, min_size, attributes).cases(limit)
    if dispatch is not None:
        print_text((found.to_python() if dispatch == "python" else found.to_cpp()).rstrip("\n"))
    elif format == "json":
        print_json(found.to_dict())
    else:
        from symbcast.answers.cases.cases import cases_document

        show(cases_document(found))
    return Exit.ALWAYS if len(found) else Exit.FAILS


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
        The rule's own attributes; `question_commands` makes an option of each.
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
    operands = _given(shapes, "solve")
    given = rule_of(rule, attributes)
    found = ask(*operands, out=out, assume=assume or (), min_size=min_size, budget=None, **given)
    note_unknown_names(assume, [*operands, out])
    if format == "json":
        print_json(found.to_dict())
    else:
        show(solution_document(call_with_output(found)))
    return status_of(found.verdict, "never")


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
        The rule's own attributes; `question_commands` makes an option of each.
    """
    from symbcast.answers.public.result import call_of
    from symbcast.core.verdicts import Verdict

    checked("--limit", check_limit, limit)
    result = result_for_shapes("repair", shapes, rule, assume, min_size, attributes)
    found = result.repairs(limit)
    if format == "json":
        from symbcast.answers.show.broadcast import repairs_data

        print_json(repairs_data(call_of(result), found))
    else:
        from symbcast.answers.show.broadcast import repairs_document

        show(repairs_document(call_of(result), found))
    if result.verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    return Exit.ALWAYS if found or result.verdict is Verdict.ALWAYS else Exit.FAILS


def result_for_shapes(  # noqa: PLR0913, PLR0917 - the options of the commands
    command: str,
    shapes: Sequence[str],
    rule: str,
    assume: list[str] | None,
    min_size: int,
    attributes: dict[str, AttributeText],
) -> Result:
    """Return the answer about the shapes given to a command; raise `UsageError` if there are none."""
    from symbcast.answers.public.result import broadcast

    checked("--min-size", check_min_size, min_size)
    operands = _given(shapes, command)
    given = rule_of(rule, attributes)
    found = broadcast(*operands, assume=assume or (), min_size=min_size, budget=None, **given)
    note_unknown_names(assume, operands)
    return found


def _given(shapes: Sequence[str], command: str) -> list[str]:
    if not shapes:
        raise UsageError(f'give one shape or more, each in quotes: symbcast {command} "N, 3" "M, 1"')
    return read_shapes(shapes, is_blank_read=False)


# ``symbcast prove`` and ``symbcast expand``: consequences of one broadcast.


ENTAILMENT_EPILOGUES = {
    "prove": """Example: symbcast prove "N, 3" "M, 1" --assume "N >= 2" --that "N == M or M == 1"

Exit status of prove: 0 if all relations hold, 1 if one does not, 2 wrong usage or text, 3 not decided.""",
    "expand": """Example: symbcast expand "n, 4" "2, 4"

Exit status of expand: 0 all axes are decided, 1 no sizes are valid, 2 wrong usage or text, 3 not decided.""",
}


def entailment_commands(with_plugins: bool) -> dict[str, Callable[..., int]]:
    """Return the commands by name, each with an option for every attribute of the rules."""
    options = rule_options(listed_rules(with_plugins))
    return {command.__name__: with_options(command, options, after="rule") for command in (prove, expand)}


def prove(
    *shapes: str,
    that: list[str] | None = None,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    format: TextOrJson = "text",
    **attributes: AttributeText,
) -> int:
    """Say whether relations hold at all sizes at which some shapes broadcast, or at which sizes they fail.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "M, 1". - reads them from standard input, one per line.
    that
        A relation between their sizes, such as "N == M"; may be repeated.
    **attributes
        The rule's own attributes; `entailment_commands` makes an option of each.
    """
    from symbcast.answers.public.consequences import prove_relations, relations_data, relations_document
    from symbcast.answers.public.result import call_of

    if not that:
        raise UsageError(f"say what to prove: {command_line('prove', shapes or ('N, 3', 'M, 1'), '--that', 'N == M')}")
    call = call_of(result_for_shapes("prove", shapes, rule, assume, min_size, attributes))
    found = [prove_relations(call, relation) for relation in that]
    if format == "json":
        print_json(relations_data(call, found))
    else:
        show(relations_document(call, found))
    if any(p.sizes is not None for p in found):
        return Exit.FAILS
    return Exit.UNDECIDED if any(p.reason for p in found) else Exit.ALWAYS


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
        The rule's own attributes; `entailment_commands` makes an option of each.
    """
    from symbcast.answers.public.consequences import all_expansions, expansion_document
    from symbcast.answers.public.result import call_of
    from symbcast.core.verdicts import Verdict

    result = result_for_shapes("expand", shapes, rule, assume, min_size, attributes)
    never = result.verdict is Verdict.NEVER
    found = () if never else all_expansions(call_of(result))
    if format == "stablehlo":
        print_text(result.to_stablehlo().rstrip("\n"))  # raises the reason if no sizes are valid
    elif format == "json":
        print_json({"verdict": result.verdict.value, "expansions": [e.to_dict() for e in found]})
    else:
        show(expansion_document(call_of(result), found))
    if never:
        return Exit.FAILS
    return Exit.UNDECIDED if any(e.verdict is Verdict.UNKNOWN for e in found) else Exit.ALWAYS
