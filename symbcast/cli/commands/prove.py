"""``symbcast prove``: whether relations follow from one broadcast."""

from __future__ import annotations

from symbcast.cli.command import command
from symbcast.cli.options import Assumed, AttributeText, MinSize, RuleName, TextOrJson, result_for_shapes
from symbcast.cli.terminal import Exit, UsageError, command_line, print_json, show

EPILOGUE = """Example: symbcast prove "N, 3" "M, 1" --assume "N >= 2" --that "N == M or M == 1"

Exit status of prove: 0 if all relations hold, 1 if one does not, 2 wrong usage or text, 3 not decided."""


@command(epilogue=EPILOGUE, subject="shapes", needs="--that")
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
        The rule's own attributes; each is an option.
    """
    from symbcast.answers.public.consequences import prove_relations, relations_data, relations_document
    from symbcast.answers.public.result import call_of

    if not that:
        raise UsageError(f"say what to prove: {command_line('prove', shapes or ('N, 3', 'M, 1'), '--that', 'N == M')}")
    call = call_of(result_for_shapes("prove", shapes, rule, assume, min_size, attributes))
    proofs = [prove_relations(call, relation) for relation in that]
    if format == "json":
        print_json(relations_data(call, proofs))
    else:
        show(relations_document(call, proofs))
    if any(p.sizes is not None for p in proofs):
        return Exit.FAILS
    return Exit.UNDECIDED if any(p.reason for p in proofs) else Exit.ALWAYS
