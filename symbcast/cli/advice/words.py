"""Arguments and command lines as messages show them, and other words for values of options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from symbcast.core.characters import clipped, closest, visible

OF_SHAPES = ("check", "compare", "cases", "solve", "repair", "prove", "expand")
"""The commands that take shapes."""
SIGNS = ("+", "*", "&", "@", "and", "with", "x", "vs", "vs.", "versus", "against", "with", ";", ",", "|")
"""What people write between shapes. A size with such a name can be written as ``(x,)``."""
EQUALS = ("=", "==", "=>", "->", "-->", "→", "gives")
"""What people write before an output."""
_PLAIN = r"[\w.,/:=@%+-]+"
CHOICES = {
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
    "hlo": "stablehlo",
    "mlir": "stablehlo",
}
"""Other words for values of options."""


def are_clear(arguments: Sequence[str]) -> bool:
    """Return whether each argument is a name, a number or a list: no file, part of a shape, or sign between shapes."""
    return all(
        (argument.isidentifier() or argument.isdecimal() or "," in argument)
        and not argument.rstrip().endswith(",")
        and argument not in (*SIGNS, *EQUALS)
        for argument in arguments
    )


def meant_choice(value: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a value means or resembles; None if there is none.

    >>> meant_choice("c++", ("python", "cpp")), meant_choice("jsn", ("text", "json"))
    ('cpp', 'json')
    """
    other = CHOICES.get(value.casefold(), "")
    return other if other in choices else closest(value, choices)


def shown(text: str) -> str:
    """Return an argument on one line, quoted if a shell needs it, cut off if it is long.

    >>> shown("-N + 1"), shown("xml")
    ('"-N + 1"', 'xml')
    """
    said = clipped(visible(text), 60)
    return said if re.fullmatch(_PLAIN, said) else f'"{said}"'


def line(command: str, *arguments: str | Iterable[str]) -> str:
    """Return a command line of symbcast, with each argument quoted if a shell needs it.

    >>> line("check", ["N, 3", "M, 1"], "--rule", "numpy")
    'symbcast check "N, 3" "M, 1" --rule numpy'
    """
    given = [text for a in arguments for text in ([a] if isinstance(a, str) else a)]
    return " ".join(["symbcast", command, *map(shown, given)])


def repeated(option: str, values: Iterable[str]) -> str:
    """Return an option given once for each value.

    >>> repeated("--bind", ["H=32", "W=32"])
    '--bind H=32 --bind W=32'
    """
    return " ".join(f"{option} {shown(value)}" for value in values)


def is_number(text: str) -> bool:
    """Return whether a text is a decimal integer."""
    return re.fullmatch(r"-?[0-9]+", text) is not None


def is_numbers(text: str) -> bool:
    """Return whether a text is a shape of numbers."""
    return re.fullmatch(r"[(\[]?\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*,?\s*[)\]]?", text) is not None
