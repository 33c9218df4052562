"""``symbcast compare`` compares rules: on some shapes, or on all shapes up to a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.cli.argument_advice import note_unknown_names
from symbcast.cli.command import command
from symbcast.cli.options import Assumed, MinSize, TextOrJson
from symbcast.cli.terminal import Exit, Format, UsageError, checked, command_line, print_json, read_shapes, show
from symbcast.core.algebra.arithmetic import check_min_size

if TYPE_CHECKING:
    from symbcast.answers.comparison import Order

FailOn: TypeAlias = Literal["different", "neither"]

EPILOGUE = """Example: symbcast compare "N, C, H, W" "C, 1, K" --rule "pdpd(axis=1)" --rule numpy

Example: symbcast compare --rule numpy --rule unidirectional --rank 3

Exit status of compare: 0 all rules say the same, 1 they differ at some sizes, 2 wrong usage or text, 3 not decided."""
WORDS = {"diff": 'compare "N, 3" "M, 1"'}
NOTES = {"all every": "without --rule, all rules that need no attributes are compared: leave {} out"}


@command(epilogue=EPILOGUE, subject="shapes", notes=NOTES, words=WORDS, needs="--rule")
def compare(  # noqa: PLR0913 - each is an option
    *shapes: str,
    rule: list[str] | None = None,
    assume: Assumed = None,
    min_size: MinSize = 0,
    rank: int | None = None,
    format: TextOrJson = "text",
    fail_on: FailOn = "different",
) -> int:
    """Say where broadcast rules agree, where only one accepts the shapes, and where their outputs differ.

    Parameters
    ----------
    shapes
        The shapes, each in quotes: "N, 3", "2..5, ?", "()" for rank 0. - reads them from standard input, one per line;
        a shape that begins with "-", other than a size such as -1, must follow --. Not with --rank.
    rule
        A rule with its attributes, such as numpy or "pdpd(axis=1)"; repeat the option for each rule. By default, all
        rules that need no attributes.
    rank
        Compare two rules on all shapes of at most this rank.
    fail_on
        When to exit with 1: if rules differ at some sizes, or just if neither of two rules refines the other.
    """
    if rank is not None:
        from symbcast.answers.comparison.comparison import check_rank

        if shapes or assume or min_size:
            raise UsageError("--rank covers all shapes: give it without shapes, --assume and --min-size")
        if rule is None or len(rule) != 2:
            first = next(iter(rule or ()), "numpy")
            other = "unidirectional" if first != "unidirectional" else "numpy"
            both = command_line("compare", "--rule", first, "--rule", other, "--rank", str(rank))
            raise UsageError(f"--rank compares two rules, such as {both}")
        checked("--rank", check_rank, rank)
        return _status(_related(rule[0], rule[1], rank, format), fail_on)
    if "all" in (rule or ()):
        raise UsageError("without --rule, all rules are compared: leave --rule all out")
    if not shapes:
        raise UsageError('give shapes, each in quotes: symbcast compare "N, 3" "M, 1" --rule numpy --rule pdpd')
    checked("--min-size", check_min_size, min_size)
    operands = read_shapes(shapes, is_blank_read=False)
    return _status(_compared(operands, rule or [], assume or [], min_size, format), fail_on)


def _related(first: str, second: str, rank: int, format: Format) -> list[Order]:
    from symbcast.answers.comparison import relation
    from symbcast.answers.comparison.comparison import relation_document

    answer = relation(first, second, rank)
    if format == "json":
        print_json(answer.to_dict())
    else:
        show(relation_document(answer))
    return [answer.order]


def _compared(shapes: list[str], rules: list[str], assume: list[str], min_size: int, format: Format) -> list[Order]:
    from symbcast.answers.comparison import compare as ask
    from symbcast.answers.comparison.comparison import comparison_document

    comparison = ask(*shapes, rules=rules, assume=assume, min_size=min_size)
    if len(rules) == 1:
        other = "pdpd" if rules[0].startswith("numpy") else "numpy"
        both = command_line("compare", shapes, "--rule", rules[0], "--rule", other)
        raise UsageError(f"compare needs two or more rules, such as {both}")
    note_unknown_names(assume, shapes)
    if format == "json":
        print_json(comparison.to_dict())
    else:
        show(comparison_document(comparison))
    return [pair.order for pair in comparison.pairs]


def _status(orders: list[Order], fail_on: FailOn) -> int:
    from symbcast.answers.comparison import Order

    if Order.UNKNOWN in orders:
        return Exit.UNDECIDED
    if fail_on == "neither":
        return Exit.FAILS if Order.NEITHER in orders else Exit.ALWAYS
    return Exit.ALWAYS if all(order is Order.EQUAL for order in orders) else Exit.FAILS
