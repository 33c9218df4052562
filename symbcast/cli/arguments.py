"""Check the arguments as typed against a command's declaration before anything runs.

No argument is interpreted as something that the user may not have meant: one that begins with ``-`` is an option
wherever it stands, and an error if the command does not have it. There are three exceptions: ``-`` alone, which is
standard input; for commands that take shapes, ``-`` and a digit, which begin a shape; and whatever follows ``--``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from symbcast.cli.advice import OF_SHAPES, meant_choice, shown, unknown_option
from symbcast.cli.files import STDIN, is_there
from symbcast.cli.option import Option, Options
from symbcast.cli.statuses import UsageError
from symbcast.core.characters import listed
from symbcast.errors import SymbcastError

_OPTION = re.compile(r"(--?[^\W\d_][\w-]*)(?:=(.*))?", re.DOTALL)
_SHAPE = re.compile(r"-\d")
_RELATION = re.compile(r"[<>=!]=|[<>]")
_LITERAL = re.compile(r"[^\W\d]\w*==\s*(?:[-+]?\d.*|[\"'(\[{].*|True|False|None)", re.DOTALL)
"""An argument of a traced function that is a Python literal, with its name."""
_NO_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"
_EXAMPLES = {
    "--assume": '"N >= 2"',
    "--axes": "0,2",
    "--bind": "batch=4",
    "--range": "H=64..1280",
    "--typical": "H=640,960",
    "--dask": "tcp://host:8786",
    "--out": '"5, 3"',
    "--output": "out.onnx",
    "--results": "results.jsonl",
    "--rule": "numpy",
    "--that": '"N == M"',
    "--shapes": '"x=N, 3, H, W"',
    "--values": "steps=4,N//2",
}
_MOST_DIGITS = 18
TAKE_OTHERS = (*OF_SHAPES, "contract", "lint", "model", "torch-error", "trace")
"""The commands that take shapes or files."""
HELP = ("--help", "-h")


def prepared(command: str, arguments: Sequence[str], commands: Mapping[str, Options]) -> list[str]:
    """Return the arguments of a command, each value joined to the first name of its option, and the rest after ``--``.

    ``commands`` are the options of each command. Raises `UsageError` for anything that the command does not take.
    """
    given: dict[str, str] = {}
    options: list[str] = []
    others: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            others.extend(rest)
        elif _is_none(argument, command):
            others.append(argument)
        else:
            option, value = _read(argument, command, rest, commands)
            _check(option, value)
            name = option.names[0]
            if not option.repeats and given.setdefault(name, value) is not value:
                twice = "" if option.is_switch else f", as {given[name]} and {value}"
                raise UsageError(f"{name} is given twice{twice}; give it only once")
            options.append(name if option.is_switch else f"{name}={value}")
    known = {name for option in commands[command] for name in option.names}
    if "--assume" in known:
        relations = [text for text in others if command != "trace" or not _LITERAL.fullmatch(text)]
        _check_no_relation(relations, "--that" in known and "--that" not in given)
    if others and command not in TAKE_OTHERS:
        raise UsageError(f"{command} takes only options; {shown(others[0])} is not one")
    return [*options, *(["--", *others] if others else [])]


def _check_no_relation(others: Iterable[str], is_to_prove: bool) -> None:
    """Raise `UsageError` for a relation without its option, such as a second one after ``--assume``."""
    for text in others:
        if _RELATION.search(text) and _is_relation(text) and not is_there(text):
            said = shown(text)
            if is_to_prove:
                raise UsageError(f"{said} is a relation; write --that {said} to prove it")
            raise UsageError(f"{said} is an assumption; write --assume {said}: each has its own --assume")


def _is_relation(text: str) -> bool:
    """Return whether a text is a complete assumption: a type in MLIR also has angle brackets."""
    from symbcast.core.text import parse_formula

    try:
        return parse_formula(text) is not None
    except SymbcastError:
        return False


def asks_for(words: Sequence[str], arguments: Sequence[str]) -> bool:
    """Return whether the arguments before any ``--`` contain one of some words."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(word in before for word in words)


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """Return the last value that is given for an option; None if the option is not given.

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


def _is_none(argument: str, command: str) -> bool:
    """Return whether an argument is not an option."""
    if argument[:1] in _NO_HYPHENS and argument[1:2].isalpha() and argument:
        raise UsageError(f"{shown(argument)} begins with {argument[0]!r}, which is not a hyphen; write - or -- instead")
    return (
        not argument.startswith("-")
        or argument == STDIN
        or (command in (*OF_SHAPES, "trace") and bool(_SHAPE.match(argument)))
    )


def _read(argument: str, command: str, rest: Iterator[str], commands: Mapping[str, Options]) -> tuple[Option, str]:
    """Return an option and its value: the next argument, if the option itself contains none."""
    known = {name: option for option in commands[command] for name in option.names}
    found = _OPTION.fullmatch(argument)
    name, value = (found[1], found[2]) if found else (argument, None)
    name = name.replace("_", "-")
    if name not in known and not name.startswith("--") and name[:2] in known:  # -j4
        name, value = name[:2], argument[2:].removeprefix("=")
    if name not in known:
        following = next(rest, "") if value is None else value
        raise UsageError(unknown_option(argument, name if found else "", following, command, commands))
    option = known[name]
    if option.is_switch:
        if value is not None:
            raise UsageError(f"{name} takes no value; write just {name}")
        return option, ""
    if value is None:
        value = next(rest, None)
        if value is None or value.partition("=")[0] in known:
            between = "" if value is None else f", and {value.partition('=')[0]} is itself an option"
            raise UsageError(f"{name} needs a value{between}; write {_example(option)}")
    return option, value


def _check(option: Option, value: str) -> None:
    """Raise `UsageError` for a value that an option does not accept."""
    name = option.names[0]
    if not value and not option.is_switch:
        raise UsageError(f"{name} has no value; write {_example(option)}, or leave {name} out")
    if option.choices and value not in option.choices:
        close = meant_choice(value, option.choices)
        hint = f"did you mean {close}? It is one of" if close else "it is one of"
        raise UsageError(f"{name} {shown(value)}: {hint} {listed(option.choices, 'or')}")
    if option.number is not None and not _is_number(value, option.number):
        kind = "a whole number" if option.number is int else "a number"
        raise UsageError(f"{name} {shown(value)}: write {kind}, as in {_example(option)}")


def _is_number(value: str, kind: type[int] | type[float]) -> bool:
    if kind is int:
        return re.fullmatch(r"[+-]?[0-9]+", value) is not None and len(value) <= _MOST_DIGITS
    try:
        return float(value) is not None
    except ValueError:
        return False


def _example(option: Option) -> str:
    name = option.names[0]
    value = option.choices[0] if option.choices else {int: "1", float: "60"}.get(option.number or str, "")
    return f"{name} {value or _EXAMPLES.get(name, '...')}"
