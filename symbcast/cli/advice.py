"""What the user of a command may have meant: options, sizes and commands under other names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.characters import clipped, closest, listed, visible

if TYPE_CHECKING:
    from symbcast.cli.option import Options

OF_SHAPES = ("check", "compare", "cases", "solve", "repair", "prove", "expand")
"""The commands that take shapes."""
_OTHER_WORDS = {
    "assumption": "assume",
    "backend": "runtime rule",
    "constraint": "assume",
    "dynamic-axes": "shapes",
    "engine": "runtime",
    "force": "overwrite",
    "framework": "rule runtime",
    "given": "assume",
    "if": "assume",
    "input": "shapes",
    "input-shape": "shapes",
    "input-shapes": "shapes",
    "inputs": "shapes",
    "library": "rule",
    "out": "output",
    "parallel": "jobs",
    "processes": "jobs",
    "result": "out",
    "save": "output",
    "semantics": "rule",
    "target": "out to",
    "to": "out",
    "verify": "confirm check",
    "where": "assume",
    "with": "assume",
}
_OPERATIONS = ("op", "operation", "operator", "layer")
"""Options that people try in order to ask about another operation than a broadcast."""
_NOTES = {
    "explain": "the answer is explained as it is; --format json has it as data",
    "verbose": "the answer is explained as it is; --format json has it as data",
    "v": "the answer is explained as it is; --format json has it as data",
    "plot": "plots are drawn in Python, by symbcast.notebook.plot(...)",
    "quiet": "the exit status alone gives the result too; send the output to /dev/null",
}
"""Options that no command has, with what to do instead."""
_SIZES = ("size", "sizes", "dim", "dims", "batch", "set", "with", "at", "d")
_SIZE = re.compile(r"([^\W\d]\w*)\s*=\s*([0-9]+(?:\.\.[0-9]+)?)")
_OTHER_COMMANDS = {
    "broadcast": 'check "N, 3" "M, 1"',
    "broadcast_shapes": 'check "N, 3" "M, 1"',
    "shape": 'check "N, 3" "M, 1"',
    "diff": 'compare "N, 3" "M, 1"',
    "fix": 'repair "N, 3" "M, 4"',
    "guard": 'check "N, 3" "M, 1" --guard python, or symbcast model MODEL --guard python',
    "onnx": "model MODEL.onnx",
    "run": 'trace MODULE:FUNCTION "N, 3"',
    "export": "contract MODEL --to TARGET",
}
"""Words that people try as commands, with the command that they mean."""
_CHOICES = {
    "c": "cpp",
    "c++": "cpp",
    "cxx": "cpp",
    "py": "python",
    "smt": "smtlib",
    "smt2": "smtlib",
    "z3": "smtlib",
    "tensorrt": "trtexec",
    "trt": "trtexec",
    "ort": "onnxruntime",
    "yaml": "json",
    "md": "text",
    "txt": "text",
}
"""Other words for values of options."""


def meant_choice(value: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a value means or resembles; None if there is none.

    >>> meant_choice("c++", ("python", "cpp")), meant_choice("jsn", ("text", "json"))
    ('cpp', 'json')
    """
    other = _CHOICES.get(value.casefold())
    return other if other in choices else closest(value, choices)


def unknown_option(argument: str, name: str, following: str, command: str, commands: Mapping[str, Options]) -> str:
    """Return the error for an option that a command does not have, with the likely intended one."""
    what = "shape" if command in OF_SHAPES else "file"
    behind = f'write a {what} that begins with "-" after "--"'
    if not name:
        return f"{shown(argument)} looks like an option; {behind}: symbcast {command} -- {shown(argument)}"
    text = f"{command} has no option {shown(name)}"
    if command in OF_SHAPES and name.lstrip("-") in _OPERATIONS:
        return f"{text}: it is about broadcasts; other operations are methods of symbcast.ShapeEnv, in Python"
    note = _NOTES.get(name.lstrip("-").casefold())
    if note is not None and command != "rules":
        return f"{text}: {note}"
    is_size = name.lstrip("-").casefold() in _SIZES and _SIZE.fullmatch(following)
    meant = [] if is_size else _meant(name, following, commands[command])
    others = [c for c, options in commands.items() if any(name in o.names for o in options)]
    close = meant or ([] if len(others) == 1 else _misspelt(name, commands[command]))
    size = "" if meant else _size_meant(name, following, command)
    if size:
        return f"{text}; {size}"
    if close:
        return f"{text}; did you mean {listed(close, 'or')}?"
    if others:
        have = "has" if len(others) == 1 else "have"
        return f"{text}; {listed([f'symbcast {other}' for other in others[:3]])} {have} it"
    if command == "rules":
        return f"{text}; its only one is --format"
    return f"{text}; symbcast {command} -h lists its options" if name.startswith("--") else f"{text}; {behind}"


