"""What the user of `symbcast trace` may have meant by a function and its arguments."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from symbcast.cli.advice.paths import file_of_module, functions_in, is_file, module_of, source_with
from symbcast.cli.advice.words import line, shown
from symbcast.core.characters import closest, listed
from symbcast.core.signatures import AXIS_NAMES
from symbcast.core.verdicts import Verdict

_EXAMPLE = "attention"
_NUMBERS = re.compile(r"\(?\[?\s*-?[0-9]+\s*(?:,\s*(?:-?[0-9]+)?\s*)*\)?\]?")
"""A number, or several: a shape without names."""
_OF_LISTS = ("concatenate", "concat", "stack", "vstack", "hstack", "dstack", "column_stack", "block", "einsum_path")
"""Functions of NumPy that take a list of arrays."""


def function_fault(text: str, arguments: Sequence[str]) -> str:
    """Return the error for text that does not name a function as ``module:function``; empty if it does."""
    called = _called(text)
    if called:
        return f"{shown(text)}: give the arguments separately: {called}"
    module, colon, name = text.partition(":")
    if is_file(module) and not module.endswith(".py"):
        return f"{shown(module)} is not Python source; did you mean {line('model', module)}?"
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
    others = f"; {module} has {listed(there, limit=6)}" if len(there) > 1 else ""
    return f"as in {module}:{there[0]}{others}"


def _called(text: str) -> str:
    """Return the command line for a call written as in Python; empty for any other text."""
    found = re.fullmatch(r"([\w./\\]+)[:.]([^\W\d]\w*)(\(.*\))", text, re.DOTALL)
    if found is None:
        return ""
    try:
        call = ast.parse(f"f{found[3]}", mode="eval").body
    except SyntaxError:
        return ""
    if not isinstance(call, ast.Call):
        return ""
    given = [*((a, "") for a in call.args), *((k.value, k.arg or "") for k in call.keywords)]
    return line("trace", f"{module_of(found[1])}:{found[2]}", [_argument(node, name) for node, name in given])


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
            return f"{shown(argument)} is one argument: quote each shape: {line('trace', text, own)}"
    for kind, shape in pairwise(arguments):
        if re.fullmatch(r"(?:u?int|float|complex)\d*|bool", kind) and not re.match(r"[^\W\d]\w*[:=]|=", shape):
            return f"{kind} belongs to the shape after it; write one argument: {shown(f'{kind}:{shape}')}"
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
    names = [found[1] for a in arguments if (found := re.match(r"([^\W\d]\w*)=", a))]
    unknown = next((name for name in names if name not in taken), "")
    if not unknown:
        return ""
    close = closest(unknown, taken)
    hint = f"did you mean {close}?" if close else f"its arguments are {listed(list(taken))}" if taken else "it has none"
    return f"{getattr(function, '__name__', text)} has no argument {unknown}; {hint}"


def is_method(owner: type, name: str) -> bool:
    """Return whether an attribute of a class is a method that takes an instance, by the name of its first parameter."""
    found = inspect.getattr_static(owner, name)
    if isinstance(found, staticmethod | classmethod) or not callable(found):
        return False
    try:
        return next(iter(inspect.signature(found).parameters), "") == "self"
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
        yield f"{shown(argument)} was read as {what}{f' of {kind}' if kind else ''}: write {instead}"
    name = getattr(function, "__name__", "")
    if name in _OF_LISTS and str(getattr(function, "__module__", "")).startswith("numpy"):
        yield (
            f"{name} takes a list of arrays, and each argument is one array: trace a function of your own, such as "
            f"def join(x, y): return numpy.{name}([x, y])"
        )
