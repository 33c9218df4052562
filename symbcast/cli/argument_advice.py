"""What arguments other than options may mean: files, modules, commands, functions, and misspelt names of sizes."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from symbcast.cli.command import lines_by_word, load_command
from symbcast.cli.terminal import argument_text, command_line, is_joined, is_shape, path_exists, print_error
from symbcast.core.advice import AXIS_NAMES
from symbcast.core.algebra.formulas import dims_of
from symbcast.core.algebra.symbols import SequenceSymbol
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.characters import closest, elided, prose_list, quoted_name
from symbcast.core.shapes import ShapeLike, shape
from symbcast.core.verdicts import Verdict
from symbcast.graphs.registry import front_end_of

# Arguments that are files: the one place that knows which, and the command for each kind.


# A name with a folder or an ending: names of sizes, and shapes such as ``2..5``, have none.
_NAMED = re.compile(r"[^,;=<>()\[\]*]*(?:[/\\]|\.[A-Za-z])[^,;=<>()\[\]*]*")
# Endings of other files with models or weights; `symbcast model` says what to do with each.
_WEIGHTS = (".pt", ".pth", ".ckpt", ".safetensors", ".pb", ".tflite", ".h5", ".keras", ".engine")


def is_model(argument: str) -> bool:
    """Return whether an argument has the ending of a model's file."""
    return argument.lower().endswith(_WEIGHTS) or front_end_of(argument) is not None


def is_file(argument: str) -> bool:
    """Return whether an argument is a file rather than a shape, a size or a word: by its ending, or as it exists."""
    if not _NAMED.fullmatch(argument):
        return False
    return argument.endswith(".py") or is_model(argument) or path_exists(argument)


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
    from pathlib import Path  # slow to load

    parts = Path(*name.split("."))
    return next((str(p) for p in (parts.with_suffix(".py"), parts / "__init__.py") if path_exists(str(p))), "")


def functions_in(path: str) -> list[str]:
    """Return the functions that a source file defines, read without importing it."""
    from pathlib import Path

    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [name for name in names if not name.startswith("_")] or names


def source_with(function: str) -> str:
    """Return the first source file of the current folder that defines a function; empty if none does."""
    from pathlib import Path

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
    traced = command_line("trace", f"{module_of(path)}:{name}", "N, 3")
    return f"{traced} traces a function, {command_line('lint', path)} checks annotations"


def several_models(files: Sequence[str], options: Sequence[str]) -> str:
    """Return the error for several models given to `symbcast contract`; empty if there is only one.

    >>> several_models(["a.onnx", "b.onnx"], ["--range=H=4"])
    '2 models are given; one at a time: symbcast contract a.onnx --range H=4, symbcast contract b.onnx --range H=4'
    """
    if len(files) < 2 or not all(map(is_file, files)):
        return ""
    words = [part for option in options for part in (option.split("=", 1))]
    lines = [command_line("contract", file, words) for file in files]
    return f"{len(files)} models are given; one at a time: {', '.join(elided(lines, 4))}"


def instead_of_shapes(command: str, arguments: Sequence[str]) -> str:
    """Return the error if one of the arguments for shapes is a file; empty if none is."""
    files = [argument for argument in arguments if is_file(argument)]
    if not files:
        return ""
    first = files[0]
    if first.endswith(".py"):
        return f"{argument_text(first)} is Python source, not a shape: {for_source(first)}"
    models = [f for f in files if is_model(f)]
    if models:
        return f"{argument_text(models[0])} is a model file: {command_line('model', models)}"
    if os.path.isdir(first):  # noqa: PTH112 - see path_exists
        return (
            f"{argument_text(first)} is a folder, not a shape: {command_line('model', first)} checks the models in it"
        )
    path = argument_text(first)
    return f"{path} is a file, not a shape: symbcast {command} - < {path} reads its lines as shapes"


# First arguments that are not commands.


# Words that mean pictures: a page of a model, or functions of `symbcast.notebook`.
_IN_PYTHON = ("explore", "plot", "survey", "draw", "graph", "visualize", "picture")
_BEFORE = {"-V": "--version", "-v": "--version", "--ver": "--version", "-?": "--help", "/?": "--help"}


