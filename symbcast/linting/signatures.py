"""The annotations of an imported function or method, and the objects of classes that a method needs."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

from symbcast.linting import specs
from symbcast.linting.descriptions import Description, Library
from symbcast.linting.sources import SourceFunction

# Objects of classes: of modules of PyTorch, made with small numbers, and of classes without a constructor.


# Names of parameters that count parts: sizes are divided by them, or parts are built in a loop.
_FEW = re.compile(r"head|group|layer|num|depth|^n_")
_WIDTHS = (8, 12, 16, 20, 24, 28)


def _small(name: str, count: int) -> int:
    """Return a small number for a parameter of a constructor, of which ``count`` others have one."""
    return 2 if _FEW.search(name) else _WIDTHS[count % len(_WIDTHS)]


def instance_of(kind: type, space: Mapping[str, Any]) -> tuple[Any, dict[str, int]] | None:
    """Return an object of a class, and the integers that it was made with; None if it cannot be made."""
    numbers: dict[str, int] = {}

    def value(parameter: inspect.Parameter) -> specs.Spec | None:
        is_said = parameter.annotation is not parameter.empty
        spec = specs.read(parameter.annotation, space) if is_said else specs.SizeSpec()
        if isinstance(spec, specs.SizeSpec):
            numbers[parameter.name] = _small(parameter.name, len(numbers))
            return specs.ValueSpec((numbers[parameter.name],))
        return spec if isinstance(spec, specs.ValueSpec) else None

    try:
        fields = specs.needed_fields(kind, value)
        if fields is None:
            return None
        values = {name: spec.values[0] for name, spec in fields.items() if isinstance(spec, specs.ValueSpec)}
        return kind(**values), numbers
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
            attribute = inspect.getattr_static(kind, name, _MISSING)
            if attribute is _MISSING:
                return name
            left += [
                f for f in (getattr(attribute, "__func__", attribute), getattr(attribute, "fget", None)) if callable(f)
            ]
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


# The annotations of an imported function: what its parameters and its result are.


class NotFoundError(Exception):
    """A function cannot be found in its module, or its parameters cannot be read; the text says why."""


@dataclass(frozen=True)
class FunctionSignature:
    """A function without its wrappers, and what its annotations say.

    ``keywords`` are the parameters that must be given by name, and ``spread`` is the one that takes any number of
    arguments; ``returns`` is None without an annotation. ``numbers`` are the integers that a method's object was
    constructed with; None if nothing was constructed. ``is_described`` says that comments or the docstring were read
    too.
    """

    function: Callable[..., Any]
    parameters: Mapping[str, specs.Spec]
    keywords: frozenset[str]
    returns: specs.Spec | None
    numbers: Mapping[str, int] | None = None
    is_described: bool = False
    spread: str = ""

    @property
    def arrays(self) -> list[specs.ArraySpec]:
        """The arrays in the annotations of parameters and result."""
        arrays = [a for s in self.parameters.values() for a in specs.arrays_in(s)]
        return arrays + ([] if self.returns is None else specs.arrays_in(self.returns))

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
        if "torch" in modules and "numpy" not in modules:
            return "torch"
        return "jax" if modules & {"jax", "jax.numpy"} else "numpy"


def with_numbers(signature: FunctionSignature) -> FunctionSignature | None:
    """Return a signature whose objects are constructed with small numbers; None if none is made from sizes."""
    numbers: dict[str, int] = {}

    def fixed(spec: specs.Spec, name: str) -> specs.Spec:
        match spec:
            case specs.SizeSpec():
                number = numbers.setdefault(name, _small(name, len(numbers)))
                return specs.ValueSpec((number,), is_sample=True)
            case specs.TupleSpec(parts, rest):
                first = tuple(fixed(p, name) for p in parts)
                return replace(spec, parts=first, rest=rest and fixed(rest, name))
            case specs.ObjectSpec(fields=fields) if spec.numbers is not None:
                return replace(spec, fields={n: fixed(s, n) for n, s in fields.items()})
        return spec

    objects = {n: fixed(s, n) for n, s in signature.parameters.items() if isinstance(s, specs.ObjectSpec)}
    return replace(signature, parameters={**signature.parameters, **objects}, numbers=numbers) if numbers else None


def signature_of(module: ModuleType, source: SourceFunction) -> FunctionSignature:
    """Return the signature of a function of a module, with what is described about its shapes.

    Raises `NotFoundError`, and whatever evaluating the text of an annotation raises.
    """
    owner, function, is_method = _resolved_function(module, source.name)
    space = {**function.__globals__, **(vars(owner) if owner is not None else {})}
    taken = inspect.signature(function, follow_wrapped=False)
    parameters: dict[str, specs.Spec] = {}
    numbers: Mapping[str, int] | None = None
    spread = ""
    for number, (parameter, said) in enumerate(taken.parameters.items()):
        if said.kind == said.VAR_KEYWORD:
            continue
        if said.kind == said.VAR_POSITIONAL:
            items = specs.TupleSpec((), _annotated(said.annotation, space))
            parameters[parameter] = items if specs.arrays_in(items) else specs.ValueSpec(((),), is_sample=True)
            spread = parameter
        elif number == 0 and is_method and owner is not None:
            own = parameters[parameter] = _own(owner, function, space)
            numbers = own.numbers if isinstance(own, (specs.ObjectSpec, specs.ValueSpec)) else None
        else:
            spec = specs.named_key(parameter, _annotated(said.annotation, space))
            parameters[parameter] = _parameter(said, _described(spec, source.described.get(parameter), said.default))
    if numbers is None and any(map(specs.constructed_in, parameters.values())):
        numbers = {}
    keywords = frozenset(n for n, p in taken.parameters.items() if p.kind is p.KEYWORD_ONLY)
    returns = _annotated(taken.return_annotation, space, is_returned=True)
    returns = _described(returns, source.described.get("return"))
    promised = None if returns == _NOTHING else returns
    return FunctionSignature(function, parameters, keywords, promised, numbers, bool(source.described), spread)


def _resolved_function(module: ModuleType, name: str) -> tuple[type | None, Any, bool]:
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
    if getattr(function, "__isabstractmethod__", False):
        raise NotFoundError("it is abstract")
    if function.__name__ != name.rpartition(".")[2] or function.__module__ != module.__name__:
        raise NotFoundError("it is another function when its module is imported")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise NotFoundError("it is a generator or a coroutine")
    return (owner if isinstance(owner, type) else None), function, is_method


def _own(owner: type, function: Callable[..., Any], space: Mapping[str, Any]) -> specs.Spec:
    """Return the fields of a method's object, or an object that was constructed."""

    def inner(annotation: Any) -> specs.Spec:
        return _field(annotation, space)

    supplied = specs.supplied_spec(owner, inner)
    if supplied is not None:
        return supplied
    if any(base.__module__.startswith("torch.nn.") for base in owner.__mro__):
        instance = instance_of(owner, space)
        if instance is not None:
            return specs.ValueSpec((instance[0],), is_sample=True, numbers=instance[1])
    if is_plain(owner) and not specs.is_abstract(owner):
        missing = missing_attribute(owner, function)
        if missing:
            return specs.UnknownSpec(f"an object of {owner.__name__}, as {missing} is set elsewhere")
        return specs.ValueSpec((owner(),))
    spec = specs.class_spec(owner, inner, owner.__module__.partition(".")[0])
    return spec or specs.UnknownSpec(f"an object of {owner.__name__}")


