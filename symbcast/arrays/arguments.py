"""The arguments of a traced function: shapes as text, arrays with a dtype, sizes, and any other values."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from symbcast.core.advice import AXIS_NAMES, advised_keyword, with_advice
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import closest, prose_list
from symbcast.core.shapes import Shape, ShapeLike, known_rank, shape
from symbcast.core.solver.evaluation import size_at
from symbcast.errors import BindingError, ShapeTypeError, SymbcastError
from symbcast.paths.path import current

# Whether a real call is under way that confirms a trace: it may break promises on purpose.
confirming: ContextVar[bool] = ContextVar("confirming", default=False)

# The attribute of a function that checks its calls which holds the function itself.
WITHOUT_CHECKS = "__symbcast_without_checks__"

# The fix for an unknown rank: the code that is run needs to know how many axes its arrays have.
TRACED = "trace it for each rank separately"


@dataclass(frozen=True)
class ArrayArgument:
    """An array argument: its shape and its dtype."""

    shape: ShapeLike
    dtype: Any = "float64"


@dataclass(frozen=True)
class SizeArgument:
    """An integer argument: a size, or a term over sizes."""

    text: str


@dataclass(frozen=True, eq=False)
class BuiltArgument:
    """An argument made from others: ``build`` gets ``parts``, in which arrays and sizes are made as usual."""

    build: Callable[[Any], Any]
    parts: Any


@with_advice
def array(shape: ShapeLike, dtype: Any = "float64") -> ArrayArgument:
    """Return an array argument of a traced function: a shape that `symbcast.shape` reads, and a NumPy dtype.

    >>> array("N, 3", dtype="int64")
    ArrayArgument(shape='N, 3', dtype='int64')
    """
    return ArrayArgument(shape, dtype)


@with_advice
def size(text: str) -> SizeArgument:
    """Return an integer argument of a traced function: a name, or a term such as ``"N + 1"``.

    >>> size("N")
    SizeArgument(text='N')
    """
    if isinstance(text, int):
        raise ShapeTypeError(text, "the name of a size", f"pass the integer {text} itself")
    return SizeArgument(text)


def check_dtypes(arguments: TraceArguments) -> None:
    """Raise `ShapeTypeError` for a dtype that NumPy does not have."""
    for argument in arguments.symbolic:
        if isinstance(argument, ArrayArgument):
            try:
                np.dtype(argument.dtype)
            except TypeError:
                names = [np.dtype(code).name for code in np.typecodes["All"]]
                close = closest(str(argument.dtype), names)
                hint = f"did you mean {close!r}?" if close else "write one such as 'float32'"
                raise ShapeTypeError(argument.dtype, "a dtype of NumPy", hint) from None


class TraceArguments:
    """The arguments of a call; ``symbolic`` are the arrays and sizes in them in order, ``shapes`` their shapes."""

    def __init__(self, positional: Sequence[Any], named: Mapping[str, Any], dtype: str = "float64") -> None:
        self.positional = [ArrayArgument(v, dtype) if isinstance(v, (str, Shape)) else v for v in positional]
        self.named = dict(named)
        self.symbolic = symbolic = list(_arrays_within([*self.positional, *self.named.values()]))
        shapes = (shape(a.shape if isinstance(a, ArrayArgument) else a.text) for a in symbolic)
        self.shapes = [known_rank(s, "a trace", TRACED) for s in shapes]
        for argument, read in zip(symbolic, self.shapes, strict=True):
            if isinstance(argument, SizeArgument) and len(read.dims) != 1:
                raise ShapeTypeError(argument.text, "a size", "write one, such as 'N' or 'N + 1'")
        self.is_fresh = [isinstance(a, SizeArgument) or isinstance(a.shape, str) for a in symbolic]

    def build(self, shapes: Sequence[Shape], make_array: Any, make_size: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments, with arrays and sizes made from bound shapes."""
        left = iter(shapes)

        def built(value: Any) -> Any:
            if isinstance(value, ArrayArgument):
                return make_array(next(left).dims, value.dtype)
            if isinstance(value, SizeArgument):
                (dim,) = next(left).dims
                return make_size(dim)
            if isinstance(value, BuiltArgument):
                return value.build(built(value.parts))
            if type(value) in (list, tuple):
                return type(value)(map(built, value))
            if type(value) is dict:
                return {k: built(v) for k, v in value.items()}
            return value

        return [built(v) for v in self.positional], {k: built(v) for k, v in self.named.items()}

    def call(
        self,
        function: Callable[..., Any],
        shapes: Sequence[Shape],
        sizes: Mapping[Symbol, int],
        filled: Callable[[Sequence[int], Any], Any] = np.ones,
    ) -> Any:
        """Call a function with real arrays at some sizes, filled with ones by default; return or raise its result."""
        # Sizes that the conditions do not mention are 2.
        at = defaultdict(lambda: 2, sizes)

        def make_array(dims: Sequence[Dim], dtype: Any) -> Any:
            return filled([size_at(d, at) for d in dims], dtype)

        args, options = self.build(shapes, make_array, lambda dim: size_at(dim, at))
        token, on_purpose = current.set(None), confirming.set(True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return function(*args, **options)
        finally:
            current.reset(token)
            confirming.reset(on_purpose)

    def texts(self) -> list[str]:
        """Return the arguments as text."""
        return [*map(_text, self.positional), *(f"{k}={_text(v)}" for k, v in self.named.items())]


def check_call(
    function: Callable[..., Any],
    positional: Sequence[Any],
    named: Mapping[str, Any],
    options: Sequence[str] = ("assume", "min_size", "max_paths"),
    caller: str = "trace",
) -> None:
    """Raise `BindingError` if a function's signature does not accept these arguments.

    ``options`` are the parameters of the caller, of which one may be meant.
    """
    if not callable(function):
        hint = "the function comes first: trace(f, 'N, 3')" if any(map(callable, positional)) else "pass the function"
        raise ShapeTypeError(function, "a function", hint)
    try:
        taken = signature(function)
    except (ValueError, TypeError):
        return
    try:
        taken.bind(*positional, **named)
    except TypeError as error:
        name = getattr(function, "__qualname__", type(function).__qualname__)
        advice = _advice(taken, positional, named, options, caller)
        raise BindingError(f"{name}{taken} does not accept these arguments", advice or str(error)) from None
    for value in positional:
        _check_no_shapes_within(value)
    for parameter, value in zip(taken.parameters, positional, strict=False):
        if parameter in AXIS_NAMES and isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]+\s*", value):
            problem = f"{parameter}={value!r} is an array of shape ({value.strip()},)"
            raise BindingError(problem, f"pass {value.strip()} for an axis")


