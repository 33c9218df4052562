"""``symbcast prove`` and ``symbcast expand``: consequences of one broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from symbcast.cli.advice.words import line
from symbcast.cli.commands.questions import asked
from symbcast.cli.options import Assumed, MinSize, RuleName, TextOrJson
from symbcast.cli.output import print_json, print_text, show
from symbcast.cli.rule_options import Given, rule_options, with_options
from symbcast.cli.statuses import Exit, UsageError
from symbcast.core.broadcasting.registry import listed_rules

EPILOGUES = {
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
    **attributes: Given,
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
    from symbcast.answers.public.result import call_of
    from symbcast.answers.questions.proved_texts import document, proved, to_data

    if not that:
        raise UsageError(f"say what to prove: {line('prove', shapes or ('N, 3', 'M, 1'), '--that', 'N == M')}")
    call = call_of(asked("prove", shapes, rule, assume, min_size, attributes))
    found = [proved(call, relation) for relation in that]
    if format == "json":
        print_json(to_data(call, found))
    else:
        show(document(call, found))
    if any(p.sizes is not None for p in found):
        return Exit.FAILS
    return Exit.UNDECIDED if any(p.reason for p in found) else Exit.ALWAYS


def expand(
    *shapes: str,
    rule: RuleName = "numpy",
    assume: Assumed = None,
    min_size: MinSize = 0,
    format: Literal["text", "json", "stablehlo"] = "text",
    **attributes: Given,
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
    from symbcast.answers.public.expansion import all_expansions, document
    from symbcast.answers.public.result import call_of
    from symbcast.core.verdicts import Verdict

    result = asked("expand", shapes, rule, assume, min_size, attributes)
    never = result.verdict is Verdict.NEVER
    found = () if never else all_expansions(call_of(result))
    if format == "stablehlo":
        print_text(result.to_stablehlo().rstrip("\n"))  # raises the reason if no sizes are valid
    elif format == "json":
        print_json({"verdict": result.verdict.value, "expansions": [e.to_dict() for e in found]})
    else:
        show(document(call_of(result), found))
    if never:
        return Exit.FAILS
    return Exit.UNDECIDED if any(e.verdict is Verdict.UNKNOWN for e in found) else Exit.ALWAYS
