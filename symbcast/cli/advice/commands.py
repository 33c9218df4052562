"""First arguments that are not commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from symbcast.cli.advice.paths import for_source, is_file, is_model, is_module
from symbcast.cli.advice.words import OF_SHAPES, line, shown
from symbcast.cli.shapes import is_shape
from symbcast.core.characters import closest, listed

_OTHERS = {
    "broadcast": 'check "N, 3" "M, 1"',
    "broadcast_shapes": 'check "N, 3" "M, 1"',
    "shape": 'check "N, 3" "M, 1"',
    "pytorch": "torch-error for an error of torch's, or model for a .pt2 file",
    "torch": "torch-error for an error of torch's, or model for a .pt2 file",
    "diff": 'compare "N, 3" "M, 1"',
    "fix": 'repair "N, 3" "M, 4"',
    "guard": 'check "N, 3" "M, 1" --guard python, or symbcast model MODEL --guard python',
    "onnx": "model MODEL.onnx",
    "run": 'trace MODULE:FUNCTION "N, 3"',
    "export": "contract MODEL --to TARGET",
    "convert": "contract MODEL --to TARGET",
    "ranges": "contract MODEL --range H=64..1280",
    "list": "rules for the rules, or symbcast --help for the commands",
    "ls": "rules for the rules, or symbcast --help for the commands",
    "commands": "--help",
    "options": "--help",
    "info": "model MODEL.onnx, or symbcast --help",
}
"""Words that people try as commands, with the command that they mean."""
_OF_MODELS = {"export": "--to TARGET", "convert": "--to TARGET", "ranges": "--range H=64..1280"}
"""Words that mean a contract of a model, with its option."""
_IN_PYTHON = ("explore", "plot", "survey", "draw", "graph", "visualize", "picture")
"""Words that mean pictures: a page of a model, or functions of `symbcast.notebook`."""
_OF_FILES = ("contract", "lint", "model", "torch-error", "trace")
_BEFORE = {"-V": "--version", "-v": "--version", "--ver": "--version", "-?": "--help", "/?": "--help"}


def unknown_command(word: str, rest: Sequence[str], commands: Sequence[str]) -> str:
    """Return the error for a first argument that is not a command: what follows it tells what was meant.

    >>> unknown_command("infer", ["det.onnx"], ["check", "model"])
    'there is no command infer; did you mean symbcast model det.onnx?'
    """
    there = f"the commands are {listed(commands)}"
    if word in _BEFORE:
        return f"there is no option {word}; did you mean symbcast {_BEFORE[word]}?"
    if word.startswith("-"):
        return f"{shown(word)} precedes the command; options follow it, and {there}"
    if is_file(word):
        return f"{shown(word)} is not a command; {_about_file(word, '', [word, *rest], commands)}"
    if is_module(word):
        return f"{shown(word)} is not a command; did you mean {line('trace', word, rest)}?"
    text = f"there is no command {shown(word)}"
    file = next((a for a in rest if is_file(a)), "")
    if file:
        return f"{text}; {_about_file(file, word, rest, commands)}"
    if rest and is_module(rest[0]):
        return f"{text}; did you mean {line('trace', rest)}?"
    if word in _OTHERS:
        return f"{text}; did you mean symbcast {_OTHERS[word]}?"
    if word in _IN_PYTHON:
        name = word if word in ("explore", "plot", "survey") else "plot"
        operands = ", ".join(f'"{a}"' for a in rest if is_shape(a)) or '"N, 3", "M, 1"'
        given = operands if name == "explore" else f"symbcast.broadcast({operands})"
        return f"{text}; in Python, or a notebook: symbcast.notebook.{name}({given})"
    operation = _operation(word, rest)
    if operation:
        return operation
    close = closest(word, [*commands, "pytorch"])
    if close == "pytorch":
        return f"{text}; did you mean symbcast {_OTHERS[close]}?"
    if close:
        return f"{text}; did you mean symbcast {close}? {there[0].upper()}{there[1:]}"
    if is_shape(word) and not re.fullmatch(r"[^\W\d][\w-]{2,}", word):
        return f"{shown(word)} is not a command; did you mean {line('check', word, rest)}?"
    shapes = rest and all(is_shape(a) or a.startswith("-") for a in rest) and not rest[0].startswith("-")
    return f"{text}; did you mean {line('check', rest)}?" if shapes else f"{text}; {there}"


def _about_file(file: str, word: str, rest: Sequence[str], commands: Sequence[str]) -> str:
    """Return the command for a file that follows a word."""
    close = closest(word, commands) if word and word not in _OTHERS else None
    if file.endswith(".py"):
        return f"did you mean {line('lint', rest)}?" if close == "lint" else for_source(file)
    if close in _OF_FILES and (close != "lint" or not is_model(file)) and close != "trace":
        return f"did you mean {line(close, rest)}?"
    if word in _OF_MODELS:
        return f"did you mean {line('contract', rest)} {_OF_MODELS[word]}?"
    if word == "guard":
        return f"did you mean {line('model', rest)} --guard python?"
    if is_model(file) and word in _IN_PYTHON:
        return f"did you mean {line('model', rest)} --html model.html?"
    if is_model(file) or close not in OF_SHAPES:
        return f"did you mean {line('model', rest)}?"
    return f"did you mean {line(close, rest)}?"


def _operation(word: str, rest: Sequence[str]) -> str:
    """Return what to do instead of a command that is an operation of programs; empty for any other word."""
    from symbcast.answers.public.env import ShapeEnv

    shapes = list(rest) if rest and all(map(is_shape, rest)) else []
    if word == "explain":
        return f"there is no command explain; check explains its answer: {line('check', shapes or ['N, 3', 'M, 1'])}"
    method = ShapeEnv._meant.get(word, word)
    name = method.partition("(")[0]
    if name.startswith("_") or method.startswith("broadcast(") or not callable(getattr(ShapeEnv, name, None)):
        return ""
    operands = ", ".join(f'"{a}"' for a in shapes) if name == word else ""
    call = method if method.endswith(")") else f"{method}({operands or '...'})"
    return f"{word} is an operation of programs, not a command; in Python: symbcast.ShapeEnv().{call}"