def unknown_command(word: str, rest: Sequence[str], commands: Sequence[str]) -> str:
    """Return the error for a first argument that is not a command: what follows it tells what was meant.

    >>> unknown_command("infer", ["det.onnx"], ["check", "model"])
    'there is no command infer; did you mean symbcast model det.onnx?'
    """
    there = f"the commands are {prose_list(commands, limit=len(commands))}"
    if word in _BEFORE:
        return f"there is no option {word}; did you mean symbcast {_BEFORE[word]}?"
    if word.startswith("-"):
        return f"{argument_text(word)} precedes the command; options follow it, and {there}"
    if is_file(word):
        return f"{argument_text(word)} is not a command; {_about_file(word, '', [word, *rest], commands)}"
    if is_module(word):
        return f"{argument_text(word)} is not a command; did you mean {command_line('trace', word, rest)}?"
    text = f"there is no command {argument_text(word)}"
    file = next((a for a in rest if is_file(a)), "")
    if file:
        return f"{text}; {_about_file(file, word, rest, commands)}"
    if rest and is_module(rest[0]):
        return f"{text}; did you mean {command_line('trace', rest)}?"
    lines = lines_by_word()
    if word in lines:
        return f"{text}; did you mean symbcast {lines[word]}?"
    if word in _IN_PYTHON:
        name = word if word in ("explore", "plot", "survey") else "plot"
        operands = ", ".join(f'"{a}"' for a in rest if is_shape(a)) or '"N, 3", "M, 1"'
        arguments = operands if name == "explore" else f"symbcast.broadcast({operands})"
        return f"{text}; in Python, or a notebook: symbcast.notebook.{name}({arguments})"
    operation = _operation(word, rest)
    if operation:
        return operation
    close = closest(word, [*commands, "pytorch"])
    if close == "pytorch":
        return f"{text}; did you mean symbcast {lines[close]}?"
    if close:
        return f"{text}; did you mean symbcast {close}? {there[0].upper()}{there[1:]}"
    if is_shape(word) and not re.fullmatch(r"[^\W\d][\w-]{2,}", word):
        return f"{argument_text(word)} is not a command; did you mean {command_line('check', word, rest)}?"
    shapes = rest and all(is_shape(a) or a.startswith("-") for a in rest) and not rest[0].startswith("-")
    return f"{text}; did you mean {command_line('check', rest)}?" if shapes else f"{text}; {there}"


def _about_file(file: str, word: str, rest: Sequence[str], commands: Sequence[str]) -> str:
    """Return the command for a file that follows a word."""
    line = lines_by_word().get(word, "")
    close = closest(word, commands) if word and not line else None
    if file.endswith(".py"):
        return f"did you mean {command_line('lint', rest)}?" if close == "lint" else for_source(file)
    command = load_command(close) if close else None
    subject = command.subject if command and command.most_arguments != 0 else ""
    if close and (subject == "models" or (subject == "other" and (close != "lint" or not is_model(file)))):
        return f"did you mean {command_line(close, rest)}?"
    if line.startswith("contract MODEL "):
        return f"did you mean {command_line('contract', rest)} {line.removeprefix('contract MODEL ')}?"
    if word == "guard":
        return f"did you mean {command_line('model', rest)} --guard python?"
    if is_model(file) and word in _IN_PYTHON:
        return f"did you mean {command_line('model', rest)} --html model.html?"
    if close is None or is_model(file) or subject != "shapes":
        return f"did you mean {command_line('model', rest)}?"
    return f"did you mean {command_line(close, rest)}?"


def _operation(word: str, rest: Sequence[str]) -> str:
    """Return what to do instead of a command that is an operation of programs; empty for any other word."""
    from symbcast.answers.public.env import ShapeEnv

    shapes = list(rest) if rest and all(map(is_shape, rest)) else []
    if word == "explain":
        example = command_line("check", shapes or ["N, 3", "M, 1"])
        return f"there is no command explain; check explains its answer: {example}"
    method = ShapeEnv._meanings.get(word, word)
    name = method.partition("(")[0]
    if name.startswith("_") or method.startswith("broadcast(") or not callable(getattr(ShapeEnv, name, None)):
        return ""
    if name == "implies" and len(rest) == 2:
        sizes = ", ".join(dict.fromkeys(re.findall(r"[^\W\d][\w.]*", " ".join(rest)))) or "N"
        meant = command_line("prove", sizes, "--assume", rest[0], "--that", rest[1])
        return f"there is no command implies; did you mean {meant}?"
    operands = ", ".join(a if a.isdecimal() else f'"{a}"' for a in rest) if name == word else ""
    call = method if method.endswith(")") else f"{method}({operands or '...'})"
    return f"{word} is an operation of programs, not a command; in Python: symbcast.ShapeEnv().{call}"


# What the user of `symbcast trace` may have meant by a function and its arguments.


