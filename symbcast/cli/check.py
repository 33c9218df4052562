"""``symbcast check`` asks about one broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from symbcast.broadcasting.registry import listed_rules
from symbcast.cli.output import Format, print_json, show
from symbcast.cli.rule_options import Given, attributes_of, rule_options, with_options
from symbcast.cli.statuses import Exit, UsageError

if TYPE_CHECKING:
    from symbcast.api.result import Result

EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Exit status of check: 0 always valid, 1 valid for some sizes or none, 2 wrong usage or text, 3 not decided."""


def check_command(with_plugins: bool) -> Callable[..., int]:
    """Return the command with an option for each attribute of symbcast's rules, or of installed packages' too."""
    return with_options(check, rule_options(listed_rules(with_plugins)), after="rule")


def check(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: str = "numpy",
    assume: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    min_size: int = 0,
    dialect: str | None = None,
    format: Format = "text",
    fail_on: Literal["never", "sometimes"] = "sometimes",
    **attributes: Given,
) -> int:
    """Say for which sizes some shapes broadcast, and to what.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "2..5, ?", "()".
    rule
        The rule to broadcast by; see `symbcast rules`.
    assume
        What is known of the sizes, such as "N >= 2"; may be given again.
    min_size
        The least size of every symbol.
    dialect
        The notation of the shapes: default, mlir, einops or jaxtyping.
    format
        Text to read, or JSON.
    fail_on
        What exits with 1: shapes that are valid for some sizes only, or for none.
    **attributes
        The rule's own; `check_command` makes an option of each.
    """
    from symbcast.api.result import broadcast as ask
    from symbcast.shapes import from_text
    from symbcast.verdicts import Verdict

    if not shapes:
        raise UsageError('give one shape or more, each in quotes: symbcast check "N, 3" "M, 1"')
    given = attributes_of(rule, attributes)
    operands = [from_text(s, dialect) if dialect else s for s in shapes]
    result = ask(*operands, rule=rule, assume=assume or (), min_size=min_size, budget=None, **given)
    verdict = result.verdict
    _show(result, format)
    if verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    failing = (Verdict.NEVER,) if fail_on == "never" else (Verdict.NEVER, Verdict.SOMETIMES)
    return Exit.FAILS if verdict in failing else Exit.ALWAYS


def _show(result: Result, format: Format) -> None:
    from symbcast.show.call import document

    if format == "json":
        from symbcast.exchange.answers import result_to_dict
        from symbcast.show.json import render

        print_json({**result_to_dict(result), "explanation": render(document(result))})
        return
    show(document(result))