def _check_no_shapes_within(value: Any) -> None:
    """Raise `ShapeTypeError` for a list or tuple of text that was meant as a shape, or as several."""
    # Text within them is text for the function. Words alone, such as ("same", "full"), may be meant so.
    if type(value) not in (list, tuple) or not any(isinstance(item, str) for item in value):
        return
    if all(isinstance(item, int) or (isinstance(item, str) and item.isidentifier()) for item in value):
        if any(type(item) is int for item in value):
            hint = f"write the shape as text, {', '.join(map(str, value))!r}"
            raise ShapeTypeError(value, "a shape or a value", hint)
    elif all(isinstance(item, str) and is_shape(item) for item in value):
        arrays = ", ".join(f"array({item!r})" for item in value)
        raise ShapeTypeError(
            value, "a list of arrays", f"write {f'[{arrays}]' if type(value) is list else f'({arrays})'}"
        )


def is_shape(text: str) -> bool:
    """Return whether a text is a shape with axes."""
    try:
        return len(shape(text)) > 0
    except SymbcastError:
        return False


def _advice(
    taken: Signature, positional: Sequence[Any], named: Mapping[str, Any], options: Sequence[str], caller: str
) -> str:
    """Return what to write if arguments in a tuple, or an option of the trace, were meant; empty for anything else."""
    (only,) = positional if len(positional) == 1 else (None,)
    if isinstance(only, (tuple, list)) and only and all(isinstance(s, (str, Shape, ArrayArgument)) for s in only):
        with suppress(TypeError):
            taken.bind(*only, **named)
            return f"give the arguments one by one, not in a {type(only).__name__}"
    unknown = [name for name in named if name not in taken.parameters]
    if not unknown:
        return _counted(taken, len(positional), named)
    advice = advised_keyword(unknown[0], [*taken.parameters, *options], named[unknown[0]], caller)
    return advice or f"named arguments are passed to the function, which has no {unknown[0]!r}: leave {unknown[0]}= out"


def _counted(taken: Signature, count: int, named: Mapping[str, Any]) -> str:
    """Return what to do about too many arguments, or about a missing one; empty for anything else."""
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in taken.parameters.values() if p.kind in kinds]
    if any(p.kind is Parameter.VAR_POSITIONAL for p in taken.parameters.values()):
        return ""
    if count > len(names):
        return f"leave out {'the last one' if count == len(names) + 1 else f'the last {count - len(names)}'}"
    missing = [n for n in names[count:] if n not in named and taken.parameters[n].default is Parameter.empty]
    return f"give a shape or a value for {prose_list(missing)} too" if missing else ""


def _arrays_within(values: Sequence[Any]) -> Iterator[ArrayArgument | SizeArgument]:
    """Yield the arrays and sizes in values in order, including those in lists, tuples and dicts."""
    for value in values:
        if isinstance(value, (ArrayArgument, SizeArgument)):
            yield value
        elif isinstance(value, BuiltArgument):
            yield from _arrays_within([value.parts])
        elif type(value) in (list, tuple):
            yield from _arrays_within(value)
        elif type(value) is dict:
            yield from _arrays_within(list(value.values()))


def _text(value: Any) -> str:
    if isinstance(value, ArrayArgument):
        return f"({value.shape})" if isinstance(value.shape, str) else str(value.shape)
    return value.text if isinstance(value, SizeArgument) else repr(value)