def _field(annotation: Any, space: Mapping[str, Any]) -> specs.Spec:
    try:
        return specs.read(annotation, space)
    except Exception:
        return specs.UnknownSpec(str(annotation))


_NOTHING = specs.UnknownSpec("without an annotation")


def _annotated(annotation: Any, space: Mapping[str, Any], *, is_returned: bool = False) -> specs.Spec:
    if annotation is inspect.Parameter.empty:
        return _NOTHING
    return specs.read(annotation, space, is_returned=is_returned)


def _described(
    spec: specs.Spec, told: Sequence[Description] | None, default: Any = inspect.Parameter.empty
) -> specs.Spec:
    """Return what an annotation says; what is described about the value, if the annotation has no shape."""
    if not told or any(a.is_shaped for a in specs.arrays_in(spec)):
        return spec
    parts = [
        specs.read(d.dtype) if d.axes is None else specs.ArraySpec(specs.read_axes(d.axes), d.library, d.dtype, d.axes)
        for d in told
    ]
    one = parts[0] if len(parts) == 1 else specs.TupleSpec(tuple(parts))
    may_be_none = default is None or (isinstance(spec, specs.UnionSpec) and specs.ValueSpec((None,)) in spec.parts)
    return specs.UnionSpec((one, specs.ValueSpec((None,)))) if may_be_none else one


def _parameter(said: inspect.Parameter, spec: specs.Spec) -> specs.Spec:
    """Return what a parameter takes; its default, if its annotation says nothing about arrays."""
    if said.default is said.empty or specs.arrays_in(spec) or isinstance(spec, specs.ObjectSpec):
        return spec
    if isinstance(spec, specs.ValueSpec) and not spec.is_sample and said.default in spec.values:
        return specs.ValueSpec((said.default, *(v for v in spec.values if v is not said.default)))
    return specs.ValueSpec((said.default,), is_sample=True)
