"""``symbcast check``: for which sizes shapes broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from symbcast.cli.files import STDIN, read_stdin
from symbcast.cli.options import AGAIN, GuardIn, MinSize, TextOrJson, guard_text
from symbcast.cli.output import Format, print_json, print_text, show
from symbcast.cli.rule_options import Given, rule_of, rule_options, with_options
from symbcast.cli.statuses import Exit, UsageError, checked
from symbcast.core.broadcasting.registry import listed_rules
from symbcast.core.program.sizes.assumptions import check_min_size

if TYPE_CHECKING:
    from symbcast.answers.public.result import Result

Dialect: TypeAlias = Literal["default", "mlir", "einops", "jaxtyping"]
_SPACED = ("einops", "jaxtyping")
"""The dialects in which blank text is the only way to write rank 0."""

EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Exit status of check: 0 always valid, 1 valid for some sizes or none, 2 wrong usage or text, 3 not decided."""


def check_command(with_plugins: bool) -> Callable[..., int]:
    """Return the command with options for the attributes of symbcast's rules, or also of installed packages' rules."""
    return with_options(check, rule_options(listed_rules(with_plugins)), after="rule")


def check(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: str = "numpy",
    assume: Annotated[list[str] | None, AGAIN] = None,
    min_size: MinSize = 0,
    dialect: Dialect | None = None,
    format: TextOrJson = "text",
    guard: GuardIn = None,
    fail_on: Literal["never", "sometimes"] = "sometimes",
    **attributes: Given,
) -> int:
    """Say for which sizes some shapes broadcast, and to which output.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "2..5, ?", "..., 3", "()" for rank 0. - reads them from standard input, one
        per line; a shape that begins with "-", other than a size such as -1, must follow --.
    rule
        The rule to broadcast by, such as none or "pdpd(axis=1)"; see `symbcast rules`. torch, tensorflow, jax and onnx
        are NumPy's rule, for the number of shapes that each of them takes.
    assume
        An assumption about the sizes, such as "N >= 2"; must mention a size of the shapes; may be repeated.
    dialect
        The notation of the shapes.
    fail_on
        When to exit with 1: if shapes are valid only for some sizes or for none, or just if for none.
    **attributes
        The rule's own attributes; `check_command` makes an option of each.
    """
    from symbcast.answers.public.result import broadcast as ask
    from symbcast.core.shapes import from_text
    from symbcast.core.verdicts import Verdict

    if not shapes:
        raise UsageError('give one shape or more, each in quotes: symbcast check "N, 3" "M, 1"')
    checked("--min-size", check_min_size, min_size)
    given = rule_of(rule, attributes)
    operands = [from_text(s, dialect) if dialect else s for s in read_shapes(shapes, dialect in _SPACED)]
    result = ask(*operands, assume=assume or (), min_size=min_size, budget=None, **given)
    verdict = result.verdict
    if guard is None:
        _show(result, format)
    else:
        print_text(guard_text(result, guard, format))
    if verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    failing = (Verdict.NEVER,) if fail_on == "never" else (Verdict.NEVER, Verdict.SOMETIMES)
    return Exit.FAILS if verdict in failing else Exit.ALWAYS


def read_shapes(shapes: Sequence[str], is_blank_read: bool) -> list[str]:
    """Return the shapes as typed, with ``-`` replaced by the non-blank lines of standard input.

    Raises `UsageError` for a blank shape, such as an unset shell variable. With ``is_blank_read``, blank text means
    rank 0.
    """
    if list(shapes).count(STDIN) > 1:
        raise UsageError("- is given twice, but standard input can be read only once")
    for number, text in enumerate(shapes, 1):
        if not text.strip() and not is_blank_read:
            raise UsageError(
                f'shape {number} is empty; write "()" for rank 0, or check that the variable it comes from is set'
            )
    return [line for text in shapes for line in (_lines() if text == STDIN else (text,))]


def _lines() -> list[str]:
    lines = [line.strip() for line in read_stdin().decode("utf-8", "surrogateescape").splitlines()]
    found = [line for line in lines if line]
    if not found:
        raise UsageError("- reads shapes from standard input, which is empty; write one per line")
    return found


def _show(result: Result, format: Format) -> None:
    from symbcast.answers.public.result import call_of
    from symbcast.answers.show.call import document

    call = call_of(result)
    if format == "json":
        from symbcast.answers.exchange.answers import result_to_dict
        from symbcast.answers.show.json import render

        print_json({**result_to_dict(call), "explanation": render(document(call))})
        return
    show(document(call))
