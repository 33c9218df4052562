"""Shape annotations: the axes in jaxtyping's notation, and Python's annotation objects as statements about values."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from symbcast.core.hooks import hooks
from symbcast.core.shapes import Shape, known_rank
from symbcast.core.text import parse_shape
from symbcast.errors import SymbcastError
from symbcast.linting import recording
from symbcast.linting.descriptions import Library

# The axes of a shape annotation, in jaxtyping's notation.


AxisKind: TypeAlias = Literal["name", "fixed", "any", "term"]


@dataclasses.dataclass(frozen=True)
class AnnotatedAxis:
    """One item of a shape annotation.

    Attributes:
        kind: ``"name"``; ``"fixed"`` for a number; ``"any"`` for ``_`` and ``...``; ``"term"`` for an expression.
        text: The name, the number or the expression.
        is_many: Whether it stands for any number of axes: ``*batch``, ``...``.
        can_stretch: Whether an axis of size 1 is accepted too: ``#batch``.
        is_of_leaf: Whether each leaf of a tree has a size of its own: ``?n``.
    """

    kind: AxisKind
    text: str = ""
    is_many: bool = False
    can_stretch: bool = False
    is_of_leaf: bool = False

    def __str__(self) -> str:
        if self.kind == "any":
            return "..." if self.is_many else "_"
        return f"{'#' * self.can_stretch}{'*' * self.is_many}{'?' * self.is_of_leaf}{self.text}"


def read_axes(text: str) -> tuple[AnnotatedAxis, ...]:
    """Return the axes of a jaxtyping annotation.

    >>> [str(a) for a in read_axes("*batch rows=3 #n 2*n+1 _")]
    ['*batch', '3', '#n', '2*n+1', '_']
    """
    return tuple(map(_axis, text.split()))


def _axis(text: str) -> AnnotatedAxis:
    if text == "...":
        return AnnotatedAxis("any", is_many=True)
    flags = set()
    # `rows=3` is 3 with a word that documents it; `n==m` has two signs and is an expression.
    while text and (text[0] in "#*_?" or text.count("=") == 1):
        if text[0] in "#*_?":
            flags.add(text[0])
            text = text[1:]
        else:
            text = text.split("=")[1]
    many, stretched, of_leaf = "*" in flags, "#" in flags, "?" in flags
    if "_" in flags:
        return AnnotatedAxis("any", is_many=many)
    if not text or text.isidentifier():
        return AnnotatedAxis("name", text, many, stretched, of_leaf)
    try:
        return AnnotatedAxis("fixed", str(int(text)), can_stretch=stretched)
    except ValueError:
        return AnnotatedAxis("term", text, can_stretch=stretched)


def split_expression(text: str) -> str:
    """Return the expression that spaces divide into several axes, such as ``2*n + 1``; empty if there is none.

    An axis that is not an expression by itself belongs to the axes around it, if they are one expression together.
    """
    parts = text.split()
    for first in range(len(parts)):
        for last in range(len(parts), first + 1, -1):
            whole = " ".join(parts[first:last])
            inner = [p.lstrip("#?").removeprefix("*") for p in parts[first:last]]  # ``*batch`` is an axis by itself
            is_divided = any(p[:1] in "+-/%" or not _is_expression(p) for p in inner)
            if is_divided and _is_expression(whole) and not parts[first].startswith("*"):
                return whole
    return ""


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.lstrip("#?"), mode="eval")
    except SyntaxError:
        return False
    return True


_KEPT: dict[str, str] = {}


def name_for(text: str) -> str:
    """Return a name that stands for an axis name in shapes as text; names that have a meaning there get a suffix.

    >>> name_for("batch"), name_for("lambda")
    ('batch', 'lambda')
    """
    if text not in _KEPT:
        try:
            read = parse_shape(f"{text}, 1")
            is_kept = len(read) == 2 and str(read[0]) == text and bool(parse_shape(f"2*{text}, 1"))
        except SymbcastError:
            is_kept = False
        _KEPT[text] = text if is_kept else f"{text}_"
    return _KEPT[text]


# What annotations say about values: arrays with axes, sizes, values, and structures of these.


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """An array: its axes, the library whose array it is (empty for any), and a dtype that is accepted.

    ``text`` is the shape as written, for expressions that its spaces divide. ``is_shaped`` is False if the annotation
    says nothing about the shape.
    """

    axes: tuple[AnnotatedAxis, ...]
    library: Library = ""
    dtype: str = "float"
    text: str = ""

    @property
    def is_shaped(self) -> bool:
        """Whether the annotation says anything about the shape."""
        is_said = any(a.kind != "any" or not a.is_many for a in self.axes) or not self.axes
        return is_said and self.dtype != "key"


@dataclasses.dataclass(frozen=True)
class SizeSpec:
    """An integer, which may be a size."""


@dataclasses.dataclass(frozen=True)
class ValueSpec:
    """A value of a few kinds; ``is_sample`` says that others are accepted too.

    ``numbers`` are the integers that an object was constructed with; None if nothing was constructed.
    """

    values: tuple[Any, ...]
    is_sample: bool = False
    numbers: Mapping[str, int] | None = dataclasses.field(default=None, hash=False)


@dataclasses.dataclass(frozen=True)
class UnionSpec:
    """A value of one of several kinds."""

    parts: tuple[Spec, ...]


@dataclasses.dataclass(frozen=True)
class TupleSpec:
    """A tuple with these parts; if ``rest`` is given, any number of them, as a tuple or a list."""

    parts: tuple[Spec, ...]
    rest: Spec | None = None
    is_list: bool = False


@dataclasses.dataclass(frozen=True)
class TreeSpec:
    """A tree of any structure, whose leaves are all of one kind."""

    leaf: Spec


@dataclasses.dataclass(frozen=True, eq=False)
class ObjectSpec:
    """An object, the values that it is made from, and how.

    The values are its fields, or the arguments of its constructor that have no default. ``numbers`` are the integers
    that its constructor gets besides; None if it is made without its constructor.
    """

    name: str
    fields: Mapping[str, Spec]
    make: Callable[[Mapping[str, Any]], Any]
    numbers: Mapping[str, int] | None = None


@dataclasses.dataclass(frozen=True)
class UnknownSpec:
    """A value about which the annotation says nothing that a trace can use."""

    text: str


Spec: TypeAlias = "ArraySpec | SizeSpec | ValueSpec | UnionSpec | TupleSpec | TreeSpec | ObjectSpec | UnknownSpec"


def arrays_in(spec: Spec, depth: int = 6) -> list[ArraySpec]:
    """Return the arrays that an annotation mentions."""
    if isinstance(spec, ArraySpec):
        return [spec]
    if isinstance(spec, TreeSpec):
        return arrays_in(spec.leaf, depth)
    inner = () if isinstance(spec, ObjectSpec) and not depth else _parts(spec)
    return [a for s in inner for a in arrays_in(s, depth - 1)]


def _parts(spec: Spec) -> tuple[Spec, ...]:
    """Return what an annotation consists of: alternatives, items, leaves, or what an object is made from."""
    match spec:
        case UnionSpec(parts):
            return parts
        case TupleSpec(parts, rest):
            return parts if rest is None else (*parts, rest)
        case TreeSpec(leaf):
            return (leaf,)
        case ObjectSpec(fields=fields):
            return tuple(fields.values())
    return ()


def spec_text(spec: Spec) -> str:
    """Return what an annotation says as text."""
    match spec:
        case ArraySpec(axes):
            return f'"{" ".join(map(str, axes))}"'
        case UnionSpec(parts):
            return " or ".join(map(spec_text, parts))
        case TupleSpec(rest=rest):
            return f"[{', '.join(map(spec_text, _parts(spec)))}{', ...' * (rest is not None)}]"
        case ValueSpec(values):
            return " or ".join(map(repr, values))
        case SizeSpec():
            return "an integer"
        case ObjectSpec(name):
            return f"an object of {name}"
    return "its annotation"


# Annotations of arrays: jaxtyping's, NumPy's shaped ``ndarray``, and shapes of symbcast.


# The dtypes to choose from, the preferred ones first.
_DTYPES = ("float64", "float32", "int64", "int32", "bool", "complex128", "complex64")


def array_spec(annotation: Any) -> ArraySpec | None:
    """Return what one of jaxtyping's annotations says, such as ``Float[Array, "n 3"]``; None for others.

    They are recognised by their attributes, so that jaxtyping itself is not needed.
    """
    text = getattr(annotation, "dim_str", None)
    if not isinstance(annotation, type) or not isinstance(text, str):
        return None
    library, dtype, axes = library_of(getattr(annotation, "array_type", None)), _dtype(annotation), read_axes(text)
    is_of_any_rank = [str(a) for a in axes] == ["..."]
    # One random key is meant where annotations leave its shape open.
    return ArraySpec(() if dtype == "key" and is_of_any_rank else axes, library, dtype, text)


def _dtype(annotation: Any) -> str:
    accepted = getattr(annotation, "dtypes", ())
    try:
        accepted = tuple(accepted)
    except TypeError:
        return "float"
    if "prng_key" in accepted or "prng_key" in str(accepted):
        return "key"
    if "float32" in accepted or "float64" in accepted:
        return "float"
    return next((d for d in _DTYPES if d in accepted), next((d for d in accepted if isinstance(d, str)), "float"))


def library_of(kind: Any) -> Library:
    """Return the library of an array type; empty for a type that any library may have."""
    package = str(getattr(kind, "__module__", "")).partition(".")[0]
    if package in ("jax", "jaxlib"):
        return "jax"
    if package == "torch":
        return "torch"
    return "numpy" if package == "numpy" else ""


def ndarray_spec(annotation: Any) -> ArraySpec | None:
    """Return what ``numpy.ndarray[tuple[int, Literal[3]], dtype]`` says; None for arrays without a shape, and others.

    Type variables and new types of ``int`` are names of sizes.
    """
    origin = get_origin(annotation)
    if not isinstance(origin, type) or (origin.__module__, origin.__name__) != ("numpy", "ndarray"):
        return None
    shape, *rest = get_args(annotation)
    dtype = _dtype_of(rest[0]) if rest else "float"
    sizes = get_args(shape)
    # `tuple[int, ...]` leaves the rank open: it says nothing about the shape.
    if get_origin(shape) is not tuple or (len(sizes) == 2 and sizes[1] is Ellipsis):
        return None
    # `tuple[()]` has the argument () up to Python 3.10, and none from 3.11 on.
    axes = () if sizes == ((),) else tuple(map(_size, sizes))
    return ArraySpec(axes, "numpy", dtype, " ".join(map(str, axes)))


def _size(value: Any) -> AnnotatedAxis:
    if get_origin(value) is typing.Literal:
        (size,) = get_args(value)
        return AnnotatedAxis("fixed", str(size))
    if isinstance(value, (typing.TypeVar, typing.NewType)):
        return AnnotatedAxis("name", str(value.__name__))
    return AnnotatedAxis("any")


def _dtype_of(value: Any) -> str:
    import numpy as np

    (kind,) = get_args(value) or (value,)
    if isinstance(kind, type) and issubclass(kind, np.generic):
        if issubclass(kind, np.floating):
            return "float"
        for name in _DTYPES:
            if issubclass(np.dtype(name).type, kind):
                return name
    return "float"


def shape_spec(shape: Shape, base: Any) -> ArraySpec:
    """Return the axes of a `symbcast.Shape`, for arrays of a type."""
    read = known_rank(shape, "an annotation", "write one for each rank")
    kind = get_origin(base) or base
    if isinstance(kind, types.UnionType):
        kind = None
    axes = tuple(_axis_of(str(d)) for d in read.dims)
    return ArraySpec(axes, library_of(kind), text=" ".join(map(str, axes)))


def _axis_of(text: str) -> AnnotatedAxis:
    if text.isdecimal():
        return AnnotatedAxis("fixed", text)
    return AnnotatedAxis("name" if text.isidentifier() else "term", text.replace(" ", ""))


# Python's annotation objects, read as what they say about values.


# How deep annotations of fields are followed: classes may contain themselves.
_DEPTH = 8
_SAMPLES: dict[Any, ValueSpec] = {
    bool: ValueSpec((False, True)),
    float: ValueSpec((0.5,), is_sample=True),
    complex: ValueSpec((0.5j,), is_sample=True),
    str: ValueSpec(("name",), is_sample=True),
}
KEY = ArraySpec((), "jax", "key")
# Names of jaxtyping without a shape: a number of that kind is one of the values that they allow.
_SHAPELESS: dict[str, Spec] = {"Key": KEY, "Float": _SAMPLES[float], "Int": SizeSpec()}


def named_key(name: str, spec: Spec) -> Spec:
    """Return a random key for a parameter that is called so and may be any array of JAX; else what it was read as."""
    is_open = isinstance(spec, UnknownSpec) and "jax" in spec.text and spec.text.endswith("Array")
    return KEY if is_open and name.rpartition("_")[2] in ("key", "rng") else spec


def read(
    annotation: Any, space: Mapping[str, Any] | None = None, depth: int = _DEPTH, *, is_returned: bool = False
) -> Spec:
    """Return what an annotation says; ``space`` has the names that text in it may use.

    Of what a function returns only the fields are known: any class below the annotated one may be returned.
    Raises what jaxtyping raises about the text of an annotation.
    """

    def inner(value: Any) -> Spec:
        return read(value, space, depth - 1, is_returned=is_returned)

    annotation = _evaluated(annotation, space)
    if depth < 0:
        return UnknownSpec(_text(annotation))
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(annotation, inner)
    if annotation is None or annotation is type(None):
        return ValueSpec((None,))
    if origin in (typing.Union, types.UnionType):
        return _union([inner(a) for a in args])
    if origin is typing.Literal:
        return ValueSpec(args)
    if origin in (typing.Final, typing.ClassVar, dataclasses.InitVar, typing.Required, typing.NotRequired):
        return inner(args[0])
    # An alias with parameters, made by the `type` statement of Python 3.12.
    if origin is not None and not isinstance(annotation, type) and hasattr(origin, "__value__"):
        return inner(origin.__value__)
    if _package(annotation) == "jaxtyping" and annotation.__name__ in _SHAPELESS:
        return _SHAPELESS[annotation.__name__]
    spec = array_spec(annotation) or ndarray_spec(annotation)
    if spec is not None:
        return spec
    if _is_tree(annotation):
        leaf = getattr(annotation, "leaftype", None)
        return UnknownSpec("PyTree") if leaf is None else TreeSpec(inner(leaf))
    if origin in (tuple, list, Sequence):
        return _sequence(origin, args, inner)
    if annotation in _SAMPLES:
        return _SAMPLES[annotation]
    return _named(annotation, inner, "" if is_returned else _top(str((space or {}).get("__name__", ""))))


def _evaluated(annotation: Any, space: Mapping[str, Any] | None) -> Any:
    """Return an annotation with its text evaluated, and with aliases and type variables replaced by their meaning."""
    for _ in range(_DEPTH):
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            annotation = _value_of(annotation, space)
        elif isinstance(annotation, typing.TypeVar):
            bound, constraints = annotation.__bound__, annotation.__constraints__
            annotation = bound if bound is not None else typing.Union[constraints] if constraints else Any  # noqa: UP007
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif hasattr(annotation, "__value__") and not isinstance(annotation, (type, enum.Enum)):
            annotation = annotation.__value__
        elif isinstance(annotation, dataclasses.InitVar):
            annotation = annotation.type
        else:
            break
    return annotation


@dataclasses.dataclass(frozen=True)
class _Unread:
    """The text of an annotation that cannot be evaluated: it may be for type checkers only."""

    text: str

    def __str__(self) -> str:
        return self.text


def _value_of(text: str, space: Mapping[str, Any] | None) -> Any:
    try:
        return eval(text, dict(space or {}))
    except Exception as error:
        if _is_of_jaxtyping(error):
            raise
        return _Unread(text)


def _is_of_jaxtyping(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("jaxtyping")


def _annotated(annotation: Any, inner: Callable[[Any], Spec]) -> Spec:
    """Read ``Annotated``: a `symbcast.Shape` or an annotation of an array may be among the notes."""
    base = get_args(annotation)[0]
    for note in annotation.__metadata__:
        if isinstance(note, Shape):
            return shape_spec(note, base)
        spec = array_spec(note)
        if spec is not None:
            return spec
    return inner(base)


def _union(parts: Sequence[Spec]) -> Spec:
    """Return the union of some parts; arrays that differ only by their library are one."""
    distinct: list[Spec] = []
    for part in parts:
        more = part.parts if isinstance(part, UnionSpec) else (part,)
        for one in more:
            axes = one.axes if isinstance(one, ArraySpec) else None
            alike = [s for s in distinct if isinstance(s, ArraySpec) and s.axes == axes]
            if alike:
                distinct[distinct.index(alike[0])] = dataclasses.replace(alike[0], library="")
            elif one not in distinct:
                distinct.append(one)
    arrays = [f for f in distinct if isinstance(f, ArraySpec)]
    if any(a.dtype == "key" for a in arrays):  # which raw keys fit depends on JAX's default generator
        raw = [a for a in arrays if a.dtype == "uint32"]
        distinct = [f for f in distinct if f not in raw] + [UnknownSpec("raw key")] * bool(raw)
    scalars = (SizeSpec(), *map(_SAMPLES.get, (bool, float, complex)), *map(UnknownSpec, ("bool", "number", "generic")))
    if any(not a.axes for a in arrays) or any(a.axes[0].is_many for a in arrays if a.axes):
        distinct = [f for f in distinct if f not in scalars]  # a number is an array without axes
    return distinct[0] if len(distinct) == 1 else UnionSpec(tuple(distinct))


def _sequence(origin: Any, args: tuple[Any, ...], inner: Callable[[Any], Spec]) -> Spec:
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        return TupleSpec(() if args == ((),) else tuple(map(inner, args)))
    return TupleSpec((), inner(args[0]), is_list=origin is list) if args else UnknownSpec(origin.__name__)


def _is_tree(annotation: Any) -> bool:
    return isinstance(annotation, type) and annotation.__name__.startswith("PyTree") and _package(annotation) in _TREES


_TREES = ("jaxtyping", "builtins")


def _package(value: Any) -> str:
    return _top(str(getattr(value, "__module__", "")))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _named(annotation: Any, inner: Callable[[Any], Spec], package: str) -> Spec:
    """Read a class: an integer, an enumeration, or an object with annotated fields."""
    if annotation is int:
        return SizeSpec()
    kind = get_origin(annotation) or annotation
    if not isinstance(kind, type):
        return UnknownSpec(_text(annotation))
    if issubclass(kind, enum.Enum) and len(kind):
        return ValueSpec(tuple(kind), is_sample=False)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = _hints(kind)
        fields = {n: inner(hints.get(n, Any)) for n in kind._fields}
        return ObjectSpec(kind.__name__, fields, lambda values: kind(**values))
    return class_spec(kind, inner, package) or UnknownSpec(_text(annotation))


class NotMadeError(Exception):
    """A constructor refused its arguments: no such object exists."""


def class_spec(kind: type, inner: Callable[[Any], Spec], package: str) -> ObjectSpec | ValueSpec | None:
    """Return how an object of a class is made: from its fields, by its constructor, or as one of a class below it.

    An example of the user comes first, and a call that was recorded last, unless those are tried first because nothing
    else led to an answer. Only classes of a package are constructed. None if no object can be made.
    """
    if not package:
        return object_spec(kind, inner) if dataclasses.is_dataclass(kind) else None
    spec = supplied_spec(kind, inner) or _class_spec(kind, inner, package)
    return spec if spec is not None and _is_known(spec) else recorded_spec(kind) or spec


def _class_spec(kind: type, inner: Callable[[Any], Spec], package: str) -> ObjectSpec | ValueSpec | None:
    if is_abstract(kind):
        kinds: list[type] = sorted(type.__subclasses__(kind), key=_order)
        below = (class_spec(k, inner, package) for k in kinds if _package(k) == package)
        return next((spec for spec in below if spec is not None), None)
    if dataclasses.is_dataclass(kind) and _sets_fields_only(kind):
        return object_spec(kind, inner)
    return _constructed(kind, kind.__init__, inner) if _package(kind) == package else None  # type: ignore[misc]


def _order(kind: type) -> tuple[bool, int]:
    """Return what puts private classes last, and classes that are made of others after those that need nothing."""
    needed = needed_fields(kind, lambda _: SizeSpec())
    return kind.__name__.startswith("_"), len(needed or ())


@dataclasses.dataclass(frozen=True)
class _Repeated:
    """Makes an object by a recorded call, each time a new one."""

    call: Any

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return recording.value_of(self.call)


def supplied_spec(kind: type, inner: Callable[[Any], Spec]) -> ObjectSpec | ValueSpec | None:
    """Return how the user's example makes an object of a class; None if there is no example."""
    for function in hooks.examples:
        made = _hints_of(function).get("return")
        if isinstance(made, type) and issubclass(made, kind):
            return _constructed(function, function, inner)
    return recorded_spec(kind) if recording.KNOWN.comes_first else None


