"""Reshape values: rearrange their elements into another shape with the same number of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.logic.formulas import Formula, equal, negate
from symbcast.graphs.requirements.refuted_cases import learn_positive
from symbcast.graphs.values.contents import Content, Element, Elements, Ramp, as_ramp, is_size
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall, RefusedError
from symbcast.operators.context import Context, Dims
from symbcast.operators.rearranging.reshape import copied, copied_where_zero, reshape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Wanted(NamedTuple):
    """The requested sizes: at most one may be -1, and unknown ones are None.

    ``keeps_zero`` says that a 0 keeps the size of its axis; ``inferred`` is an alternative way to compute the size at
    -1.
    """

    sizes: Sequence[Element]
    keeps_zero: bool
    inferred: Callable[[Context, Dims, Sequence[Dim]], Dim] | None = None


def reshaped(call: NodeCall, data: Value, wanted: Wanted) -> Value:
    """Return a value in another shape; if its own is unknown, note that the number of elements is unchecked."""
    if data.shape is None:
        call.note(f"not checked: {call.input_name(0)} must have the same number of elements, but its rank is unknown")
        return Value(_of_unknown(call, wanted), data.dtype)
    shape = _reshaped_to(call, data.shape, wanted)
    return Value(shape, data.dtype, content_reshaped(data, shape))


def _of_unknown(call: NodeCall, wanted: Wanted) -> Dims:
    """Return the requested shape if the shape of the data is unknown."""
    if list(wanted.sizes).count(-1) > 1:
        call.refuse(_ONE_UNKNOWN)
    least = 1 if wanted.keeps_zero else 0
    dims: list[Dim] = []
    for axis, item in enumerate(wanted.sizes):
        if is_size(item):
            call.at_most(-1, item, _NOT_NEGATIVE)
        is_taken = is_size(item) and call.bounds.is_at_least(item, least)
        dims.append(item if is_size(item) and is_taken else call.fresh(f"size_{axis}", f"axis {axis}"))
    return tuple(dims)


_ONE_UNKNOWN = "at most one size may be -1"
_NOT_NEGATIVE = "a requested size must not be negative"


def _reshaped_to(call: NodeCall, data: Dims, wanted: Wanted, settled: frozenset[int] = frozenset()) -> Dims:
    """Return the requested shape; the sizes at the positions ``settled`` are known not to be -1."""
    for n, item in enumerate(wanted.sizes):
        if isinstance(item, int):  # -1 or not, whatever the sizes are
            continue
        if n not in settled and is_size(item) and not call.bounds.is_at_least(item, 0):
            is_unknown = equal(item, -1)
            worked_out = wanted._replace(sizes=[*wanted.sizes[:n], -1, *wanted.sizes[n + 1 :]])
            match call.is_known(is_unknown):
                case True:
                    return _reshaped_to(call, data, worked_out, settled | {n})
                case None:
                    return _by_unknown(call, is_unknown, data, (worked_out, wanted), settled | {n})
    shape = reshape(call, data, _dims_wanted(call, wanted, data), wanted.inferred)
    return tuple(
        item if is_size(item) and size != item and learn_positive(call.asker, item, call.place) else size
        for size, item in zip(shape, wanted.sizes, strict=True)
    )


def _by_unknown(
    call: NodeCall, is_unknown: Formula, data: Dims, choices: Sequence[Wanted], settled: frozenset[int]
) -> Dims:
    """Return the requested shape if one size is -1, and so inferred, only for some sizes of the model."""
    ends: list[Dims | None] = []
    for formula, wanted in zip((is_unknown, negate(is_unknown)), choices, strict=True):
        with call.asker.under(formula):
            try:
                ends.append(_reshaped_to(call, data, wanted, settled))
            except RefusedError:
                ends.append(None)
    yes, no = ends
    if yes is None or no is None:
        if yes is no:
            raise RefusedError
        return yes or no or ()
    name, text = call.place.name, "depending on whether a requested size is -1"
    return tuple(
        a if a == b else call.asker.by_cases(f"{name}_dim_{n}", f"axis {n}, {text}", is_unknown, a, b)
        for n, (a, b) in enumerate(zip(yes, no, strict=True))
    )


def _dims_wanted(call: NodeCall, wanted: Wanted, data: Dims) -> list[Dim | None]:
    """Return the requested sizes; None stands for the size to infer."""
    dims: list[Dim | None] = []
    for axis, item in enumerate(wanted.sizes):
        if isinstance(item, int) and item in (-1, 0):
            is_kept = item == 0 and wanted.keeps_zero
            dims.append(None if item else copied(call, data, axis) if is_kept else 0)
        elif not is_size(item):
            call.note(
                f"not checked: element {axis} of the shape, which is data, must be valid", is_about_data=True, by=[1]
            )
            least = int(call.is_positive(data))
            dims.append(call.fresh(f"size_{axis}", f"element {axis} of the requested shape", least, by=[1]))
        elif call.bounds.is_at_least(item, 1):
            dims.append(item)
        else:
            call.is_size(item, _NOT_NEGATIVE)
            dims.append(_copied_where_zero(call, item, data, axis) if wanted.keeps_zero else item)
    return dims


def _copied_where_zero(call: NodeCall, size: Dim, data: Dims, axis: int) -> Dim:
    """Return a requested size, or that of the data if it is 0; if the walk names cases, under a name."""
    if axis >= len(data) or data[axis] == size:
        return copied_where_zero(call, size, data, axis)
    call.asker.mark_zero(size, call.place)
    if not call.asker.names_cases:
        return copied_where_zero(call, size, data, axis)
    least = int(call.bounds.is_at_least(data[axis], 1))
    text = f"axis {axis}, depending on whether a requested size is 0"
    return call.asker.by_cases(f"{call.place.name}_dim_{axis}", text, equal(size, 0), data[axis], size, least=least)


def content_reshaped(data: Value, shape: Dims) -> Content | None:
    """Return the content of a value in another shape."""
    content = data.content
    if content is None or data.shape is None:
        return None
    if isinstance(content, Elements):
        return content
    ramp = as_ramp(content, data.shape)
    strides = None if ramp is None else _strides(data.shape, ramp.strides, shape)
    return None if ramp is None or strides is None else Ramp(ramp.start, strides)


def _strides(old: Dims, strides: Sequence[Dim], new: Dims) -> tuple[Dim, ...] | None:
    """Return a ramp's strides in another shape: axes of size 1 are added or removed, and contiguous axes merge."""
    runs: list[tuple[Dim, Dim]] = []
    for size, stride in zip(old, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == multiply(stride, size):
            runs[-1] = (multiply(runs[-1][0], size), stride)
        else:
            runs.append((size, stride))
    found: list[Dim] = []
    for size in reversed(new):
        if size == 1:
            found.append(0)
        elif not runs:
            return None
        else:
            length, stride = runs[-1]
            rest = exact_quotient((length,), (size,))
            if rest is None:
                return None
            found.append(stride)
            if rest == 1:
                runs.pop()
            else:
                runs[-1] = (rest, multiply(stride, size))
    return None if runs else tuple(reversed(found))
