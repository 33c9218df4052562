"""``symbcast check`` asks about one broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from symbcast.cli.arguments import numbers
from symbcast.cli.printing import Format, print_json, show
from symbcast.cli.statuses import Exit, UsageError

if TYPE_CHECKING:
    from symbcast.result import Result

EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Exit status of check: 0 always valid, 1 valid for some sizes or none, 2 wrong usage or text, 3 not decided."""


def check(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: str = "numpy",
    axis: int | None = None,
    axes: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    keep: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    flavour: str | None = None,
    min_rank: int | None = None,
    broadcast: int | None = None,
    assume: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    min_size: int = 0,
    dialect: str | None = None,
    format: Format = "text",
    fail_on: Literal["never", "sometimes"] = "sometimes",
) -> int:
    """Say for which sizes some shapes broadcast, and to what.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "2..5, ?", "()".
    rule
        The rule to broadcast by; see `symbcast rules`.
    axis
        The rule's axis= (pdpd, onnx-legacy).
    axes
        The rule's axes= (explicit): --axes 0,2.
    keep
        The rule's keep= (unidirectional): --keep 0,2.
    flavour
        The rule's flavour=, such as openvino.
    min_rank
        The rule's min_rank= (paddle).
    broadcast
        The rule's broadcast= (onnx-legacy).
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
    """
    from symbcast.result import broadcast as ask
    from symbcast.shapes import from_text
    from symbcast.verdicts import Verdict

    attributes = {
        "axis": axis,
        "axes": numbers("axes", axes),
        "keep": numbers("keep", keep),
        "flavour": flavour,
        "min_rank": min_rank,
        "broadcast": broadcast,
    }
    if not shapes:
        raise UsageError('give one shape or more, each in quotes: symbcast check "N, 3" "M, 1"')
    given: dict[str, Any] = {name: value for name, value in attributes.items() if value is not None}
    operands = [from_text(s, dialect) if dialect else s for s in shapes]
    result = ask(*operands, rule=rule, assume=assume or (), min_size=min_size, **given)
    verdict = result.verdict
    _show(result, format)
    if verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    failing = (Verdict.NEVER,) if fail_on == "never" else (Verdict.NEVER, Verdict.SOMETIMES)
    return Exit.FAILS if verdict in failing else Exit.ALWAYS


def _show(result: Result, format: Format) -> None:
    from symbcast.show.call import document

    if format == "json":
        from symbcast.export.json import result_to_dict
        from symbcast.show.json import render

        print_json({**result_to_dict(result), "explanation": render(document(result))})
        return
    show(document(result))
