"""Arguments as they are typed, made ready to be read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_OPTION = re.compile(r"--[A-Za-z][\w-]*")


TAKE_SHAPES = ("check", "cases", "solve", "repair")
"""The commands whose arguments are shapes."""


def separated(arguments: Sequence[str], valued: Collection[str]) -> Iterator[str]:
    """Yield the arguments of a command, values joined to their options, so that ``-1, 3`` is not taken for an option.

    ``valued`` are the options that take a value; the value may begin with a hyphen. Shapes may begin
    with one too: they go after ``--``.
    """
    command = arguments[0] if arguments else ""
    yield from arguments[:1]
    others: list[str] = []
    rest = iter(arguments[1:])
    for argument in rest:
        if argument == "--":
            others.extend(rest)
        elif argument in valued:
            value = next(rest, None)
            yield argument if value is None else f"{argument}={value}"
        elif argument == "-h" or _OPTION.match(argument) or command not in TAKE_SHAPES:
            yield argument
        else:
            others.append(argument)
    if others:
        yield from ("--", *others)


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """Return the value that an option is given last, None where it is not given.

    >>> value_of("--rule", ["N", "--rule=none", "--rule", "pdpd"])
    'pdpd'
    """
    found = None
    for argument, following in zip(arguments, (*arguments[1:], None), strict=True):
        if argument == option:
            found = following
        elif argument.startswith(f"{option}="):
            found = argument.partition("=")[2]
    return found