def _size_meant(name: str, following: str, command: str) -> str:
    """Return what to write instead of an option that is named by a size, or that gives sizes; empty for any other."""
    pair = _SIZE.fullmatch(following)
    word = name.lstrip("-")
    size, value = (pair[1], pair[2]) if pair and word.casefold() in _SIZES else (word, following)
    if command == "trace" and size.isidentifier() and following and not following.startswith("-"):
        return f"write an argument by its name as {shown(f'{word}={following}')}"
    if not re.fullmatch(r"[0-9]+", value):
        ranged = command == "contract" and re.fullmatch(r"[0-9]+\.\.[0-9]+.*", value)
        return f"write --range {shown(f'{size}={value}')}" if ranged else ""
    if command == "contract":
        return f"write --range {size}={value}"
    if command == "model":
        return f"write --bind {size}={value}"
    return f'write --assume "{size} == {value}"' if command in OF_SHAPES else ""


def _meant(name: str, following: str, options: Options) -> list[str]:
    """Return the options that the user may have meant by an unknown name."""
    names = [n for option in options for n in option.names if n.startswith("--")]
    word = name.lstrip("-").casefold()
    if len(word) == 1:
        found = [o for o in options if o.names[0][2] == word]
        return [o.names[0] for o in ([o for o in found if following in o.choices] or found)][:3]
    chosen = next((f"{o.names[0]} {word}" for o in options if word in o.choices), None)
    if chosen:
        return [chosen]
    by_value = next((f"{o.names[0]} {following}" for o in options if following and following in o.choices), None)
    if by_value and not _misspelt(name, options):
        return [by_value]
    others = [f"--{other}" for other in _OTHER_WORDS.get(word, word).split()]
    tests: tuple[Callable[[str], bool], ...] = (
        lambda n: n in others,
        lambda n: n.startswith(f"--{word}"),
        lambda n: word in n[2:].split("-"),
    )
    return next(filter(None, ([n for n in names if test(n)] for test in tests)), [])[:3]


def _misspelt(name: str, options: Options) -> list[str]:
    """Return the option that an unknown name resembles."""
    names = [n for option in options for n in option.names if n.startswith("--")]
    close = closest(f"--{name.lstrip('-').casefold()}", names)
    return [close] if close else []


def shown(text: str) -> str:
    """Return an argument on one line, quoted if a shell needs it, cut off if it is long.

    >>> shown("-N + 1"), shown("xml")
    ('"-N + 1"', 'xml')
    """
    said = clipped(visible(text), 60)
    return said if re.fullmatch(r"[\w.,/:=@%+-]+", said) else f'"{said}"'


def other_command(word: str) -> str:
    """Return the error for a word that people try as a command; empty for any other."""
    meant = _OTHER_COMMANDS.get(word)
    return f"there is no command {word}; did you mean symbcast {meant}?" if meant else ""


def unknown_command(argument: str, commands: Iterable[str], is_file: bool, is_shape: bool) -> str:
    """Return the error for a first argument that is not a command."""
    names = list(commands)
    there = f"the commands are {listed(names)}"
    if argument.startswith("-"):
        return f"{shown(argument)} precedes the command; options follow it, and {there}"
    if is_file:
        return f"{shown(argument)} is not a command; did you mean symbcast model {shown(argument)}?"
    close = closest(argument, names)
    if close is None and is_shape:
        return f"{shown(argument)} is not a command; did you mean symbcast check {shown(argument)} ...?"
    hint = f"did you mean symbcast {close}? " if close else ""
    return f"there is no command {shown(argument)}; {hint}{there[0].upper() + there[1:] if hint else there}"
