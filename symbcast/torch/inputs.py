"""The inputs of an exported program: how arguments are nested, their source names, and a size for each open axis."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from symbcast.core.algebra.arithmetic import floor_divide, modulo, subtract
from symbcast.core.algebra.formulas import Formula, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol, Term, symbols_of, term
from symbcast.core.structs import NamedTuple
from symbcast.graphs.inputs import place_name
from symbcast.torch.library import load_torch


class Structure(NamedTuple):
    """A container of arguments, or one argument, whose ``place`` is its index among the flattened arguments.

    ``named`` is the class of a named tuple.
    """

    place: int | None
    kind: str = ""
    keys: Sequence[Any] = ()
    parts: tuple[Structure, ...] = ()
    named: type | None = None

    def leaves(self, shapes: Any) -> Iterator[tuple[int, Any]]:
        """Yield the place of each argument with its entry in dynamic shapes of the same structure."""
        if self.place is not None:
            yield self.place, shapes
            return
        for n, part in enumerate(self.parts):
            yield from part.leaves(_part(shapes, self.keys[n] if self.kind == "dict" else n))

    def text(self, said: Sequence[str]) -> str:
        """Return the text of dynamic shapes; ``said`` has the text for each argument."""
        if self.place is not None:
            return said[self.place]
        parts = [part.text(said) for part in self.parts]
        if self.kind == "dict":
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(self.keys, parts, strict=True)) + "}"
        # Torch wants containers of the same type, and a list for a registered class.
        inner = ", ".join(parts)
        if self.named is not None:
            return f"{self.named.__name__}({inner})"
        return f"({inner}{',' * (len(parts) == 1)})" if self.kind == "tuple" else f"[{inner}]"

    def classes(self) -> Iterator[type]:
        """Yield the named tuples in the structure."""
        if self.named is not None:
            yield self.named
        for part in self.parts:
            yield from part.classes()


def _part(shapes: Any, key: Any) -> Any:
    if isinstance(shapes, Mapping):
        return shapes.get(key)
    is_there = isinstance(shapes, (list, tuple)) and isinstance(key, int) and key < len(shapes)
    return shapes[key] if is_there else None


class ForwardArguments(NamedTuple):
    """The arguments of ``forward`` by name; those of ``*args`` are one tuple."""

    names: tuple[str, ...]
    parts: tuple[Structure, ...]

    @property
    def whole(self) -> Structure:
        """All arguments as one dictionary."""
        return Structure(None, "dict", self.names, self.parts)

    def leaves(self, dynamic_shapes: Any) -> Iterator[tuple[int, Any]]:
        """Yield the place of each argument with its entry in dynamic shapes, by name or in order."""
        is_in_order = isinstance(dynamic_shapes, (list, tuple))
        return self.whole.leaves(dict(zip(self.names, dynamic_shapes, strict=False)) if is_in_order else dynamic_shapes)


def read_forward_arguments(program: Any, gathered: str | None = None) -> ForwardArguments:
    """Return the arguments of an exported program.

    ``gathered`` is the name of the parameter ``*args``. Without it, the guards show it if they name its elements.
    """
    places = iter(range(program.call_spec.in_spec.num_leaves))
    positional, keywords = (_children(spec) for spec in _children(program.call_spec.in_spec))
    parts = [_structure(spec, places) for spec in (*positional, *keywords)]
    kwargs = _children(program.call_spec.in_spec)[1]
    signature = program.module_call_graph[0].signature
    named = list(getattr(signature, "forward_arg_names", None) or [])[: len(positional)]
    names = [*named, *(f"args_{n}" for n in range(len(named), len(positional))), *kwargs.context]
    first = next(
        (n for n, name in enumerate(names) if name.endswith("_0") and _is_gathered(program, name, gathered)), None
    )
    if first is None:
        return ForwardArguments(tuple(names), tuple(parts))
    name, count = names[first].removesuffix("_0"), 0
    # The elements of `*args` have the parameter's name and their position.
    while first + count < len(positional) and names[first + count] == f"{name}_{count}":
        count += 1
    one = Structure(None, "tuple", range(count), tuple(parts[first : first + count]))
    return ForwardArguments(
        (*names[:first], name, *names[first + count :]), (*parts[:first], one, *parts[first + count :])
    )


def _is_gathered(program: Any, name: str, gathered: str | None) -> bool:
    """Return whether the first element of ``*args`` has this name."""
    if gathered is not None:
        return name == f"{gathered}_0"
    return any(f"L['{name.removesuffix('_0')}'][0]" in guard for guard in program._guards_code)


def _children(spec: Any) -> list[Any]:
    return list(spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs)


def _structure(spec: Any, places: Iterator[int]) -> Structure:
    if spec.is_leaf():
        return Structure(next(places))
    parts = tuple(_structure(child, places) for child in _children(spec))
    if spec.type is load_torch("torch.utils._pytree").namedtuple:
        return Structure(None, "tuple", range(len(parts)), parts, spec.context)
    if isinstance(spec.type, type) and issubclass(spec.type, dict):
        keys = spec.context[-1] if spec.type is defaultdict else spec.context
        return Structure(None, "dict", tuple(keys), parts)
    return Structure(None, "tuple" if spec.type is tuple else "list", range(len(parts)), parts)


# The inputs of an exported program: their source names, and a size for each axis that is not fixed.
#
# A size has the name of the user's ``torch.export.Dim`` for that axis, or ``<input>_dim_<axis>`` without one. Axes
# that share a name are one size, as in ``torch.export``. Guards and graph decide whether axes with different names
# must be equal.


class InputAxis(NamedTuple):
    """An axis of an input: ``known`` is torch's expression for its size, ``size`` is symbcast's."""

    input: str
    axis: int | None
    source: str
    """The source name that torch's guards use, such as ``L['x'].size()[2]``."""
    known: Any
    size: Dim
    aliases: tuple[str, ...] = ()
    """Other names that guards may use."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names that guards may use."""
        return self.source, *self.aliases

    @property
    def is_dynamic(self) -> bool:
        """Whether torch left the axis open."""
        return not isinstance(self.size, int)

    @property
    def text(self) -> str:
        """The axis as users write it: ``x.shape[2]``, or ``n`` for an integer argument."""
        shown = shown_source(self.source)
        return shown if self.axis is None else f"{shown.rpartition('.size()')[0]}.shape[{self.axis}]"


