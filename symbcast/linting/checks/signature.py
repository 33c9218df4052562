"""The annotations of an imported function: what its parameters and its result are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from symbcast.linting.annotations.reading import object_spec, read
from symbcast.linting.annotations.specs import ArraySpec, Library, ObjectSpec, Spec, UnknownSpec, ValueSpec, arrays_in
from symbcast.linting.checks.instances import instance_of, is_plain, missing_attribute


class NotFoundError(Exception):
    """A function cannot be found in its module, or its parameters cannot be read; the text says why."""


@dataclass(frozen=True)
class Signature:
    """A function without its wrappers, and what its annotations say.

    ``keywords`` are the parameters that must be given by name; ``returns`` is None without an annotation. ``numbers``
    are the integers that a method's object was constructed with; None if it was not.
    """

    function: Callable[..., Any]
    parameters: Mapping[str, Spec]
    keywords: frozenset[str]
    returns: Spec | None
    numbers: Mapping[str, int] | None = None

    @property
    def arrays(self) -> list[ArraySpec]:
        """The arrays in the annotations of parameters and result."""
        found = [a for s in self.parameters.values() for a in arrays_in(s)]
        return found + ([] if self.returns is None else arrays_in(self.returns))

    @property
    def is_shaped(self) -> bool:
        """Whether any annotation says something about a shape."""
        return any(a.is_shaped for a in self.arrays)

    @property
    def library(self) -> Library:
        """The library whose arrays the function takes; JAX or NumPy by its module if annotations allow any."""
        named = {a.library for a in self.arrays}
        for library in ("torch", "jax", "numpy"):
            if library in named:
                return library
        modules = {str(v.__name__) for v in self.function.__globals__.values() if isinstance(v, ModuleType)}
        return "jax" if modules & {"jax", "jax.numpy"} else "numpy"


def signature_of(module: ModuleType, name: str) -> Signature:
    """Return the signature of a function of a module, by its qualified name.

    Raises `NotFoundError`, and whatever evaluating the text of an annotation raises.
    """
    owner, function, is_method = _found(module, name)
    space = {**function.__globals__, **(vars(owner) if owner is not None else {})}
    taken = inspect.signature(function, follow_wrapped=False)
    parameters: dict[str, Spec] = {}
    numbers: Mapping[str, int] | None = None
    for number, (parameter, said) in enumerate(taken.parameters.items()):
        if said.kind in (said.VAR_POSITIONAL, said.VAR_KEYWORD):
            continue
        if number == 0 and is_method and owner is not None:
            parameters[parameter], numbers = _own(owner, function, space)
        else:
            parameters[parameter] = _parameter(said, space)
    keywords = frozenset(n for n, p in taken.parameters.items() if p.kind is p.KEYWORD_ONLY)
    empty = taken.return_annotation is inspect.Signature.empty
    returns = None if empty else read(taken.return_annotation, space)
    return Signature(function, parameters, keywords, returns, numbers)


def _found(module: ModuleType, name: str) -> tuple[type | None, Any, bool]:
    """Return the class of a method, the function without its wrappers, and whether it takes an object first."""
    owner: Any = None
    value: Any = module
    for part in name.split("."):
        owner = value
        try:
            value = inspect.getattr_static(value, part) if isinstance(value, type) else getattr(value, part)
        except AttributeError:
            raise NotFoundError("it is not in its module when that is imported") from None
    is_method = isinstance(owner, type) and not isinstance(value, staticmethod)
    if isinstance(value, classmethod) or name.endswith(".__init__"):
        raise NotFoundError("it is a class method or a constructor")
    value = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "method", None) or value
    function = inspect.unwrap(value)
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        raise NotFoundError(f"it is a {type(function).__name__} when its module is imported")
    if function.__name__ != name.rpartition(".")[2] or function.__module__ != module.__name__:
        raise NotFoundError("it is another function when its module is imported")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise NotFoundError("it is a generator or a coroutine")
    return (owner if isinstance(owner, type) else None), function, is_method


def _own(owner: type, function: Callable[..., Any], space: Mapping[str, Any]) -> tuple[Spec, Mapping[str, int] | None]:
    """Return the fields of a method's object; or an object that was constructed, with the integers for that."""
    if getattr(owner, "__abstractmethods__", None):
        return UnknownSpec(f"an object of {owner.__name__}"), None
    if hasattr(owner, "__dataclass_fields__"):
        return object_spec(owner, lambda a: _field(a, space)), None
    if any(base.__module__.startswith("torch.nn.") for base in owner.__mro__):
        found = instance_of(owner, space)
        if found is not None:
            return ValueSpec((found[0],), is_sample=True), found[1]
    if is_plain(owner):
        missing = missing_attribute(owner, function)
        if missing:
            return UnknownSpec(f"an object of {owner.__name__}, as {missing} is set elsewhere"), None
        return ValueSpec((owner(),)), None
    return UnknownSpec(f"an object of {owner.__name__}"), None


def _field(annotation: Any, space: Mapping[str, Any]) -> Spec:
    try:
        return read(annotation, space)
    except Exception:
        return UnknownSpec(str(annotation))


def _parameter(said: inspect.Parameter, space: Mapping[str, Any]) -> Spec:
    """Return what a parameter takes; its default, if its annotation says nothing about arrays."""
    spec = UnknownSpec("without an annotation") if said.annotation is said.empty else read(said.annotation, space)
    if said.default is said.empty or arrays_in(spec) or isinstance(spec, ObjectSpec):
        return spec
    if isinstance(spec, ValueSpec) and not spec.is_sample and said.default in spec.values:
        return ValueSpec((said.default, *(v for v in spec.values if v is not said.default)))
    return ValueSpec((said.default,), is_sample=True)
