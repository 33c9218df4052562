"""``symbcast bounds``: the least and greatest value of an expression of sizes."""

from __future__ import annotations

from symbcast.cli.command import command
from symbcast.cli.options import Assumed, MinSize, TextOrJson
from symbcast.cli.terminal import Exit, UsageError, checked, command_line, print_json, show
from symbcast.core.algebra.arithmetic import check_min_size

EPILOGUE = """Example: symbcast bounds "(320*n + 255) % 256" --assume "n >= 1"

Exit status of bounds: 0 if both ends are known, or proved not to exist, 1 if there is no value, 2 wrong usage or text,
3 not decided."""


@command(epilogue=EPILOGUE, group="Shapes")
def bounds(size: str = "", /, *, assume: Assumed = None, min_size: MinSize = 0, format: TextOrJson = "text") -> int:
    """Find the least and greatest value of an expression of sizes, and the sizes at which they are reached.

    Parameters
    ----------
    size
        The expression, in quotes: "(320*n + 255) % 256".
    """
    from symbcast.answers.public.size_bounds import bounds as ask

    if not size:
        raise UsageError(f"give an expression of sizes: {command_line('bounds', ('N*M + 1',))}")
    checked("--min-size", check_min_size, min_size)
    found = ask(size, assume or (), min_size)
    if format == "json":
        print_json(found.to_dict())
    else:
        show(found._document())
    if found.is_empty:
        return Exit.FAILS
    return Exit.ALWAYS if found.is_exact else Exit.UNDECIDED