_EXAMPLE = "attention"
# A number, or several: a shape without names.
_NUMBERS = re.compile(r"\(?\[?\s*-?[0-9]+\s*(?:,\s*(?:-?[0-9]+)?\s*)*\)?\]?")
# Functions of NumPy that take a list of arrays.
_OF_LISTS = ("concatenate", "concat", "stack", "vstack", "hstack", "dstack", "column_stack", "block", "einsum_path")


def function_fault(text: str, arguments: Sequence[str]) -> str:
    """Return the error for text that does not name a function as ``module:function``; empty if it does."""
    called = _called(text)
    if called:
        return f"{argument_text(text)}: give the arguments separately: {called}"
    module, colon, name = text.partition(":")
    if is_file(module) and not module.endswith(".py"):
        return f"{argument_text(module)} is not Python source; did you mean {command_line('model', module)}?"
    path, ending, other = module.partition(".py")
    if (ending and not other) or "/" in module or "\\" in module:
        module = module_of(f"{path}.py")
        if not file_of_module(module) and not name:
            return f"{text}: write the module as Python imports it, {_separated(module, arguments)}"
        return f"{text}: write the module as Python imports it, {_as_in(module, name)}"
    if not colon:
        return f"{text}: write the module and the function, {_separated(text, arguments)}"
    if not module or not name:
        return f"{text}: write the module and the function, {_as_in(module or 'mymodule', name)}"
    if not all(part.isidentifier() for part in module.split(".")):
        return f"{text}: write the module as Python imports it, as in mymodule:{_EXAMPLE}"
    return ""


def _separated(text: str, arguments: Sequence[str]) -> str:
    """Return which function is meant by a name without a colon."""
    first = arguments[0] if arguments else ""
    if text.isidentifier() and text in functions_in(file_of_module(first) or first):
        return _as_in(module_of(first), text)
    if first.isidentifier() and first in functions_in(file_of_module(text) or ""):
        return _as_in(text, first)
    module, _, name = text.rpartition(".")
    owner = "" if module or file_of_module(text) else source_with(text)
    if owner:
        return _as_in(module_of(owner), text)
    return _as_in(module or text or "mymodule", name if module and not file_of_module(text) else "")


def _as_in(module: str, name: str) -> str:
    """Return an example with a function that the module has, and the others; nothing is imported."""
    file = file_of_module(module)
    there = functions_in(file) if file else []
    if name or not there:
        return f"as in {module}:{name or _EXAMPLE}"
    others = f"; {module} has {prose_list(there, limit=6)}" if len(there) > 1 else ""
    return f"as in {module}:{there[0]}{others}"


def _called(text: str) -> str:
    """Return the command line for a call written as in Python; empty for any other text."""
    match = re.fullmatch(r"([\w./\\]+)[:.]([^\W\d]\w*)(\(.*\))", text, re.DOTALL)
    if match is None:
        return ""
    try:
        call = ast.parse(f"f{match[3]}", mode="eval").body
    except SyntaxError:
        return ""
    if not isinstance(call, ast.Call):
        return ""
    arguments = [*((a, "") for a in call.args), *((k.value, k.arg or "") for k in call.keywords)]
    function = f"{module_of(match[1])}:{match[2]}"
    return command_line("trace", function, [_argument(node, name) for node, name in arguments])


