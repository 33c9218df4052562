"""The inputs of a graph: a symbolic size for each open dimension, what the caller knows of them, and short names.

A size keeps the model's name everywhere in an answer as data. People read and write its alias: the role of its axis if
a convolution or a pool takes the input, such as ``H``; else the name as an identifier, if that is short; else the first
letter of the input and the axis, or a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import Formula, at_most, definedness, equal, with_dims
from symbcast.core.algebra.symbols import AxisSequence, SequenceSymbol, Unknown, symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.characters import closest, prose_list
from symbcast.core.programs.arguments import Assumption, read_given_size
from symbcast.core.rules.placement import sequence_place
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape, shape_of
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.text import parse_dim
from symbcast.errors import BindingError, ShapeSyntaxError, ShapeTypeError, SymbcastError
from symbcast.operators.values.contents import INTEGERS, MAX_ELEMENTS, Elements, is_size, range_of
from symbcast.operators.values.value import OpenValue, Value, put_sizes, sizes_in

if TYPE_CHECKING:
    from symbcast.core.programs.program import Program
    from symbcast.graphs.graph import Graph
    from symbcast.operators.operator import Dims


# Read what a caller knows about a model's inputs: sizes by name, shapes, and elements of integer inputs.


ContentsLike: TypeAlias = "int | str | Iterable[Any]"
"""The elements of an input: one, or lists of them nested as deep as the input has axes; or text, ``"4, N//2"``."""


class InputContents(NamedTuple):
    """The elements of an input in row-major order; ``shape`` is None if the model determines it."""

    items: tuple[Dim, ...]
    shape: tuple[int, ...] | None
    text: str


class KnownInputs(NamedTuple):
    """A caller's knowledge, by the names of sizes and inputs."""

    bind: Mapping[str, int]
    shapes: Mapping[str, Shape]
    values: Mapping[str, InputContents]

    def names(self) -> Iterator[str]:
        """Yield the names of all sizes in it."""
        yield from self.bind
        dims = [d for s in self.shapes.values() for d in s.dims]
        dims += [d for contents in self.values.values() for d in contents.items]
        for size in symbols_of(dims):
            yield size.sequence.name if isinstance(size, SequenceSymbol) else size.name

    def of(self, sizes: Collection[str], inputs: Collection[str]) -> KnownInputs:
        """Return the part that is about the sizes and inputs with the given names."""
        return KnownInputs(
            {name: size for name, size in self.bind.items() if name in sizes},
            {name: shape for name, shape in self.shapes.items() if name in inputs},
            {name: contents for name, contents in self.values.items() if name in inputs},
        )

    def texts(self) -> Iterator[str]:
        """Yield the given facts, in the wording of a report."""
        yield from (f"{name} == {size}" for name, size in self.bind.items())
        yield from (f"{name} of shape {dims}" for name, dims in self.shapes.items())
        yield from (f"{name} = {contents.text}" for name, contents in self.values.items())


def read_known_inputs(
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    min_size: int = 0,
    shapes_argument: str = "shapes",
) -> KnownInputs:
    """Read the caller's knowledge; whether a model has these inputs and sizes is not checked here.

    ``shapes_argument`` is the caller's name for ``shapes``.

    Raises `BindingError` for a value that is not a size or a list of sizes, and `ShapeTypeError` for a value that is
    not a mapping or a shape.
    """
    return KnownInputs(
        {name: _bound(name, size, min_size) for name, size in _items("bind", bind, "{'N': 3}")},
        {name: _shape(name, value, min_size) for name, value in _items(shapes_argument, shapes, "{'x': 'N, 3, H, W'}")},
        {name: _contents(name, value) for name, value in _items("values", values, "{'steps': [4, 'N//2']}")},
    )


def _items(argument: str, argument_value: Any, example: str) -> list[tuple[str, Any]]:
    if argument_value is None:
        return []
    if not isinstance(argument_value, Mapping) or not all(isinstance(name, str) for name in argument_value):
        pair = (
            re.fullmatch(r"\s*([^\W\d][\w.]*)\s*={1,2}\s*(.+)", argument_value, re.DOTALL)
            if isinstance(argument_value, str)
            else None
        )
        if pair is not None:
            example = repr({pair[1]: int(pair[2]) if pair[2].strip().isdecimal() else pair[2].strip()})
        raise ShapeTypeError(argument_value, f"a mapping of names for {argument}=", f"write {argument}={example}")
    return list(argument_value.items())