def recorded_spec(kind: type) -> ObjectSpec | ValueSpec | None:
    """Return an object as the user's tests made one of its class, or of a class below it; None if none can be made."""
    for call in recording.KNOWN.of(kind):
        try:
            value = recording.value_of(call)
        except Exception:  # what made it may have changed since
            continue
        if not isinstance(value, kind):
            continue
        if any(base.__module__.startswith("torch.nn.") for base in type(value).__mro__):
            return ValueSpec((value,), is_sample=True, numbers=recording.numbers_in(kind, call))
        return ObjectSpec(kind.__name__, {}, _Repeated(call), recording.numbers_in(kind, call))
    return None


def is_abstract(kind: type) -> bool:
    """Return whether a class has methods that classes below it have to write, even if its metaclass does not ask."""
    static = (inspect.getattr_static(kind, name, None) for name in dir(kind))
    return getattr(kind, "_is_protocol", False) or any(getattr(v, "__isabstractmethod__", False) for v in static)


def _sets_fields_only(kind: type) -> bool:
    """Return whether the constructor of a dataclass is the generated one, and no code of the class runs after it."""
    code = getattr(inspect.unwrap(kind.__init__), "__code__", None)  # type: ignore[misc]
    checks = [getattr(kind, n, None) for n in ("__post_init__", "__check_init__")]
    return getattr(code, "co_filename", "") == "<string>" and not any(checks)