def _argument(node: ast.expr, name: str) -> str:
    """Return an argument of a call as the command takes it."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name):  # an array of which no shape is given
        value = "N, 3"
    text = value if isinstance(value, str) else f"={ast.unparse(node)}"
    return f"{name}={text}" if name else text


def call_fault(function: Callable[..., Any], text: str, arguments: Sequence[str]) -> str:
    """Return the error for arguments that a function does not take; empty if no slip explains it."""
    if inspect.isclass(function):
        return f"{text} is a class: name a function, or a method of an instance that the module makes"
    for argument in arguments:
        parts = re.split(r"(?<=[)\]])\s*,\s*(?=[(\[])|\s*;\s*", argument.strip())
        if len(parts) > 1:
            shapes = [part.strip("()[] ") for part in parts]
            own = [shape for a in arguments for shape in (shapes if a == argument else [a])]
            return f"{argument_text(argument)} is one argument: quote each shape: {command_line('trace', text, own)}"
    for kind, following in pairwise(arguments):
        if re.fullmatch(r"(?:u?int|float|complex)\d*|bool", kind) and not re.match(r"[^\W\d]\w*[:=]|=", following):
            return f"{kind} belongs to the shape after it; write one argument: {argument_text(f'{kind}:{following}')}"
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ""
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return ""
    positional = [a for a in arguments if not re.match(r"[^\W\d]\w*=", a)]
    for name, argument in zip(taken, positional, strict=False):
        if name in AXIS_NAMES and re.fullmatch(r"\s*-?[0-9]+\s*", argument):
            number = argument.strip()
            return f"{name}={argument} is an array of shape ({number},); for the number, write ={number}"
    names = [match[1] for a in arguments if (match := re.match(r"([^\W\d]\w*)=", a))]
    unknown = next((name for name in names if name not in taken), "")
    if not unknown:
        return ""
    close = closest(unknown, taken)
    hint = (
        f"did you mean {close}?"
        if close
        else f"its arguments are {prose_list(list(taken))}"
        if taken
        else "it has none"
    )
    return f"{getattr(function, '__name__', text)} has no argument {unknown}; {hint}"


def is_method(owner: type, name: str) -> bool:
    """Return whether an attribute of a class is a method that takes an instance, by the name of its first parameter."""
    attribute = inspect.getattr_static(owner, name)
    if isinstance(attribute, staticmethod | classmethod) or not callable(attribute):
        return False
    try:
        return next(iter(inspect.signature(attribute).parameters), "") == "self"
    except (TypeError, ValueError):
        return False


def notes(arguments: Sequence[str], function: Callable[..., Any], verdict: Verdict) -> Iterator[str]:
    """Yield what was probably meant by arguments with which a function works for no known sizes."""
    if verdict in (Verdict.ALWAYS, Verdict.SOMETIMES):
        return
    for argument in arguments:
        kind, _, text = argument.rpartition(":")
        if text.isidentifier() and not kind and not file_of_module(text):
            yield f"{text} was read as an array of shape ({text},); for an integer that is a size, write size:{text}"
        if not _NUMBERS.fullmatch(text):
            continue
        numbers = [part.strip() for part in text.strip("()[] ").split(",") if part.strip()]
        if len(numbers) == 1 and "," not in text:
            what = f"an array of shape ({numbers[0]},)"
            instead = f"={numbers[0]} for the number, or size:k for any size"
        else:
            tuple_text = ", ".join(numbers) + "," * (len(numbers) == 1)
            what, instead = "the shape of an array", f'"=({tuple_text})" for the tuple'
        yield f"{argument_text(argument)} was read as {what}{f' of {kind}' if kind else ''}: write {instead}"
    name = getattr(function, "__name__", "")
    if name in _OF_LISTS and str(getattr(function, "__module__", "")).startswith("numpy"):
        yield (
            f"{name} takes a list of arrays, and each argument is one array: trace a function of your own, such as "
            f"def join(x, y): return numpy.{name}([x, y])"
        )


# Names in assumptions that no shape has: they may be meant, as ``k`` in ``N == 8*k``, or misspelt.


def note_unknown_names(assume: Sequence[str] | None, shapes: Iterable[ShapeLike]) -> None:
    """Say on standard error which names in assumptions are no sizes of some shapes."""
    if not assume:
        return
    from symbcast.core.programs.arguments import read_assumptions

    own = _names_of(symbols_of(d for s in shapes for d in shape(s).dims))
    named = _names_of(symbols_of(d for a in read_assumptions(list(assume)) for d in dims_of(a.formula)))
    for note in _notes(named, own):
        print_error(note, kind="note")


def note_joined_sizes(shapes: Iterable[str]) -> None:
    """Say on standard error that a name such as ``Nx3`` is one size."""
    for text in filter(is_joined, shapes):
        meant = ", ".join(text.split("x"))
        print_error(f'{text} is read as the name of one size; did you mean "{meant}"?', kind="note")


def _notes(named: Iterable[str], own: Sequence[str]) -> Iterator[str]:
    for name in named:
        if name not in own:
            close = closest(name, own)
            hint = f"did you mean {close}? " if close else ""
            there = (
                f"their sizes are {prose_list(list(map(quoted_name, own)), limit=12)}"
                if own
                else "all sizes are numbers"
            )
            there = f"{there[0].upper()}{there[1:]}" if hint else there
            yield f"{quoted_name(name)} is no size of these shapes, and is taken as any size; {hint}{there}"


def _names_of(symbols: Iterable[Symbol]) -> list[str]:
    """Return the names of sizes and of sequences of axes, each once."""
    return list(dict.fromkeys(s.sequence.name if isinstance(s, SequenceSymbol) else s.name for s in symbols))
