"""``symbcast trace`` runs a NumPy function and says for which sizes it works."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symbcast.cli import terminal
from symbcast.cli.argument_advice import call_fault, function_fault, is_method, note_unknown_names, notes
from symbcast.cli.command import command
from symbcast.cli.evaluation import At, evaluated, print_answer, sizes_of, written
from symbcast.cli.options import GuardIn, guard_text
from symbcast.cli.terminal import UsageError
from symbcast.core.characters import closest, prose_list
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, MissingExtraError

if TYPE_CHECKING:
    from symbcast.answers.program_report import Format
    from symbcast.answers.show.document import Document
    from symbcast.arrays.promises import TraceCall
    from symbcast.arrays.trace import TraceReport

    Answer: TypeAlias = tuple[Verdict, Document | dict[str, Any] | str]


EPILOGUE = """Example: symbcast trace mymodule:attention "B, T, D" "B, S, D" --assume "D >= 1"

The function's own code is run, in its own process. Arguments are shapes of float64 arrays; int64:N, 3 is an array \
of another type, size:k an integer that is a size, and =5 a Python literal. mask=bool:T, T gives one by its name.

Exit status of trace: 0 works for all sizes, 1 for some sizes or none, 2 wrong usage, 3 not known for all sizes \
or only observed."""
WORDS = {"run": 'trace MODULE:FUNCTION "N, 3"'}
NOTES = {
    "plot svg png draw image figure": "plots are drawn in Python, by symbcast.notebook.plot(...)",
    "dtype dtypes type types": 'the type precedes the shape, as in "float32:N, 3"',
    "symbols symbol names vars variables": "names in shapes are sizes: leave {} out",
    "jax": "in Python, symbcast.jax.trace runs functions of JAX",
    "torch pytorch": "in Python, symbcast.torch.trace runs modules and functions of PyTorch",
}


def _no_function(arguments: Sequence[str], _options: Sequence[str]) -> str:
    return "" if arguments else 'give a function: symbcast trace MODULE:FUNCTION "N, 3"'


@command(epilogue=EPILOGUE, subject="function", fault=_no_function, notes=NOTES, words=WORDS)
def trace(  # noqa: PLR0913 - each is an option
    function: str,
    /,
    *arguments: str,
    assume: list[str] | None = None,
    min_size: int = 0,
    max_paths: int = 128,
    no_observe: bool = False,
    format: Literal["text", "json", "sarif", "github"] = "text",
    guard: GuardIn = None,
    at: At = None,
    fail_on: Literal["never", "sometimes"] = "sometimes",
) -> int:
    """Run a function with symbolic sizes and say for which sizes it works; its code is executed.

    Parameters
    ----------
    function
        The function, as module:function; the module may be in the current folder.
    arguments
        Its arguments: shapes such as "N, 3", int64:N, size:k, or =5 for a value; by name, mask="N, 3" or axis==1.
    assume
        An assumption about the sizes, such as "N >= 2"; may be repeated.
    min_size
        The minimum size of every symbol.
    max_paths
        The maximum number of paths to follow.
    no_observe
        Do not call the function at all small sizes where nothing is proved.
    format
        Text to read, JSON, SARIF for code scanning, or GitHub workflow commands.
    fail_on
        When to exit with 1: if the function works only for some sizes or for none, or just if for none.
    """
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise MissingExtraError("symbcast trace", "numpy")
    from symbcast.core.isolation import ChildProcess, DiedError

    fault = function_fault(function, arguments)
    if fault:
        raise UsageError(fault)
    if max_paths < 1:
        raise UsageError(f"--max-paths {max_paths}: write 1 or more")
    sizes = sizes_of(at, guard)
    request = TraceRequest(
        function, arguments, tuple(assume or ()), min_size, max_paths, format, guard, not no_observe, sizes
    )
    with ChildProcess() as child:
        try:
            verdict, answer = child.ask(answer_in_child, request)
        except DiedError as error:
            from symbcast.arrays.promises import report_of_crash

            verdict, answer = _answer(report_of_crash(request.call(), request.function, error), request)
    if isinstance(answer, str):
        terminal.print_text(answer)
    else:
        print_answer(answer)
    return terminal.status_of(verdict, fail_on)


# A Python literal that no shape is: the argument of a function that takes a number or a flag.
_VALUE = re.compile(r"\s*(?:[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?|True|False|None)\s*", re.ASCII)
# An argument with a name; no shape has ``=`` in it.
_KEYWORD = re.compile(r"([^\W\d]\w*)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class TraceRequest:
    """The arguments of a trace, as typed: they are sent to the process that runs the function."""

    function: str
    arguments: tuple[str, ...]
    assume: tuple[str, ...]
    min_size: int
    max_paths: int
    format: Format
    guard: str | None = None
    observe: bool = True
    at: Mapping[str, Any] | None = None

    def call(self) -> TraceCall:
        """Return the arguments of the function."""
        from symbcast.arrays.promises import TraceCall

        positional = tuple(_argument(a) for a in self.arguments if not _KEYWORD.match(a))
        named = [(m[1], _named(m[1], m[2])) for m in map(_KEYWORD.match, self.arguments) if m]
        if len(named) > len(dict(named)):
            raise UsageError("an argument is given twice by its name; give it once")
        return TraceCall(positional, dict(named), self.assume, self.min_size, self.max_paths, self.observe)


def answer_in_child(request: TraceRequest) -> Answer:
    """Return the verdict on a function and the displayed answer. This runs in a process that the function may kill."""
    # What the function prints must not stand in the answer.
    with redirect_stdout(sys.stderr):
        function = _function_named(request.function)
        try:
            call = request.call()
            report = call.of(function)
        except (UsageError, BindingError) as error:
            raise UsageError(call_fault(function, request.function, request.arguments) or str(error)) from error
        note_unknown_names(request.assume, _shapes(call))
        for note in notes(request.arguments, function, report.verdict):
            terminal.print_error(note, kind="note")
        return _answer(report, request)


def _shapes(call: TraceCall) -> list[Any]:
    """Return the shapes and sizes among the arguments of a call."""
    from symbcast.arrays.arguments import ArrayArgument, SizeArgument

    values = [*call.arguments, *call.named.values()]
    arrays = [a.shape if isinstance(a, ArrayArgument) else a for a in values if isinstance(a, str | ArrayArgument)]
    return [*arrays, *([a.text] for a in values if isinstance(a, SizeArgument))]


def _answer(report: TraceReport, request: TraceRequest) -> Answer:
    if request.guard is not None:
        return report.verdict, guard_text(report, request.guard, request.format)
    if request.at is not None:
        answer = evaluated(report, request.at)
        return answer.verdict, written(answer, report.name, request.format)
    if request.format != "text":
        return report.verdict, report.report(request.format)
    from symbcast.paths.document import document

    return report.verdict, document(report)


def _function_named(text: str) -> Any:
    """Return the function with the name ``module:function``."""
    module_name, _, name = text.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        # As `python -m` does: a command of an installed package has its own folder there, not the current one.
        sys.path.insert(0, folder)
    try:
        value: Any = import_module(module_name)
    except ImportError as error:
        raise UsageError(f"{module_name} cannot be imported: {error}") from error
    # A script that is imported may end the process.
    except (Exception, SystemExit) as error:
        raise UsageError(f"{module_name} cannot be imported: {type(error).__name__}: {error}") from error
    owner: Any = None
    for part in name.split("."):
        if not hasattr(value, part):
            there = [n for n in dir(value) if not n.startswith("_")]
            close = closest(part, there)
            own = [n for n in there if isfunction(getattr(value, n)) and getattr(value, n).__module__ == module_name]
            hint = f"did you mean {close}?" if close else f"it has {prose_list(own, limit=6)}" if own else ""
            raise UsageError(f"{module_name} has no {name}{f'; {hint}' if hint else ''}")
        owner, value = value, getattr(value, part)
    if isclass(owner) and is_method(owner, name.rpartition(".")[2]):
        example = f"{owner.__name__.lower()} = {owner.__name__}()"
        raise UsageError(
            f"{text} is a method, which needs an instance: name a function, or an object that the module makes, "
            f"such as {example}: {module_name}:{owner.__name__.lower()}.{name.rpartition('.')[2]}"
        )
    if not callable(value):
        raise UsageError(f"{text} is not a function")
    return value


def _argument(text: str) -> Any:
    """Return an argument: an array, a size, or a value."""
    from symbcast.arrays.arguments import array, size

    if _VALUE.fullmatch(text):
        raise UsageError(f"{text} is no shape; for a value, write ={text.strip()}")
    if text.startswith("="):
        try:
            return ast.literal_eval(text[1:].strip())
        except (ValueError, SyntaxError) as error:
            named = f", or size:{text[1:].strip()} for any size" if text[1:].strip().isidentifier() else ""
            raise UsageError(f"{text}: write a Python literal, such as =5 or ='same'{named}") from error
    kind, colon, rest = text.partition(":")
    if not colon:
        return text
    if kind.strip() == "size":
        if not rest.strip():
            raise UsageError(f"{text} names no size; write size:k")
        return size(rest)
    import numpy as np

    try:
        np.dtype(kind.strip())
    except TypeError as error:
        raise UsageError(
            f"{terminal.argument_text(text)}: {kind.strip()} is not a type; write {_in_order(kind, rest)}"
        ) from error
    return array(rest, kind.strip())


def _in_order(kind: str, rest: str) -> str:
    """Return how an argument with an unknown type is written: the type may follow the shape, or be a name."""
    import numpy as np

    names = [np.dtype(code).name for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]]
    known = [*names, "bool", "size"]
    if rest.strip() in known and terminal.is_shape(kind):
        return terminal.argument_text(f"{rest.strip()}:{kind.strip()}")
    close = closest(kind.strip(), known)
    if close:
        return terminal.argument_text(f"{close}:{rest.strip()}")
    named = f", or {terminal.argument_text(f'{kind.strip()}={rest.strip()}')} for an argument of this name"
    return f"{_TYPES}{named if kind.strip().isidentifier() else ''}"


_TYPES = '"float32:N, 3" or size:N'


def _named(name: str, text: str) -> Any:
    """Return an argument that is passed by name: text is a shape here, as it is without a name."""
    from symbcast.arrays.arguments import array

    if re.fullmatch(r"\s*-?[0-9]+\s*", text):
        number = text.strip()
        array_of = "" if number.startswith("-") else f', or "{name}={number}," for an array of {number} elements'
        raise UsageError(f"{name}={number}: write {name}=={number} for the number{array_of}")
    if _VALUE.fullmatch(text):
        raise UsageError(f"{name}={text}: {text} is no shape; for a value, write {name}=={text.strip()}")
    value = _argument(text)
    return array(value) if isinstance(value, str) and value == text else value
