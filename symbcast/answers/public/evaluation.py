"""Output shapes at given sizes: what `evaluate` of a program, a model, a function or a shape returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from symbcast.answers.findings import axes_at
from symbcast.core.algebra.formulas import TRUE, Formula, clauses
from symbcast.core.algebra.symbols import SequenceSymbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.characters import sizes_text, visible
from symbcast.core.programs.arguments import GivenSizes, Sizes, duplicate_size_error
from symbcast.core.programs.bindings import read_needed
from symbcast.core.programs.operations import FailedAnswer, IncompatibleShapesError
from symbcast.core.shapes import Shape, from_dim
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import formula_text, names_of
from symbcast.errors import BindingError, DimensionError

if TYPE_CHECKING:
    from symbcast.core.programs.operations import BroadcastError

Axes: TypeAlias = "tuple[int | None, ...] | None"
"""A shape at given sizes: an axis is None if data decide its size; a shape is None if its rank is unknown."""


class HasCondition(FailedAnswer, Protocol):
    """What is asked of an answer here: see `symbcast.answers.public.guard_methods.GuardMethods`."""

    @property
    def _shown(self) -> Mapping[Symbol, str]: ...
    @property
    def _assumed(self) -> Formula: ...
    @property
    def _other_names(self) -> Mapping[str, str]: ...
    @property
    def _named_inputs(self) -> Mapping[str, Shape]: ...
    def _decided(self, open: bool | None, with_assumptions: bool) -> Formula: ...


class AskedSizes(NamedTuple):
    """The sizes that a caller gives, by symbol and by name."""

    by_symbol: Mapping[Symbol, int]
    by_name: dict[str, Any]


def working_sizes(
    answer: HasCondition, sizes: Sizes | None, named: Mapping[str, int], used: Iterable[Dim]
) -> AskedSizes:
    """Return the given sizes; all that ``used`` and the condition mention must be there.

    Raises `BindingError` for a size that is missing, unknown, not a size, or against the assumptions, and
    `IncompatibleShapesError` if the answer is known to fail there.
    """
    names, may_work = answer._shown, answer._decided(True, False)
    is_list = isinstance(sizes, list | tuple) and "" in answer._named_inputs
    whole: Any = {"": sizes} if is_list else sizes
    sizes, named = _of_inputs(answer, whole), _of_inputs(answer, named)
    at = read_needed(_asked(names, [*symbols_of(used), *symbols_in(may_work)]), names, sizes, named, "evaluate")
    by_name = GivenSizes.read(names, sizes, named).by_name
    _check_assumed(answer, at, by_name)
    if not holds_at(may_work, at):
        raise IncompatibleShapesError(answer, by_name)
    return AskedSizes(at, by_name)


Given = TypeVar("Given")


def _of_inputs(answer: HasCondition, sizes: Given) -> Given | dict[Any, Any]:
    """Return sizes under the answer's own names; the shape of an input, by the input's name, gives its sizes."""
    if not isinstance(sizes, Mapping):
        return sizes
    own, inputs, read = answer._other_names, answer._named_inputs, dict[Any, Any]()
    for key, size in sizes.items():
        whole = inputs.get(key) if isinstance(size, tuple | list) else None
        pairs = ((own.get(key, key), size),) if whole is None else _sizes_in(key, whole, size)
        for name, value in pairs:
            if read.setdefault(name, value) != value:
                raise duplicate_size_error(str(name), read[name], value)
    return read


def given_by_name(answer: HasCondition, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return given sizes by the answer's own names: see `working_sizes`. Raises `BindingError`."""
    shown: Mapping[Any, str] = answer._shown
    return {shown.get(key, key): size for key, size in _of_inputs(answer, sizes).items()}


def _sizes_in(name: str, shape: Shape, sizes: Sequence[int]) -> Iterator[tuple[Symbol, int]]:
    """Yield the sizes that the shape of an input gives; raise `BindingError` if it does not fit."""
    if len(sizes) != len(shape.dims):
        hint = f"its shape is {shape}"
        raise BindingError(f"{name} has {len(shape.dims)} axes, and {len(sizes)} sizes are given", hint)
    for axis, (dim, size) in enumerate(zip(shape.dims, sizes, strict=True)):
        if isinstance(dim, int) and dim != size:
            raise BindingError(f"axis {axis} of {name} is {dim}, not {size}", f"its shape is {shape}")
        if isinstance(dim, Symbol):
            yield dim, size


