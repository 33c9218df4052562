"""Arguments that are files: the one place that knows which, and the command for each kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from symbcast.cli.advice.words import line, shown
from symbcast.cli.files import is_there
from symbcast.core.characters import elided

_NAMED = re.compile(r"[^,;=<>()\[\]*]*(?:[/\\]|\.[A-Za-z])[^,;=<>()\[\]*]*")
"""A name with a folder or an ending: names of sizes, and shapes such as ``2..5``, have none."""
_WEIGHTS = (".pt", ".pth", ".ckpt", ".safetensors", ".pb", ".tflite", ".h5", ".keras", ".engine")
"""Endings of other files with models or weights; `symbcast model` says what to do with each."""


def is_model(argument: str) -> bool:
    """Return whether an argument has the ending of a model's file."""
    from symbcast.graphs.registry import front_end_of

    return argument.lower().endswith(_WEIGHTS) or front_end_of(argument) is not None


def is_file(argument: str) -> bool:
    """Return whether an argument is a file rather than a shape, a size or a word: by its ending, or as it exists."""
    if not _NAMED.fullmatch(argument):
        return False
    return argument.endswith(".py") or is_model(argument) or is_there(argument)


def is_module(argument: str) -> bool:
    """Return whether an argument names a function as ``symbcast trace`` takes it."""
    return re.fullmatch(r"[^\W\d][\w.]*:[^\W\d][\w.]*", argument) is not None


def module_of(path: str) -> str:
    """Return the name by which Python imports a source file of the current folder.

    >>> module_of("./src/ops.py")
    'src.ops'
    """
    plain = path.replace("\\", "/").removesuffix(".py")
    return ".".join(part for part in plain.split("/") if part not in ("", "."))


def file_of_module(name: str) -> str:
    """Return the source file of a module of the current folder; empty if there is none."""
    if not all(name.split(".")):
        return ""
    parts = Path(*name.split("."))
    return next((str(p) for p in (parts.with_suffix(".py"), parts / "__init__.py") if is_there(str(p))), "")


def functions_in(path: str) -> list[str]:
    """Return the functions that a source file defines, read without importing it."""
    import ast

    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [name for name in found if not name.startswith("_")] or found


def source_with(function: str) -> str:
    """Return the first source file of the current folder that defines a function; empty if none does."""
    try:
        files = sorted(str(path) for path in Path().glob("*.py"))[:_MOST_FILES]
    except OSError:
        return ""
    return next((file for file in files if function in functions_in(file)), "")


_MOST_FILES = 50


def for_source(path: str) -> str:
    """Return the commands for a file of Python source.

    >>> for_source("nowhere.py")
    'symbcast trace nowhere:FUNCTION "N, 3" traces a function, symbcast lint nowhere.py checks annotations'
    """
    name = next(iter(functions_in(path)), "FUNCTION")
    traced = line("trace", f"{module_of(path)}:{name}", "N, 3")
    return f"{traced} traces a function, {line('lint', path)} checks annotations"


def several_models(files: Sequence[str], options: Sequence[str]) -> str:
    """Return the error for several models given to `symbcast contract`; empty if there is only one.

    >>> several_models(["a.onnx", "b.onnx"], ["--range=H=4"])
    '2 models are given; one at a time: symbcast contract a.onnx --range H=4, symbcast contract b.onnx --range H=4'
    """
    if len(files) < 2 or not all(map(is_file, files)):
        return ""
    words = [part for option in options for part in (option.split("=", 1))]
    lines = [line("contract", file, words) for file in files]
    return f"{len(files)} models are given; one at a time: {', '.join(elided(lines, 4))}"


def instead_of_shapes(command: str, arguments: Sequence[str]) -> str:
    """Return the error if one of the arguments for shapes is a file; empty if none is."""
    files = [argument for argument in arguments if is_file(argument)]
    if not files:
        return ""
    first = files[0]
    if first.endswith(".py"):
        return f"{shown(first)} is Python source, not a shape: {for_source(first)}"
    models = [f for f in files if is_model(f)]
    if models:
        return f"{shown(models[0])} is a model file: {line('model', models)}"
    if Path(first).is_dir():
        return f"{shown(first)} is a folder, not a shape: {line('model', first)} checks the models in it"
    return f"{shown(first)} is a file, not a shape: symbcast {command} - < {shown(first)} reads its lines as shapes"
