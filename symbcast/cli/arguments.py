"""Arguments as they are typed, made ready to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symbcast.cli.statuses import UsageError

_OPTION = re.compile(r"--[A-Za-z][\w-]*")
_VALUED = frozenset(
    {
        "--assume",
        "--axes",
        "--axis",
        "--broadcast",
        "--dialect",
        "--fail-on",
        "--flavour",
        "--format",
        "--keep",
        "--min-rank",
        "--min-size",
        "--rule",
    }
)
"""The options of `check` that take a value; the value may begin with a hyphen."""


def separated(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with shapes after ``--``, so that ``-1, 3`` is not taken for an option."""
    if not arguments or arguments[0] != "check":
        yield from arguments
        return
    yield arguments[0]
    shapes: list[str] = []
    rest = iter(arguments[1:])
    for argument in rest:
        if argument == "--":
            shapes.extend(rest)
        elif argument in _VALUED:
            value = next(rest, None)
            yield argument if value is None else f"{argument}={value}"
        elif argument == "-h" or _OPTION.match(argument):
            yield argument
        else:
            shapes.append(argument)
    if shapes:
        yield from ("--", *shapes)


def numbers(option: str, texts: Sequence[str] | None) -> tuple[int, ...] | None:
    """Return the numbers that an option lists."""
    if texts is None:
        return None
    try:
        return tuple(int(part) for text in texts for part in text.strip("()[] ").split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--{option} {' '.join(texts)}: write axes as --{option} 0,2") from None