class ProgramInput(NamedTuple):
    """A user input: ``source`` is the name that torch's guards use, such as ``L['x'][0]``."""

    name: str
    source: str
    value: Any
    axes: tuple[InputAxis, ...]

    @property
    def is_integer(self) -> bool:
        """Whether the input is an integer that torch left open; its one "axis" is the integer."""
        return bool(self.axes) and self.axes[0].axis is None


class ProgramInputs(NamedTuple):
    """The user inputs, and the symbols of torch's `ShapeEnv` in terms of their sizes."""

    inputs: tuple[ProgramInput, ...]
    symbols: dict[str, Dim]
    holds: tuple[tuple[InputAxis, Formula], ...]
    """Conditions that torch assumes for axes whose sizes share a symbol or are computed from one."""
    arguments: ForwardArguments = ForwardArguments((), ())
    """The arguments as they are nested."""

    @property
    def axes(self) -> tuple[InputAxis, ...]:
        """All axes, in order."""
        return tuple(axis for i in self.inputs for axis in i.axes)

    @property
    def texts(self) -> dict[Symbol, str]:
        """Each open size as users write it, at its first axis."""
        return {axis.size: axis.text for axis in reversed(self.axes) if isinstance(axis.size, Symbol)}


def shown_source(source: str) -> str:
    """Return a source name of torch's guards as users write it: ``x[0]['k']`` for ``L['x'][0]['k']``."""
    head, _, rest = source.removeprefix("L['").partition("']")
    return f"{head}{rest}"


def read_program_inputs(program: Any, dynamic_shapes: Any = None, gathered: str | None = None) -> ProgramInputs:
    """Return the inputs of an exported program.

    ``dynamic_shapes`` names sizes by their `Dim`; ``gathered`` is the name of the parameter ``*args``, if known.
    """
    shape_env, arguments = shape_env_of(program), read_forward_arguments(program, gathered)
    called = {**getattr(shape_env, "source_name_to_debug_name", {}), **_named(program, arguments, dynamic_shapes)}
    reader = _Reader({source: str(name) for source, name in called.items()})
    placed = enumerate(zip(user_values(program), sources(program), strict=True))
    inputs = tuple(reader.input(v.name, source, v.meta.get("val"), _aliases(source, n)) for n, (v, source) in placed)
    return ProgramInputs(inputs, *_solved([axis for i in inputs for axis in i.axes]), arguments)


def _named(program: Any, arguments: ForwardArguments, dynamic_shapes: Any) -> dict[str, str]:
    """Return the name of each `Dim`, keyed by the source name that torch's guards use for its axis."""
    names: dict[str, str] = {}
    places = sources(program)
    for place, axes in arguments.leaves(dynamic_shapes):
        pairs = (
            axes.items() if isinstance(axes, Mapping) else enumerate(axes) if isinstance(axes, (list, tuple)) else ()
        )
        for axis, dim in pairs:
            if hasattr(dim, "__name__") and getattr(dim, "root", None) is None:
                names[f"{places[place]}.size()[{axis}]"] = str(dim.__name__)
    return names


def shape_env_of(program: Any) -> Any:
    """Return the `ShapeEnv` of an exported program; None if all its sizes are numbers."""
    torch = load_torch()
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and getattr(value, "fake_mode", None) is not None:
            return value.fake_mode.shape_env
        if isinstance(value, torch.SymInt):
            return value.node.shape_env
    return None


def user_values(program: Any) -> list[Any]:
    """Return the nodes of the user inputs, in the order of the flattened arguments."""
    taken = program.graph_signature.input_specs
    nodes = [n for n in program.graph.nodes if n.op == "placeholder"]
    return [n for n, spec in zip(nodes, taken, strict=True) if spec.kind.name == "USER_INPUT"]


