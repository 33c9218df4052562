"""Objects of classes: of modules of PyTorch, made with small numbers, and of classes without a constructor."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from symbcast.linting.annotations.reading import read
from symbcast.linting.annotations.specs import SizeSpec, ValueSpec

_FEW = re.compile(r"head|group|layer|num|depth|^n_")
"""Names of parameters that count parts: sizes are divided by them, or parts are built in a loop."""
_WIDTHS = (8, 12, 16, 20, 24, 28)


def instance_of(kind: type, space: Mapping[str, Any]) -> tuple[Any, dict[str, int]] | None:
    """Return an object of a class, and the integers that it was made with; None if it cannot be made."""
    numbers: dict[str, int] = {}
    given: dict[str, Any] = {}
    try:
        for name, said in inspect.signature(kind).parameters.items():
            if said.kind in (said.VAR_POSITIONAL, said.VAR_KEYWORD) or said.default is not said.empty:
                continue
            spec = read(said.annotation, space) if said.annotation is not said.empty else SizeSpec()
            if isinstance(spec, SizeSpec):
                numbers[name] = 2 if _FEW.search(name) else _WIDTHS[len(numbers) % len(_WIDTHS)]
                given[name] = numbers[name]
            elif isinstance(spec, ValueSpec):
                given[name] = spec.values[0]
            else:
                return None
        return kind(**given), numbers
    except Exception:  # the numbers need not suit the class
        return None


def is_plain(kind: type) -> bool:
    """Return whether an object of a class is made without running any code of its class."""
    own = inspect.getattr_static(kind, "__init__"), inspect.getattr_static(kind, "__new__")
    return own == _OBJECT_MAKERS and type(kind).__call__ is type.__call__ and not getattr(kind, "_is_protocol", False)


def missing_attribute(kind: type, method: Callable[..., Any]) -> str:
    """Return an attribute that a method, or one that it calls, reads from its object and its class does not have.

    Another class sets it: the class is a mixin, or its fields are set from outside. Empty if there is none.
    """
    seen: set[CodeType] = set()
    left = [method]
    while left:
        function = inspect.unwrap(left.pop())
        if not isinstance(function, FunctionType) or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        for name in _read_from_self(function.__code__):
            found = inspect.getattr_static(kind, name, _MISSING)
            if found is _MISSING:
                return name
            left += [f for f in (getattr(found, "__func__", found), getattr(found, "fget", None)) if callable(f)]
    return ""


_MISSING = object()
_OBJECT_MAKERS = inspect.getattr_static(object, "__init__"), inspect.getattr_static(object, "__new__")


def _read_from_self(code: CodeType) -> Iterator[str]:
    """Yield the attributes that a function reads from its first argument."""
    own = code.co_varnames[0] if code.co_argcount else ""
    before = ""
    for step in dis.get_instructions(code):
        if before == own and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield str(step.argval)
        if step.opname != "CACHE":
            before = str(step.argval) if step.opname in ("LOAD_FAST", "LOAD_DEREF") else ""
