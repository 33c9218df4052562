"""``symbcast check``: for which sizes shapes broadcast."""

from __future__ import annotations

from typing import Literal, TypeAlias

from symbcast.cli.argument_advice import note_unknown_names
from symbcast.cli.command import command
from symbcast.cli.evaluation import At, evaluated, print_answer, sizes_of, written
from symbcast.cli.options import AttributeText, GuardIn, MinSize, TextOrJson, guard_text, rule_of, shapes_of
from symbcast.cli.terminal import checked, print_text, show_result, status_of
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.shapes import from_text

Dialect: TypeAlias = Literal["default", "mlir", "einops", "jaxtyping"]
# The dialects in which blank text is the only way to write rank 0.
_SPACED = ("einops", "jaxtyping")

EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Exit status of check: 0 always valid, 1 valid for some sizes or none, 2 wrong usage or text, 3 not decided."""
WORDS = {
    **dict.fromkeys(["broadcast", "broadcast_shapes", "shape"], 'check "N, 3" "M, 1"'),
    "guard": 'check "N, 3" "M, 1" --guard python, or symbcast model MODEL --guard python',
}


@command(epilogue=EPILOGUE, subject="shapes", words=WORDS)
def check(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: str = "numpy",
    assume: list[str] | None = None,
    min_size: MinSize = 0,
    dialect: Dialect | None = None,
    format: TextOrJson = "text",
    guard: GuardIn = None,
    at: At = None,
    fail_on: Literal["never", "sometimes"] = "sometimes",
    **attributes: AttributeText,
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
        The rule's own attributes; each is an option.
    """
    from symbcast.answers.public.result import broadcast as ask

    sizes = sizes_of(at, guard)
    texts = shapes_of(shapes, "check", dialect in _SPACED)
    checked("--min-size", check_min_size, min_size)
    rule_keywords = rule_of(rule, attributes)
    operands = [from_text(s, dialect) if dialect else s for s in texts]
    result = ask(*operands, assume=assume or (), min_size=min_size, budget=None, **rule_keywords)
    note_unknown_names(assume, operands)
    if guard is not None:
        print_text(guard_text(result, guard, format))
    elif sizes is not None:
        answer = evaluated(result, sizes)
        print_answer(written(answer, result.rule.called, format))
        return status_of(answer.verdict)
    else:
        show_result(result, format)
    return status_of(result.verdict, fail_on)
