"""Avoid unnecessary questions from JAX about sizes: each one would double the number of paths without any benefit.

JAX allows ``definitely_equal`` to return False for sizes that may be equal; its code then takes the general branch. If
False only makes JAX's program longer, we return False. If it would make JAX raise, comparisons are combined into one
question: whether a size is one of several, whether shapes are equal, or whether they broadcast.

JAX also removes its own lines from the traceback of each error. To find out whether another of its functions will do
so, it reads the source lines of the whole stack, which takes longer than many a trace; here another one always will.

These functions replace functions inside JAX during a trace. With a version of JAX that lacks one of them, a trace asks
more questions and gives the same answer.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path as FilePath
from types import FrameType
from typing import Any, cast

from symbcast.arrays.standins.standins import StandIns
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import Compatible, all_of, any_of, equal
from symbcast.jax.dimension import Dimension
from symbcast.paths.runs.path import Path, current
from symbcast.paths.values.size import dim_of, sized

SHORTCUTS = frozenset({
    "_broadcast_arrays",  # returns arrays of the same shape unchanged
    "_broadcast_shapes_uncached",  # skips the comparison axis by axis for equal shapes
    "_gather",  # does not gather an empty slice
    "_index_to_gather",  # does not gather a whole axis, or a slice without a step
    "_maybe_broadcast",  # returns an array of the target shape unchanged
    "broadcast_batcher",  # does not align arrays of the same shape
    "broadcast_to",
    "dilate_dim",  # does not compute a dilation by 1
    "reshape",
})  # fmt: skip
"""JAX functions that compare sizes only to save work."""

LIKES: dict[str, Callable[[Mapping[str, Any]], tuple[Any, Any]]] = {
    # An axis of size 1 is dropped if the other operand's size is not 1.
    "filter_singleton_dims": lambda at: (
        at["operand"].shape[at["i"]],
        at["other_shape"][at["j"]] if at["j"] >= 0 else at["operand"].shape[at["i"]],
    ),
    # Axes of size 1 in both operands are dropped, and later added back.
    "matmul": lambda at: (at["ba"], at["bb"]),
    # The gradient is summed over an axis that was expanded from size 1.
    "_broadcast_in_dim_transpose_rule": lambda at: (at["sh"], at["shape"][at["broadcast_dimensions"][at["i"]]]),
}
"""JAX functions that ask whether a size is 1, which does not matter if both operands have the same size."""


@cache
def standins() -> StandIns:
    """Return the replacements for functions of JAX."""
    found = StandIns(_has_dimension)
    for module, name, ours in (
        ("jax._src.core", "definitely_equal", definitely_equal),
        ("jax._src.core", "definitely_equal_one_of_dim", is_one_of),
        ("jax._src.core", "definitely_equal_shape", are_equal),
        ("jax._src.core", "is_empty_shape", is_empty),
        ("jax._src.core", "dedup_referents", distinct),
        ("jax._src.lax.lax", "_try_broadcast_shapes", broadcast),
        ("jax._src.numpy.array_methods", "_compute_newshape", reshaped),
        ("jax._src.lax.lax", "reshape", reshaped_by_user),
    ):
        with suppress(ModuleNotFoundError, AttributeError):
            found.stands_for(getattr(import_module(module), name))(ours)
    for function, name in ((math.sqrt, "sqrt"), (math.log, "log"), (math.log2, "log2"), (math.log10, "log10")):
        found.stands_for(function)(partial(of_values, name))
    with suppress(ModuleNotFoundError, AttributeError):
        shortening = import_module("jax._src.traceback_util")._is_under_reraiser
        found.stands_as(shortening, lambda error: True)  # real calls to confirm a path raise errors too
    return found


def of_values(name: str, real: Callable[..., Any], size: Any, *base: Any) -> Any:
    """Return a function of Python's ``math`` at a size as an array, as products of sizes and floats are."""
    import jax.numpy as jnp

    function = getattr(jnp, name)
    found = function(size.dimension_as_value()) if type(size) is Dimension else real(size)
    return found / function(base[0]) if base else found


def _has_dimension(*args: Any, **_: Any) -> bool:
    return any(
        type(v) is Dimension
        or (type(v) in (tuple, list) and _has_dimension(*v))
        or (hasattr(v, "aval") and _has_dimension(*v.aval.shape))
        for v in args
    )


def _here() -> Path:
    path = current.get()
    assert path is not None, "a stand-in is only active during a trace"
    return path


def definitely_equal(real: Callable[..., Any], left: Any, right: Any) -> Any:
    """Return whether two sizes are equal; False if JAX asks only to save work."""
    asking = _asking()
    if asking.f_code.co_name in SHORTCUTS and not (type(right) is int and right == 0):
        return _are_same(left, right)
    if type(right) is int and right == 1 and _has_its_like(asking):
        return False
    return real(left, right)


