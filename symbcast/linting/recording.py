"""How the objects of a project's classes are made, as its own tests make them: constructor calls, kept in a file.

A call is kept as data for JSON and called again; nothing is pickled. Values without a form as data, such as a lambda,
make a call unusable, unless they are the defaults of the constructor.
"""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import json
import sys
import threading
import types
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

FILE = ".symbcast_objects.json"
FORMAT = "symbcast.lint-objects"
VERSION = 1
# The most calls that are kept of one class, and the most characters of one call.
_CALLS, _CHARACTERS = 8, 20_000
# Larger arrays are kept by their shape.
_ELEMENTS = 64

Calls: TypeAlias = "dict[str, list[Any]]"
"""The calls of each class as data, by its module and its name in it."""


def read_calls(file: Path) -> Calls:
    """Return the calls in a file; nothing if it is not there, or was written by another version."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return dict(data["classes"]) if (data["format"], data["version"]) == (FORMAT, VERSION) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_calls(file: Path, calls: Calls) -> None:
    """Write calls into a file, for the classes in it that have new ones."""
    classes = dict(sorted({**read_calls(file), **calls}.items()))
    # A call is one line, so that a change of the file can be read.
    lines = [f" {json.dumps(n)}: [\n  " + ",\n  ".join(map(json.dumps, c)) + "\n ]" for n, c in classes.items()]
    head = f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION}, "classes": {{'
    draft = file.with_suffix(".part")
    draft.write_text("\n".join([head, ",\n".join(lines), "}}", ""]), "utf-8")
    draft.replace(file)


def name_of(value: Any) -> str:
    """Return the module and the name of a class or a function, as ``module:Name``."""
    return f"{value.__module__}:{value.__qualname__}"


def named(name: str) -> Any:
    """Return what a module has by a name, such as ``module:Class.method``. Raises what an import raises."""
    module, _, path = name.partition(":")
    return functools.reduce(getattr, path.split("."), importlib.import_module(module))


class KnownCalls:
    """The recorded calls that this process uses; ``comes_first`` if they are used before constructors are tried."""

    def __init__(self) -> None:
        self.comes_first = False
        self.calls: Calls = {}
        self._file = ""

    def load(self, file: str) -> None:
        """Use the calls in a file."""
        if file != self._file:
            self._file, self.calls = file, read_calls(Path(file))

    def of(self, kind: type) -> Iterator[Any]:
        """Yield the calls that made objects of a class, then those of classes below it."""
        yield from self.calls.get(name_of(kind), ())
        below: list[type] = type.__subclasses__(kind) if self.calls else []
        for one in below:
            yield from self.of(one)


def numbers_in(kind: type, call: Any) -> dict[str, int]:
    """Return the integers in a call of a class, by the parameters that got them."""
    with suppress(TypeError, ValueError):
        got = inspect.signature(kind).bind_partial(*call["args"], **call["with"]).arguments
        return {name: value for name, value in got.items() if type(value) is int}
    return {}


# What this process uses.
KNOWN = KnownCalls()


# Values as data.


class NotDataError(Exception):
    """A value has no form as data."""


class DataWriter:
    """Writes values as data; ``objects`` are those whose constructor calls are known, by their identity."""

    def __init__(self) -> None:
        self.objects: dict[int, tuple[Any, Any]] = {}

    def data(self, value: Any) -> Any:
        """Return a value as data for JSON. Raises `NotDataError`."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is list:
            return [self.data(v) for v in value]
        if type(value) is tuple:
            return {"tuple": [self.data(v) for v in value]}
        if type(value) is dict:
            return {"dict": [[self.data(k), self.data(v)] for k, v in value.items()]}
        if isinstance(value, enum.Enum):
            return {"name": f"{name_of(type(value))}.{value.name}"}
        if isinstance(value, functools.partial):
            return self.call("functools:partial", (value.func, *value.args), value.keywords)
        kept, data = self.objects.get(id(value), (None, None))
        if data is not None and (kept() if isinstance(kept, weakref.ref) else kept) is value:
            return data
        return self._of_library(value) or self._of_name(value)

    def call(self, name: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Return a call as data. Raises `NotDataError`."""
        data = {
            "call": name,
            "args": [self.data(a) for a in args],
            "with": {n: self.data(v) for n, v in options.items()},
        }
        if len(json.dumps(data)) > _CHARACTERS:
            raise NotDataError
        return data

    def _of_name(self, value: Any) -> Any:
        with suppress(Exception):
            # Torch's types of elements have no other name.
            text = str(value) if type(value).__module__ == "torch" else name_of(value).replace(":", ".", 1)
            module, _, path = (
                text.partition(".") if type(value).__module__ == "torch" else name_of(value).partition(":")
            )
            if named(f"{module}:{path}") is value:
                return {"name": f"{module}:{path}"}
        raise NotDataError

    def _of_library(self, value: Any) -> Any:
        """Return an array or a type of elements as data; None for any other value."""
        library = type(value).__module__.partition(".")[0].removesuffix("lib")
        if library not in ("numpy", "jax", "torch") or isinstance(value, type):
            return None
        dtype = getattr(value, "dtype", None)
        if dtype is None or not hasattr(value, "shape"):
            return {"dtype": str(value)} if library == "numpy" and hasattr(value, "itemsize") else None
        if "key<" in str(dtype):
            return {"key": importlib.import_module("jax.random").key_data(value).tolist()}
        size = functools.reduce(int.__mul__, map(int, value.shape), 1)
        content = value.detach().tolist() if library == "torch" else value.tolist()
        kept = content if size <= _ELEMENTS else None
        return {"array": list(value.shape), "dtype": str(dtype).rpartition(".")[2], "of": library, "data": kept}


def value_of(data: Any) -> Any:
    """Return the value that data describe: imports, calls. Raises what these raise."""
    if isinstance(data, list):
        return [value_of(v) for v in data]
    if not isinstance(data, Mapping):
        return data
    match data:
        case {"tuple": items}:
            return tuple(map(value_of, items))
        case {"dict": items}:
            return {value_of(k): value_of(v) for k, v in items}
        case {"name": name}:
            return named(name)
        case {"call": name, "args": args, "with": options}:
            return named(name)(*map(value_of, args), **{n: value_of(v) for n, v in options.items()})
        case {"key": key}:
            random, np = importlib.import_module("jax.random"), importlib.import_module("numpy")
            return random.wrap_key_data(np.array(key, "uint32"))
        case {"array": shape, "dtype": dtype, "of": library, "data": content}:
            return _array(shape, dtype, library, content)
        case {"dtype": dtype}:
            return importlib.import_module("numpy").dtype(dtype)
    raise ValueError(data)


def _array(shape: list[int], dtype: str, library: str, content: Any) -> Any:
    np = importlib.import_module("numpy")
    count = functools.reduce(int.__mul__, shape, 1)
    # Increasing numbers between 0 and 1: valid as knots, weights and probabilities.
    numbers = np.linspace(0, 1, count).reshape(shape) if content is None else np.array(content)
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.from_numpy(numbers).reshape(shape).to(getattr(torch, dtype))
    array = numbers.reshape(shape).astype(dtype if dtype != "bfloat16" else "float32")
    return array if library == "numpy" else importlib.import_module("jax.numpy").asarray(array, dtype)


# The recorder: it sees all calls of constructors in a process.


class Recorder:
    """Notes the constructor calls of classes whose source is in a folder, from `begin` to `end`."""

    def __init__(self, folder: Path) -> None:
        self.calls: Calls = {}
        self._folder = folder.resolve()
        self._writer = DataWriter()
        self._is_own: dict[str, bool] = {}

    def begin(self) -> None:
        """Begin to note calls, in all threads."""
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)

    def end(self) -> None:
        """Stop."""
        threading.setprofile(None)
        sys.setprofile(None)

    def _seen(self, frame: types.FrameType, event: str, argument: Any) -> None:
        if event != "call" or frame.f_code.co_name != "__init__" or not frame.f_code.co_argcount:
            return
        made = frame.f_locals.get(frame.f_code.co_varnames[0])
        kind = type(made)
        # A constructor that another one calls is a part of that call.
        function = inspect.unwrap(getattr(kind, "__init__"))  # noqa: B009 - of an object mypy does not trust it
        is_part = getattr(function, "__code__", None) is not frame.f_code or isinstance(made, enum.Enum)
        if is_part or not self._is_of_folder(kind.__module__):
            return
        with suppress(Exception):  # code of the user's values: the test goes on
            data = self._writer.call(name_of(kind), *_arguments(function, frame))
            self._writer.objects[id(made)] = _reference(made), data
            calls = self.calls.setdefault(name_of(kind), [])
            if data not in calls and len(calls) < _CALLS:
                calls.append(data)

    def _is_of_folder(self, name: str) -> bool:
        if name not in self._is_own:
            file = getattr(sys.modules.get(name), "__file__", None) or "/"
            own = Path(file).resolve()
            self._is_own[name] = self._folder in own.parents and "site-packages" not in own.parts
        return self._is_own[name]


def _reference(value: Any) -> Any:
    """Return a weak reference where there can be one: an object's identity is another's once it is gone."""
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def _arguments(function: Any, frame: types.FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a constructor's call without its object, but for defaults."""
    args: list[Any] = []
    options: dict[str, Any] = {}
    parameters = list(inspect.signature(function).parameters.values())[1:]
    is_open = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for parameter in parameters:
        value = frame.f_locals[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            options.update(value)
        elif parameter.kind is parameter.POSITIONAL_ONLY or (is_open and parameter.kind is not parameter.KEYWORD_ONLY):
            args.append(value)
        elif value is not parameter.default:
            options[parameter.name] = value
    return tuple(args), options