def _bound(name: str, value: object, min_size: int) -> int:
    size = read_given_size(name, value)
    if size < min_size:
        raise BindingError(f"{name}={size}: sizes are at least {min_size}", f"write min_size={size} too")
    return size


def _shape(name: str, value: ShapeLike, min_size: int) -> Shape:
    try:
        read = shape(value)
    except SymbcastError as error:
        raise BindingError(f"the shape given for {name} cannot be read: {_message(error)}") from error
    # A missing axis counts as one of size 1, which a larger least size excludes.
    if is_open(read) and min_size > 1:
        raise BindingError(f"the shape given for {name}, {read}, is of unknown rank", "write min_size=1, or 0")
    return read


def _contents(name: str, value: ContentsLike) -> InputContents:
    try:
        sizes, flat = (None, _parts(value)) if isinstance(value, str) else _flattened(value)
        items = tuple(map(_element, flat))
    except (SymbcastError, TypeError) as error:
        hint = "write integers and expressions in sizes, such as [4, 'N//2']"
        raise BindingError(f"the contents given for {name} cannot be read: {_message(error)}", hint) from error
    return InputContents(items, sizes, str(items[0]) if sizes == () else _listed(items))


def _message(error: Exception) -> str:
    """Return an error on one line: the text around it names the input instead of pointing into the text."""
    return error.message() if isinstance(error, ShapeSyntaxError) else str(error)