def is_one_of(real: Callable[..., Any], size: Any, others: Sequence[Any]) -> Any:
    """Return whether a size is one of several, as a single question."""
    if not all(_is_size(v) for v in (size, *others)):
        return real(size, others)
    return _here().ask(any_of(equal(dim_of(size), dim_of(v)) for v in others))


def are_equal(real: Callable[..., Any], left: Any, right: Any) -> Any:
    """Return whether two shapes are equal, as a single question; False if JAX asks only to save work."""
    if len(left) != len(right) or not all(map(_is_size, (*left, *right))):
        return real(left, right)
    if _asking().f_code.co_name in SHORTCUTS:
        return all(map(_are_same, left, right))
    return _here().ask(all_of(equal(dim_of(a), dim_of(b)) for a, b in zip(left, right, strict=True)))


def is_empty(real: Callable[..., Any], shape: Any) -> Any:
    """Return whether a shape has no elements, as a single question; False if JAX asks only to save work."""
    if not all(map(_is_size, shape)):
        return real(shape)
    if _asking().f_code.co_name in SHORTCUTS:
        return 0 in [d for d in shape if type(d) is int]
    return _here().ask(any_of(equal(dim_of(d), 0) for d in shape))


def distinct(real: Callable[..., Any], sizes: Iterable[Any]) -> list[Any]:
    """Return the distinct sizes: the first one of each group of equal sizes."""
    values = list(sizes)
    if not all(map(_is_size, values)):
        return cast("list[Any]", real(values))
    found: list[Any] = []
    for value in values:
        if not any(_here().ask(equal(dim_of(value), dim_of(f))) for f in found):
            found.append(value)
    return found


def broadcast(real: Callable[..., Any], *shapes: Any, name: str) -> Any:
    """Broadcast shapes of the same rank; a single question decides whether they are compatible."""
    path = _here()
    if len({len(s) for s in shapes}) != 1 or not all(_is_size(d) for s in shapes for d in s):
        return real(*shapes, name=name)
    dims = [tuple(map(dim_of, s)) for s in shapes]
    met = [tuple(dict.fromkeys(d for d in axis if d != 1)) for axis in zip(*dims, strict=True)]
    if not path.ask(all_of(Compatible(sizes) for sizes in met if len(sizes) > 1)):
        raise TypeError(f"{name} got incompatible shapes for broadcasting: {', '.join(map(str, shapes))}.")
    return tuple(sized(d, path) for d in path.broadcast(*dims))


def reshaped(real: Callable[..., Any], array: Any, shape: Any) -> Any:
    """Return the shape of a reshape, and check the number of elements, which JAX does only for numbers."""
    found = real(array, shape)
    has_inferred = any(type(d) is int and d < 0 for d in (shape if isinstance(shape, (tuple, list)) else [shape]))
    if not has_inferred and not _has_as_many(array.shape, found):
        raise TypeError(f"cannot reshape array of shape {array.shape} into shape {shape}")
    return found


def reshaped_by_user(real: Callable[..., Any], operand: Any, new_sizes: Any, *args: Any, **options: Any) -> Any:
    """Reshape, and check the number of elements, which JAX does only when it compiles."""
    if _JAX not in _asking().f_code.co_filename and not _has_as_many(operand.shape, new_sizes):
        _here().fail_to_trace("jax.lax.reshape checks the number of elements only when it is compiled")
    return real(operand, new_sizes, *args, **options)


def _has_as_many(left: Iterable[Any], right: Iterable[Any]) -> bool:
    counts = [multiply(*map(dim_of, shape)) for shape in (left, right)]
    return _here().ask(equal(*counts))


# Find the function that asks.


def _asking() -> FrameType:
    """Return the frame of the JAX function that asks, skipping its comprehensions and calls of other checks."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename.startswith(_OWN) or frame.f_code.co_name in _WITHIN):
        frame = frame.f_back
    assert frame is not None, "something asks"
    return frame


_OWN = str(FilePath(__file__).parents[1])
_JAX = f"{os.sep}jax{os.sep}_src{os.sep}"
_WITHIN = frozenset({"<listcomp>", "<genexpr>", "definitely_equal_shape", "is_empty_shape"})


def _has_its_like(asking: FrameType) -> bool:
    """Return whether a function in `LIKES` asks about a size that both operands share."""
    sizes = LIKES.get(asking.f_code.co_name)
    if sizes is None:
        return False
    try:
        return _are_same(*sizes({**asking.f_locals, **_within(asking).f_locals}))
    except (LookupError, AttributeError):  # another version of JAX
        return False


def _within(asking: FrameType) -> FrameType:
    """Return the frame of the comprehension that asks; if it has no frame of its own, return ``asking``."""
    frame: FrameType | None = sys._getframe(1)
    found = asking
    while frame is not None and frame is not asking:
        found, frame = frame, frame.f_back
    return found


def _is_size(value: Any) -> bool:
    return type(value) in (int, Dimension)


def _are_same(left: Any, right: Any) -> bool:
    return _is_size(left) and _is_size(right) and dim_of(left) == dim_of(right)