def _asked(names: Mapping[Symbol, str], symbols: Iterable[Symbol]) -> list[Symbol]:
    """Return the sizes that a caller must give, in order: those of sequences of axes are given together."""
    used = {s.sequence.rest() if isinstance(s, SequenceSymbol) else s for s in symbols}
    return [s for s in names if s in used]


def _check_assumed(answer: HasCondition, at: Mapping[Symbol, int], by_name: Mapping[str, int]) -> None:
    """Raise `BindingError` for sizes that the assumptions exclude; one about sizes that are not given is left out."""
    for clause in clauses(answer._assumed):
        about = symbols_in(clause)
        if clause != TRUE and about.keys() <= at.keys() and not holds_at(clause, at):
            shown = {answer._shown[s]: by_name[answer._shown[s]] for s in about if answer._shown[s] in by_name}
            said = f"{sizes_text(shown or by_name)} contradicts the assumption {visible(formula_text(clause))}"
            raise BindingError(said, "ask without assuming it")


def outputs_at(
    answer: HasCondition, outputs: Mapping[str, Shape | None], sizes: Sizes | None, named: Mapping[str, int]
) -> dict[str, Axes]:
    """Return the output shapes of an answer at given sizes, by name."""
    asked = working_sizes(answer, sizes, named, _dims_of(outputs.values()))
    return {name: axes_of(shape, asked.by_symbol) for name, shape in outputs.items()}


def axes_of(shape: Shape | None, at: Mapping[Symbol, int]) -> Axes:
    """Return a shape at some sizes."""
    return None if shape is None else tuple(axes_at(shape.dims, at))


def _dims_of(shapes: Iterable[Shape | None]) -> list[Dim]:
    return [dim for shape in shapes if shape is not None for dim in shape.dims]


def in_structure(value: Any, change: Callable[[Sequence[Dim], bool], Any]) -> Any:
    """Return a value in its own structure, in which shapes and sizes are replaced.

    ``change`` is called with dimensions, and whether they are those of a shape.
    """
    if isinstance(value, Shape):
        return change(value.dims, True)
    if isinstance(value, Mapping):
        return {key: in_structure(part, change) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [in_structure(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return change((from_dim(value),), False) if hasattr(type(value), "free_symbols") else value


def result_at(value: Any, at: Mapping[Symbol, int]) -> Any:
    """Return what a function returned, with a tuple of sizes for each shape, and a number for each size."""

    def number(dims: Sequence[Dim], is_shape: bool) -> Any:
        sizes = tuple(axes_at(dims, at))
        return sizes if is_shape else sizes[0]

    return in_structure(value, number)


def dims_in(value: Any) -> list[Dim]:
    """Return all dimensions in a value."""
    found: list[Dim] = []
    in_structure(value, lambda dims, _: found.extend(dims))
    return found


def shape_at(shape: Shape, sizes: Sizes | None, named: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape at given sizes: see `Shape.evaluate`."""
    symbols = symbols_of(shape.dims)
    plain = [s.sequence.rest() if isinstance(s, SequenceSymbol) else s for s in symbols]
    names = {s: names_of(symbols).get(s, s.name) for s in plain}
    at = read_needed(names, names, sizes, named, "evaluate")
    axes = axes_at(shape.dims, at)
    known = [size for size in axes if size is not None and size >= 0]
    if len(known) < len(axes):
        raise DimensionError(str(shape), f"is no shape at {sizes_text(GivenSizes.read(names, sizes, named).by_name)}")
    return tuple(known)


def failure_text(error: BroadcastError) -> str:
    """Return the message of an error about a program, model or function that fails at given sizes."""
    answer: Any = error.result
    why = answer._failure_at(error.binding or {})
    return f"{visible(answer._called)} fails at {sizes_text(error.binding or {})}{f': {why}' if why else ''}"