def sources(program: Any) -> list[str]:
    """Return the source name in torch's guards of each flattened argument.

    The name consists of the argument of ``forward`` and the path into it; arguments in ``*args`` are named by position.
    """
    pytree = load_torch("torch.utils._pytree")
    spec = program.call_spec.in_spec
    args, kwargs = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    signature = program.module_call_graph[0].signature
    names = list(getattr(signature, "forward_arg_names", None) or [])
    names += [f"args_{n}" for n in range(len(names), len(args))]
    by_place: dict[int, str] = {}
    for name, argument in [*zip(names, args, strict=False), *kwargs.items()]:
        for path, place in pytree.tree_flatten_with_path(argument)[0]:
            by_place[place] = f"L['{name}']{pytree.keystr(path)}"
    return [by_place[n] for n in range(spec.num_leaves)]


def _aliases(source: str, place: int) -> tuple[str, ...]:
    """Return other names that guards may use for an argument: by position, and as an element of ``*args``."""
    by_position = f"L['flat_args'][{place}]"
    gathered = re.sub(r"^L\['(\w+)_(\d+)'\]", r"L['\1'][\2]", source)
    return (by_position, gathered) if gathered != source else (by_position,)


class _Reader:
    """Assigns sizes to the axes of one program's inputs."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._taken = set(names.values())

    def input(self, name: str, source: str, value: Any, aliases: tuple[str, ...]) -> ProgramInput:
        """Return an input with its axes."""
        torch = load_torch()
        if isinstance(value, torch.SymInt):
            return ProgramInput(name, source, value, (self._axis(name, None, (source, *aliases), value),))
        if not hasattr(value, "shape"):
            return ProgramInput(name, source, value, ())
        sources = (source, *aliases)
        axes = (self._axis(name, n, tuple(f"{s}.size()[{n}]" for s in sources), d) for n, d in enumerate(value.shape))
        return ProgramInput(name, source, value, tuple(axes))

    def _axis(self, name: str, axis: int | None, sources: tuple[str, ...], known: Any) -> InputAxis:
        source, *others = sources
        aliases = tuple(others)
        number = known if isinstance(known, int) else known.node.maybe_as_int()
        if number is not None:
            return InputAxis(name, axis, source, int(number), int(number), aliases)
        expression = known.node.expr
        user_name = next((self._names[s] for s in sources if s in self._names), "")
        called = user_name if user_name.isidentifier() else self._free(name, axis)
        return InputAxis(name, axis, source, expression, symbol(called), aliases)

    def _free(self, name: str, axis: int | None) -> str:
        free = name if axis is None else place_name(name, axis)
        while free in self._taken:
            free += "_"
        self._taken.add(free)
        return free


def _solved(axes: list[InputAxis]) -> tuple[dict[str, Dim], tuple[tuple[InputAxis, Formula], ...]]:
    """Express torch's symbols in the sizes of axes; return them with the conditions that this needs."""
    # A symbol equals an axis that torch records as that symbol; if there is none, it is solved from an axis `a*s + b`.
    symbols: dict[str, Dim] = {}
    for axis in axes:
        if axis.is_dynamic and axis.known.is_Symbol:
            symbols.setdefault(axis.known.name, axis.size)
    holds: list[tuple[InputAxis, Formula]] = []
    for axis in axes:
        if axis.is_dynamic and not axis.known.is_Symbol:
            holds += [(axis, f) for f in _inverted(axis, symbols)]
    for axis in axes:
        if axis.is_dynamic and {s.name for s in axis.known.free_symbols} <= symbols.keys():
            recorded = _read(axis.known, lambda s: term(symbols[s.name])).dim()
            if recorded != axis.size:
                holds.append((axis, equal(axis.size, recorded)))
    return symbols, tuple(holds)


def _read(known: Any, leaf: Callable[[Any], Term]) -> Term:
    """Return the size that torch records of an axis, given its symbols."""
    from symbcast.adapters.torch import read_term  # loads sympy, which torch's errors as text do not need

    return read_term(known, leaf)


def _inverted(axis: InputAxis, symbols: dict[str, Dim]) -> Iterator[Formula]:
    """Solve an axis of size ``a*s + b`` for its symbol ``s``; yield the conditions for ``s`` to be a size."""
    (*others, s) = axis.known.free_symbols
    if others or s.name in symbols:
        return
    own = symbol(f"{s.name} of {axis.source}")
    recorded = _read(axis.known, lambda _: own)
    factor = recorded.coefficients.get((own,), 0)
    if factor < 1 or symbols_of([recorded.dim()]) != (own,) or len([m for m in recorded.coefficients if m]) != 1:
        return
    # The recorded size is a*s + b with a >= 1, so s = (size - b)//a where a divides size - b >= 0.
    rest = subtract(axis.size, recorded.constant)
    symbols[s.name] = floor_divide(rest, factor)
    yield equal(modulo(rest, factor), 0)
    yield at_most(0, rest)