def _listed(items: Iterable[Dim]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _flattened(value: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the lengths of nested lists along each axis, and their elements in row-major order."""
    if isinstance(value, (str, bool)) or not isinstance(value, Iterable):
        return (), [value.item() if hasattr(value, "item") else value]
    parts = [_flattened(part) for part in value]
    inner = {sizes for sizes, _ in parts}
    if len(inner) > 1:
        raise BindingError("the lists in it differ in length")
    return (len(parts), *(inner.pop() if inner else ())), [item for _, items in parts for item in items]


def _element(value: Any) -> Dim:
    """Return an element; unlike a size it may be negative."""
    text = value.strip() if isinstance(value, str) else None
    if text is not None and not text.removeprefix("-").isdecimal():
        return parse_dim(text)
    # `index(True)` is 1.
    if isinstance(value, bool):
        raise TypeError(f"{value} is a truth value")
    try:
        return int(text) if text is not None else index(value)
    except TypeError:
        (dim,) = shape([value]).dims
        return dim


def _parts(text: str) -> Sequence[str]:
    """Split a text at its commas, except at those within brackets."""
    inner = text.strip()
    if inner[:1] + inner[-1:] in ("[]", "()"):
        inner = inner[1:-1]
    parts, depth = [""], 0
    for character in inner:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


NOTHING = KnownInputs({}, {}, {})


def unknown(what: str, name: str, known: Sequence[str]) -> BindingError:
    """Return the error that a model has no input or size with this name; ``known`` are the existing names."""
    close = closest(name, known)
    there = (
        f"there {'are' if len(known) > 1 else 'is'} {prose_list(known, limit=20)}" if known else "it has none at all"
    )
    hint = f"did you mean {close!r}?" if close else there
    if close and len(known) > 1 and name.casefold() != close.casefold() and what == "input":
        hint = f"{hint} There are {prose_list(known, limit=20)}"
    return BindingError(f"the model has no {what} named {name!r}", hint)


# Unify the shapes that a caller gives with those that a model declares.


# A prefix for the names of a model, to keep them apart from the caller's during unification.
_OWN = "\0"


class Unifier:
    """Expresses each size that a model declares in terms of the sizes that a caller gives.

    A name of the model without a size from the caller stays, and has the same meaning in the caller's shapes.
    ``assumed`` holds the additional conditions that arise if one size of the model is given several times.
    """

    def __init__(self) -> None:
        self._found: dict[Symbol, Dim] = {}
        self.assumed: list[Formula] = []

    def put_together(self, name: str, declared: Sequence[Dim], shape: Shape) -> None:
        """Unify the shape given for an input with the declared one; raises `BindingError` if it does not fit."""
        if len(shape) != len(declared):
            ranks = f"rank {len(shape)}, but in the model {name} has rank {len(declared)}"
            raise BindingError(f"{name} is given with {ranks}: {shape_of(declared)}")
        for axis, (own, size) in enumerate(zip(declared, shape.dims, strict=True)):
            self._put_together(
                replace_symbols(_marked(own), self._found), replace_symbols(size, self._found), (name, axis)
            )

    def _put_together(self, own: Dim, size: Dim, place: tuple[str, int]) -> None:
        if own == size:
            return
        if isinstance(own, int) and isinstance(size, int):
            name, axis = place
            raise BindingError(
                f"{name} is given with {size} on axis {axis}, but the model fixes that at {own}",
                f"give {own} there, or export the model with a dynamic axis",
            )
        if isinstance(size, Unknown):
            self._assume_bounds(size, own)
            self._replace(size, own)
        elif isinstance(own, Symbol) and own.name.startswith(_OWN):
            self._replace(own, size)
        else:
            self.assumed.append(equal(own, size))

    def _assume_bounds(self, unknown: Unknown, own: Dim) -> None:
        if unknown.lower:
            self.assumed.append(at_most(unknown.lower, own))
        if unknown.upper is not None:
            self.assumed.append(at_most(own, unknown.upper))

    def _replace(self, old: Symbol, new: Dim) -> None:
        self._found = {s: replace_symbols(d, {old: new}) for s, d in self._found.items()}
        self._found[old] = new

    def shape(self, declared: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return declared sizes in terms of the remaining names."""
        return tuple(_unmarked(replace_symbols(_marked(d), self._found)) for d in declared)

    def given(self, dims: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the caller's sizes in terms of the remaining names."""
        return tuple(_unmarked(replace_symbols(d, self._found)) for d in dims)

    def formulas(self) -> list[Formula]:
        """Return the additional conditions in terms of the remaining names."""
        return [with_dims(formula, lambda d: _unmarked(replace_symbols(d, self._found))) for formula in self.assumed]


def _marked(dim: Dim) -> Dim:
    return replace_symbols(dim, {s: symbol(_OWN + s.name) for s in symbols_of((dim,))})


def _unmarked(dim: Dim) -> Dim:
    marked = [s for s in symbols_of((dim,)) if s.name.startswith(_OWN)]
    return replace_symbols(dim, {s: symbol(s.name.removeprefix(_OWN)) for s in marked})


# Apply a caller's knowledge to the inputs that a model declares: their shapes and their elements.


# The maximum length of a vector of integers that is taken to hold sizes.
_SHORT = 8


def with_names_bound(values: dict[str, Value], known_inputs: KnownInputs) -> KnownInputs:
    """Bind a declared size by its name if a given shape has a number for it; return the updated knowledge.

    The name is kept, so a report can say which size to change. A size with several given names or numbers is not bound.
    Raises `BindingError` for a size that is bound to a different number.
    """
    numbers_of_size: dict[Symbol, set[Dim]] = {}
    for name, known_shape in known_inputs.shapes.items():
        if is_open(known_shape):
            continue
        for own, size in zip(values[name].shape or () if name in values else (), known_shape.dims, strict=False):
            if isinstance(own, Symbol) and not isinstance(size, Unknown):
                numbers_of_size.setdefault(own, set()).add(size)
    numbers = {own: next(iter(size)) for own, size in numbers_of_size.items() if len(size) == 1}
    bound = {s: n for s, n in numbers.items() if isinstance(n, int)}
    for s, n in bound.items():
        if known_inputs.bind.get(s.name, n) != n:
            raise BindingError(f"{s.name} is bound to {known_inputs.bind[s.name]}, but a given shape has {n} for it")
    known = {name: shape for name, shape in known_inputs.shapes.items() if name in values}
    shapes = {name: _left_open(shape, values[name].shape, bound) for name, shape in known.items()}
    return known_inputs._replace(
        bind={**known_inputs.bind, **{s.name: n for s, n in bound.items()}}, shapes={**known_inputs.shapes, **shapes}
    )


def _left_open(shape: Shape, declared: Sequence[Dim] | None, bound: Mapping[Symbol, int]) -> Shape:
    """Return a given shape without the numbers of sizes that are bound by name."""
    if declared is None or is_open(shape) or len(declared) != len(shape):
        return shape
    pairs = zip(declared, shape.dims, strict=True)
    return shape_of(Unknown() if own in bound and isinstance(size, int) else size for own, size in pairs)


def put_shapes(values: dict[str, Value], known_inputs: KnownInputs) -> list[Formula]:
    """Replace the declared shapes by the given shapes and by the lengths of given contents.

    Returns the additional conditions that arise if one size of the model has several given values.
    """
    unifier = Unifier()
    for name, caller_shape in known_inputs.shapes.items():
        value = _input(values, name)
        if is_open(caller_shape) and value.shape is None:
            values[name] = OpenValue(caller_shape.dims, value.dtype)
            continue
        shape = _of_rank(name, caller_shape, value.shape or ()) if is_open(caller_shape) else caller_shape
        if value.shape is None:
            value.shape = tuple(symbol(place_name(name, axis)) for axis in range(len(shape)))
        unifier.put_together(name, value.shape, shape)
    for name, contents in known_inputs.values.items():
        value = _integers(values, name)
        sizes = _sizes(name, contents, value)
        value.shape = sizes if value.shape is None else value.shape
        unifier.put_together(name, value.shape, shape_of(sizes))
    for value in values.values():
        if isinstance(value, OpenValue):
            value.ends = unifier.given(value.ends)
        value.shape = None if value.shape is None else unifier.shape(value.shape)
    return unifier.formulas()


def _of_rank(name: str, shape: Shape, declared: Sequence[Dim]) -> Shape:
    """Return a shape of unknown rank with the model's declared rank; each axis of a sequence may have any size."""
    place = sequence_place(shape.dims) or 0
    missing = len(declared) - len(shape.dims) + 1
    if missing < 0 or not str(shape.dims[place]).startswith("..."):
        model_shape = f"of rank {len(declared)}: {shape_of(declared)}"
        raise BindingError(f"{name} is given as {shape}, but in the model it is {model_shape}", "give each size")
    return shape_of((*shape.dims[:place], *(Unknown() for _ in range(missing)), *shape.dims[place + 1 :]))


def put_contents(
    values: dict[str, Value], known_inputs: KnownInputs, env: Program, sizes: Iterable[Symbol]
) -> dict[Symbol, str]:
    """Give short vectors of integers their known elements, or sizes for the unknown ones: shapes may come from them.

    ``sizes`` are the sizes in the shapes of inputs. Returns the sizes that occur in no shape, each with a description.
    """
    labels = _Labels(env, sizes)
    for name, value in values.items():
        contents = known_inputs.values.get(name)
        shape = numbers_of(value.shape)
        if contents is not None:
            items = tuple(labels.told(name, n, d, shape) for n, d in enumerate(contents.items))
            _assume_range(items, value.dtype, env)
            value.content = Elements(items)
        elif value.dtype in INTEGERS and shape in ((), *((n,) for n in range(1, _SHORT + 1))):
            value.content = Elements(tuple(labels.own(name, n, shape) for n in range(prod(shape))))
    return labels.found


class _Labels:
    """Creates new sizes for the elements of inputs; ``found`` describes each."""

    def __init__(self, env: Program, sizes: Iterable[Symbol]) -> None:
        self._env = env
        self._sizes = frozenset(sizes)
        self._taken = {s.name for s in self._sizes}
        self.found: dict[Symbol, str] = {}

    def own(self, name: str, n: int, shape: tuple[int, ...] | None) -> Symbol:
        """Return a size for an element of an input that the caller did not give."""
        label = identifier(name) + (f"_{n}" if shape else "")
        while label in self._taken:
            label += "_value"
        self._taken.add(label)
        of = f"element {n} of the input {name}" if shape else f"the value of the input {name}"
        self.found[symbol(label)] = f"{of}, taken to be 0 or more"
        return symbol(label)

    def told(self, name: str, n: int, item: Dim, shape: tuple[int, ...] | None) -> Dim:
        """Return a given element in terms of the model's sizes."""
        if isinstance(item, Unknown):
            return self.own(name, n, shape)
        names = {s: self._env.named(s.name) for s in symbols_of((item,))}
        for s in names.values():
            if s not in self._sizes:
                self.found.setdefault(s, f"{s.name} in what is given for the input {name}, taken to be 0 or more")
        return replace_symbols(item, names)


def _input(values: dict[str, Value], name: str) -> Value:
    if name not in values:
        raise unknown("input", name, list(values))
    return values[name]


def _integers(values: dict[str, Value], name: str) -> Value:
    value = _input(values, name)
    if value.dtype not in INTEGERS:
        kind = f"of {_type(value.dtype)}" if value.dtype else "no tensor"
        raise BindingError(f"contents were given for {name}, which is {kind}", "give them for inputs of integers")
    return value


def _sizes(name: str, contents: InputContents, value: Value) -> tuple[int, ...]:
    """Return the shape of the contents given for an input; raises `BindingError` if it cannot hold the elements."""
    low, high = range_of(value.dtype)
    for item in contents.items:
        if isinstance(item, int) and not low <= item <= high:
            holds = f"which is of {_type(value.dtype)}, from {low} to {high}"
            raise BindingError(f"{item} was given for {name}, {holds}", "give integers that it holds")
    count = len(contents.items)
    if count > MAX_ELEMENTS:
        raise BindingError(f"{count} elements were given for {name}", f"up to {MAX_ELEMENTS} are followed")
    if contents.shape is not None:
        return contents.shape
    known = numbers_of(value.shape)
    if known is not None and prod(known) == count:
        return known
    if value.shape is not None and len(value.shape) != 1:
        raise BindingError(
            f"{count} elements were given for {name}, whose shape is {shape_of(value.shape)}",
            "give nested lists, as deep as the input has axes",
        )
    return (count,)


def _assume_range(items: Iterable[Dim], dtype: int, env: Program) -> None:
    """Assume that sizes are within the range of an element type."""
    low, high = range_of(dtype)
    for item in dict.fromkeys(items):
        if not isinstance(item, int) and high < _LARGEST:
            env.assume(Assumption(at_most(item, high)))
        if not isinstance(item, int | Symbol) and not low:
            env.assume(Assumption(at_most(0, item)))


def _type(dtype: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()


# Types that can hold this number are taken to hold all sizes (see `symbcast.operators.values.contents`).
_LARGEST = (1 << 31) - 1


def place_name(name: str, axis: int) -> str:
    """Return the name of the size of an input's axis if the model does not name it."""
    return f"{identifier(name)}_dim_{axis}"


def identifier(name: str) -> str:
    """Turn the name of an input into a valid size name."""
    return re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "input"


# The inputs of a graph: a symbolic size for each open dimension, and the caller's knowledge about them.


class ModelInputs(NamedTuple):
    """The inputs that a caller gives, and the sizes in their shapes in order of appearance."""

    values: dict[str, Value]
    symbols: tuple[Symbol, ...]
    elements: dict[Symbol, str]
    """The sizes for the elements of small integer inputs, each with a description; and ``flags``."""
    flags: tuple[Symbol, ...]
    """Sizes that are 1 if an input is given, and 0 if it is not."""
    named: dict[str, Dims | None]
    """The shapes of the inputs, with names instead of numbers for fixed sizes."""
    fixed: dict[Symbol, int]
    """The sizes that the caller binds."""
    known_inputs: KnownInputs
    """The caller's knowledge, with bindings for the sizes that a given shape fixes."""
    integers: frozenset[Symbol] = frozenset()
    """The sizes that are integer arguments, not sizes of axes: they may be 0."""


def with_known_integers(inputs: ModelInputs, names: Iterable[str], env: Program) -> ModelInputs:
    """Return inputs whose integers of some names are sizes that the caller knows, as the sizes of tensors are."""
    contents = [inputs.values[name].content for name in names]
    integers = symbols_of([d for c in contents if isinstance(c, Elements) for d in c.items if is_size(d)])
    for size in integers:
        env.met(size)
    return inputs._replace(
        symbols=tuple(dict.fromkeys((*inputs.symbols, *integers))),
        elements={s: text for s, text in inputs.elements.items() if s not in integers},
        integers=frozenset(integers).difference(inputs.symbols),
    )


def inputs_of(
    values: dict[str, Value],
    env: Program,
    known_inputs: KnownInputs,
    flags: Mapping[Symbol, str],
    *,
    are_open: bool = False,
) -> ModelInputs:
    """Return the declared inputs, with a symbol for each named size, and with the caller's knowledge applied.

    Raises `BindingError` if the caller's knowledge does not fit these inputs.
    """
    known_inputs = with_names_bound(values, known_inputs) if known_inputs.shapes else known_inputs
    besides = put_shapes(values, known_inputs) if known_inputs != NOTHING else []
    # An input has no axis of size T - 3 where T is less than 3.
    besides += [need for v in values.values() for d in sizes_in(v) for need in definedness(d)]
    if are_open:
        _open(values, {*env.shown.values(), *known_inputs.names()})
    symbols_of_inputs = symbols_of([d for v in values.values() for d in sizes_in(v)])
    names = {s: env.met(s) for s in (*symbols_of_inputs, *(s for formula in besides for s in symbols_in(formula)))}
    env.assume(*map(Assumption, besides))
    renamed = {s: own for s, own in names.items() if own is not s}  # a caller may have symbols of their own
    for value in values.values() if renamed else ():
        put_sizes(value, renamed)
    symbols = tuple(dict.fromkeys(names.values()))
    named = {name: value.shape for name, value in values.items()}
    elements = put_contents(values, known_inputs, env, symbols)
    fixed = _fixed((*symbols, *elements), known_inputs.bind, env)
    for value in values.values() if fixed else ():
        put_sizes(value, fixed)
        if isinstance(value.content, Elements):
            value.content = Elements(tuple(replace_symbols(d, fixed) if is_size(d) else d for d in value.content.items))
    return ModelInputs(values, symbols, {**elements, **flags}, tuple(flags), named, fixed, known_inputs)


def _open(values: dict[str, Value], taken: set[str]) -> None:
    """Give each input of unspecified rank a sequence of axes, named after the input unless a size has that name."""
    taken |= {s.name for s in symbols_of([d for v in values.values() for d in sizes_in(v)])}
    for name, value in values.items():
        if type(value) is Value and value.shape is None and value.dtype:
            axes = AxisSequence(free_name(identifier(name), taken))
            values[name] = OpenValue((axes.rest(),), value.dtype)


def _fixed(symbols: Collection[Symbol], bind: Mapping[str, int], env: Program) -> dict[Symbol, int]:
    """Return the sizes that the caller binds, and assume from now on that they have these values."""
    fixed: dict[Symbol, int] = {}
    for name, size in bind.items():
        bound = env.named(name)
        if bound not in symbols:
            raise unknown("size", name, [s.name for s in symbols])
        env.assume(Assumption(equal(bound, size), f"{name} == {size}"))
        fixed[bound] = size
    return fixed


def free_name(base: str, taken: set[str]) -> str:
    """Return a free name, and reserve it."""
    while base in taken:
        base += "_"
    taken.add(base)
    return base


T = TypeVar("T")

# Names up to this length are never replaced, if they are identifiers.
LONGEST = 16
# The roles of the axes of an image or a sequence, by its rank.
_ROLES = {3: "NCL", 4: "NCHW", 5: "NCDHW"}
_ROLES_CHANNELS_LAST = {3: "NLC", 4: "NHWC", 5: "NDHWC"}


class Layouts(NamedTuple):
    """What a front end knows of operators and the order of axes, by the names of its operators.

    The first operand of ``images`` has the axes N, C, and then those of the image; the outputs of ``keeping`` have the
    axes of their operands in the same order. With ``is_channels_last``, C comes after the axes of the image.
    """

    images: frozenset[str] = frozenset()
    keeping: frozenset[str] = frozenset()
    is_channels_last: bool = False

    @classmethod
    def of(cls, images: str, keeping: str, prefix: str = "") -> Layouts:
        """Return what is known of the operators that two texts list, each with a prefix."""
        taking, kept = (frozenset(f"{prefix}{name}" for name in text.split()) for text in (images, keeping))
        return cls(taking, kept)


NO_LAYOUTS = Layouts()


def aliases_of(inputs: ModelInputs, graph: Graph, layouts: Layouts, known_inputs: KnownInputs) -> dict[str, str]:
    """Return the model's own names of sizes by their aliases; names that the caller gives have none."""
    sizes = [s for s in (*inputs.symbols, *inputs.elements) if not isinstance(s, Unknown | SequenceSymbol)]
    callers = {*known_inputs._replace(bind={}).names()}
    long = [s for s in sizes if _is_long(s.name) and s.name not in callers]
    if not long:
        return {}
    values = {name for node in graph.nodes for name in (*node.outputs, node.title)} | {*graph.inputs}
    long = [s for s in long if s.name not in values]  # a report that names both would confuse them
    places = {dim: (name, axis) for name, axis, dim in _places(inputs)}
    roles = _roles(inputs, graph, layouts)
    taken = {s.name for s in sizes} | callers
    names: dict[str, str] = {}
    for size in long:
        candidates = [roles[size]] if size in roles else []
        candidates += [identifier(size.name)] if len(size.name) <= LONGEST else []
        if size in places:
            name, axis = places[size]
            candidates.append(f"{identifier(name)[0].lower()}{axis}")
        names[_free(candidates, taken)] = size.name
    return names


def _is_long(name: str) -> bool:
    return len(name) > LONGEST or not name.isidentifier()


def _places(inputs: ModelInputs) -> Iterator[tuple[str, int, object]]:
    """Yield each axis of the inputs with its size, the last ones first."""
    for name, dims in reversed(inputs.named.items()):
        for axis in reversed(range(len(dims or ()))):
            assert dims is not None
            yield name, axis, dims[axis]


def _free(candidates: list[str], taken: set[str]) -> str:
    """Return the first wanted name that is free, or else a numbered one, and take it."""
    numbered = (f"{base}{n}" for base in [w for w in candidates[:1] if w[-1].isalpha()] or ["d"] for n in count(1))
    alias = next(
        name for source in (candidates, numbered) for name in source if name.isidentifier() and name not in taken
    )
    taken.add(alias)
    return alias


def _roles(inputs: ModelInputs, graph: Graph, layouts: Layouts) -> dict[object, str]:
    """Return the roles of sizes that an operator on images takes, behind operators that keep the order of axes."""
    if not layouts.images:
        return {}
    source = {name: name for name, dims in inputs.named.items() if dims is not None and len(dims) in _ROLES}
    role_of: dict[object, str] = {}
    roles = _ROLES_CHANNELS_LAST if layouts.is_channels_last else _ROLES
    for node in graph.nodes:
        first = next((source[name] for name in node.inputs if name in source), None)
        if first is None:
            continue
        if node.op_type in layouts.images and node.inputs[0] in source:
            dims = inputs.named[source[node.inputs[0]]] or ()
            for role, dim in zip(roles[len(dims)], dims, strict=True):
                role_of.setdefault(dim, role)
        elif node.op_type in layouts.keeping:
            source.update(dict.fromkeys(node.outputs, first))
    return role_of


def without_aliases(
    assume: tuple[Assumption, ...], known_inputs: KnownInputs, aliases: Mapping[str, str]
) -> tuple[tuple[Assumption, ...], KnownInputs]:
    """Return what a caller knows with the model's own names instead of aliases.

    Raises `BindingError` if a size is bound by both of its names, to different numbers.
    """
    bind: dict[str, int] = {}
    for name, size in known_inputs.bind.items():
        own = aliases.get(name, name)
        if bind.setdefault(own, size) != size:
            raise BindingError(f"{own} is bound to {bind[own]} and to {size}, under two names", "bind it once")
    own_sizes = {symbol(alias): symbol(name) for alias, name in aliases.items()}
    values = {
        name: contents._replace(items=tuple(replace_symbols(d, own_sizes) for d in contents.items))
        for name, contents in known_inputs.values.items()
    }
    renamed = (Assumption(with_own_names(a.formula, aliases), a.text, a.is_written, a.source) for a in assume)
    return tuple(renamed), KnownInputs(bind, known_inputs.shapes, values)


def with_own_names(formula: Formula, aliases: Mapping[str, str]) -> Formula:
    """Return a formula over the model's own names."""
    return replace_in_formula(formula, {symbol(alias): symbol(name) for alias, name in aliases.items()})