def _constructed(call: Any, function: Any, inner: Callable[[Any], Spec]) -> ObjectSpec | None:
    """Return how a class or a function makes an object, from arguments for its parameters without a default."""
    hints = {**_hints_of(function), **_converted(call)}
    # One alternative each: an object without a part is allowed, and nobody means it.
    fields = needed_fields(call, lambda p: _argument(p.name, hints, inner))
    if fields is None or not all(map(_is_known, fields.values())):
        return None

    def make(values: Mapping[str, Any]) -> Any:
        try:
            return call(**values)
        except Exception as error:
            raise NotMadeError(f"{call.__name__} raises {type(error).__name__}: {error}") from error

    return ObjectSpec(call.__name__, fields, make, numbers={})


def _converted(kind: Any) -> dict[str, Any]:
    """Return the annotations of the fields with a converter, as in Equinox: it accepts more than the field may hold."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    names = [field.name for field in fields if "converter" in field.metadata]
    hints = _hints(kind) if names and isinstance(kind, type) else {}
    return {name: hints[name] for name in names if name in hints}


def _argument(name: str, hints: Mapping[str, Any], inner: Callable[[Any], Spec]) -> Spec | None:
    return named_key(name, _first_known(inner(hints[name]))) if name in hints else None


def needed_fields(call: Any, read: Callable[[inspect.Parameter], Spec | None]) -> dict[str, Spec] | None:
    """Return what the parameters of a class or a function need that have no default; None if one cannot be read."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    fields = {p.name: read(p) for p in needed if p.kind is not p.POSITIONAL_ONLY}
    known = {name: spec for name, spec in fields.items() if spec is not None}
    return known if len(known) == len(needed) else None


