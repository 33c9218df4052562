"""Arguments as they are typed, made ready to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symbcast.cli.statuses import UsageError

_OPTION = re.compile(r"--[A-Za-z][\w-]*")
_VALUED = {
    "check": frozenset(
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
    ),
    "model": frozenset(
        {
            "--assume",
            "--bind",
            "--fail-on",
            "--format",
            "--jobs",
            "--min-size",
            "--output",
            "--runtime",
        }
    ),
}
"""The options of each command that take a value; the value may begin with a hyphen."""


def separated(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, values joined to their options, so that ``-1, 3`` is not taken for an option.

    The shapes of `check` may begin with a hyphen too: they go after ``--``.
    """
    command = arguments[0] if arguments else ""
    if command not in _VALUED:
        yield from arguments
        return
    yield command
    others: list[str] = []
    rest = iter(arguments[1:])
    for argument in rest:
        if argument == "--":
            others.extend(rest)
        elif argument in _VALUED[command]:
            value = next(rest, None)
            yield argument if value is None else f"{argument}={value}"
        elif argument == "-h" or _OPTION.match(argument) or command != "check":
            yield argument
        else:
            others.append(argument)
    if others:
        yield from ("--", *others)


def numbers(option: str, texts: Sequence[str] | None) -> tuple[int, ...] | None:
    """Return the numbers that an option lists."""
    if texts is None:
        return None
    try:
        return tuple(int(part) for text in texts for part in text.strip("()[] ").split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--{option} {' '.join(texts)}: write axes as --{option} 0,2") from None