def constructed_in(spec: Spec) -> bool:
    """Return whether a constructor makes an object of a value: its numbers are its own, and no promise."""
    is_one = isinstance(spec, (ObjectSpec, ValueSpec)) and spec.numbers is not None
    return is_one or any(map(constructed_in, _parts(spec)))


def _first_known(spec: Spec) -> Spec:
    parts = spec.parts if isinstance(spec, UnionSpec) else ()
    return next((p for p in parts if _is_known(p) and p != ValueSpec((None,))), spec)


def _is_known(spec: Spec) -> bool:
    """Return whether a value can be made that an annotation allows: of a union, by one alternative."""
    parts = map(_is_known, _parts(spec))
    return any(parts) if isinstance(spec, UnionSpec) else not isinstance(spec, UnknownSpec) and all(parts)


def object_spec(kind: type, inner: Callable[[Any], Spec]) -> ObjectSpec:
    """Return the fields of a dataclass; its object is made without running ``__init__``, as its fields say all."""
    hints, fields = _hints(kind), {}
    for field in dataclasses.fields(kind):
        spec = inner(hints.get(field.name, Any))
        if not isinstance(spec, (ArraySpec, TreeSpec, TupleSpec, ObjectSpec, UnionSpec)):
            spec = _default(field) or spec
        fields[field.name] = spec

    def make(values: Mapping[str, Any]) -> Any:
        instance: Any = object.__new__(kind)
        for name, value in values.items():
            object.__setattr__(instance, name, value)
        return instance

    return ObjectSpec(kind.__name__, fields, make)


def _default(field: dataclasses.Field[Any]) -> Spec | None:
    if field.default is not dataclasses.MISSING:
        return ValueSpec((field.default,), is_sample=True)
    if field.default_factory is not dataclasses.MISSING:
        return ValueSpec((field.default_factory(),), is_sample=True)
    return None


def _hints_of(function: Any) -> dict[str, Any]:
    """Return the annotations of a function, evaluated one by one."""
    code = inspect.unwrap(function)
    space = getattr(code, "__globals__", {})
    hints: dict[str, Any] = {}
    for name, value in getattr(code, "__annotations__", {}).items():
        try:
            hints[name] = _evaluated(value, space)
        except Exception:
            hints[name] = Any
    return hints


def _hints(kind: type) -> dict[str, Any]:
    """Return the annotations of a class and its bases, evaluated one by one: one may name what is not there."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        space = {**vars(sys.modules.get(base.__module__, types)), **vars(base)}
        for name, value in vars(base).get("__annotations__", {}).items():
            try:
                hints[name] = _evaluated(value, space)
            except Exception:
                hints[name] = Any
    return hints


def _text(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
