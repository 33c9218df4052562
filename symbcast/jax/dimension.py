"""Sizes as JAX's symbolic dimensions: the path decides every comparison, with as few questions as possible."""

from __future__ import annotations

import gc
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path as FilePath
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, cast
from weakref import WeakKeyDictionary, ref

from symbcast.arrays.standins import StandIns
from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.core.algebra.bounds import reduced_fraction
from symbcast.core.algebra.formulas import Compatible, all_of, any_of, equal
from symbcast.core.algebra.terms import Dim, Term
from symbcast.paths.path import Path, current
from symbcast.paths.real_numbers import SizePath
from symbcast.paths.sizes import Size, dim_of, greatest, is_whole, sized, smallest
from symbcast.paths.steps import Alternative, is_call, is_subscript, numbers_at_hand

_HASH = 0x51D_5EED_0000
# Functions whose calls compare values; any other call from JAX compares them for a cache lookup.
_COMPARING = frozenset({"set", "frozenset", "all", "any", "eq", "ne", "sorted", "min", "max", "index"})
# The same in user code, which looks up numbers.
_LOOKING = _COMPARING | {"Counter", "count", "fromkeys", "get", "pop", "remove", "setdefault"}
# JAX functions that compare shapes and use the answer only for sharded arrays.
_UNHEEDED = frozenset({"broadcast_in_dim"})
# Methods that compare or hash their contents on behalf of their caller.
_DELEGATES = frozenset({"__eq__", "__ne__", "__hash__"})
_JAX = tuple(
    str(FilePath(place)) + os.sep
    for package in ("jax", "jaxlib")
    if (spec := find_spec(package)) is not None
    for place in spec.submodule_search_locations or ()
)
# Represents every path that no longer exists; it never runs.
_ENDED = Path((), Alternative((), {}), 0, {})


def _is_jax(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_JAX)


def _is_lookup(frame: FrameType) -> bool:
    """Return whether a frame compares or hashes sizes only to find a cache entry."""
    # JAX's caches are compiled code: they compare keys inside a call, even keys that share only a few bits of their
    # hash, which differ between processes. So a lookup must neither depend on which sizes are equal nor ask the path.
    while frame.f_code.co_name in _DELEGATES and frame.f_back is not None:
        frame = frame.f_back
    if not _is_jax(frame):
        return is_call(frame, _LOOKING)
    return frame.f_code.co_name in _UNHEEDED or is_subscript(frame) or is_call(frame, _COMPARING)


class Dimension(Size):
    """A size on one path. JAX treats any object with ``dimension_as_value`` as a symbolic dimension."""

    __slots__ = ("_path", "_serial")

    def __init__(self, dim: Term, path: SizePath, serial: int = 0) -> None:
        # JAX's caches of traces by shape outlive a path: no entry must keep it alive.
        self._path, self._serial = ref(path), serial
        super().__init__(dim, path)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Dimension

    @property
    def path(self) -> SizePath:
        """The path of the size."""
        return self._path() or _ENDED

    @path.setter
    def path(self, path: SizePath) -> None:
        self._path = ref(path)

    def __hash__(self) -> int:
        # All sizes of a path have the same hash, so that a set of sizes compares them, always in the same order. If a
        # set may also contain numbers, a size that equals one of them has the hash of that number.
        asking = sys._getframe(1)
        if self.path.is_running() and not _is_lookup(asking):
            for number in numbers_at_hand(asking, in_code=not _is_jax(asking)):
                if self.path.ask(equal(self.dim, number)):
                    return hash(number)
        return _HASH + self._serial

    def __repr__(self) -> str:
        # JAX uses shapes in messages, and in names that do not affect the result.
        return str(self.dim)

    def __format__(self, spec: str) -> str:
        return str(self.dim)

    def __eq__(self, other: object) -> Any:
        return self._is_same(other) if self._is_found(other, sys._getframe(1)) else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return not self._is_same(other) if self._is_found(other, sys._getframe(1)) else super().__ne__(other)

    def _is_same(self, other: object) -> bool:
        # In a lookup a size equals only itself on its own path: it matches no entry of another path or of a number.
        return type(other) is Dimension and other.dim is self.dim and other._path is self._path

    def _is_found(self, other: object, asking: FrameType) -> bool:
        """Return whether a comparison is a lookup or involves a size of another path."""
        if type(other) is Dimension and other._path is not self._path:
            return True
        return _is_lookup(asking) or (_is_jax(asking) and not self.path.is_running())

    def _shown(self, frame: FrameType) -> Dim:
        # JAX names traced values after shapes; no shape depends on these names.
        return self.dim if _is_jax(frame) else super()._shown(frame)

    def __divmod__(self, other: Any) -> Any:
        return self._quotient(self.dim, dim_of(other)) if is_whole(other) else super().__divmod__(other)

    def __rdivmod__(self, other: Any) -> Any:
        return self._quotient(dim_of(other), self.dim) if is_whole(other) else super().__rdivmod__(other)

    def _quotient(self, above: Dim, below: Dim) -> tuple[Any, Any]:
        """Return a quotient and its remainder, and ask the path whether the remainder is 0."""
        path = self.path
        self._no_zero(below)
        # JAX divides the numbers of elements of two shapes this way; the second shape may contain a negative size.
        left, right = reduced_fraction((above,), (below,))
        if path.bounds.is_at_least(multiply(-1, right), 1):
            left, right = multiply(-1, left), multiply(-1, right)
        # A multiple may have either sign; the remainder of a positive sum has the shortest text.
        size = multiply(-1, left) if path.bounds.is_at_least(multiply(-1, left), 0) else left
        if path.ask(equal(modulo(size, right), 0)):
            return sized(floor_divide(left, right), path), 0
        return sized(floor_divide(above, below), path), sized(modulo(above, below), path)

    def __index__(self) -> int:
        # JAX uses this to detect dimensions that are numbers, which these are not. Other code may need a number.
        if _is_jax(sys._getframe(1)):
            raise TypeError(f"the size {self.dim} is not a number")
        return super().__index__()

    __int__ = __index__

    def __jax_array__(self) -> Any:
        return self.dimension_as_value()

    def dimension_as_value(self) -> Any:
        """Return the size as an array; no shape can depend on it."""
        import jax.numpy as jnp

        return jnp.asarray(self.path.shown(self.dim))

    def max(self, other: Any) -> Any:
        """Return the larger of two sizes, without asking which one is larger."""
        return greatest([self, other], self.path)

    def min(self, other: Any) -> Any:
        """Return the smaller of two sizes, without asking which one is smaller."""
        return smallest([self, other], self.path)

    rmax = __max__ = max
    rmin = __min__ = min

    def __add__(self, other: Any) -> Any:
        return super().__add__(other) if is_whole(other) else self._beside(other, "__add__")

    def __sub__(self, other: Any) -> Any:
        return super().__sub__(other) if is_whole(other) else self._beside(other, "__sub__")

    def __rsub__(self, other: Any) -> Any:
        return super().__rsub__(other) if is_whole(other) else self._beside(other, "__rsub__")

    def __mul__(self, other: Any) -> Any:
        is_sequence = isinstance(other, (list, tuple, str, bytes))
        return super().__mul__(other) if is_whole(other) or is_sequence else self._beside(other, "__mul__")

    def __truediv__(self, other: Any) -> Any:
        return self._beside(other, "__truediv__")

    def __rtruediv__(self, other: Any) -> Any:
        return self._beside(other, "__rtruediv__")

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return super().__pow__(other, modulus) if is_whole(other) else self._beside(other, "__pow__")

    __radd__, __rmul__ = __add__, __mul__

    def _beside(self, other: Any, name: str) -> Any:
        """Apply an operation to a non-integer or an array; the result cannot occur in a shape."""
        value = other.dimension_as_value() if type(other) is Dimension else other
        return getattr(self.dimension_as_value(), name)(value)


def register() -> None:
    """Register dimensions with JAX as values of the same type as its own symbolic dimensions."""
    from jax._src import core, dtypes

    if Dimension not in core.pytype_aval_mappings:
        core.pytype_aval_mappings[Dimension] = lambda _: core.dim_value_aval()
        dtypes.register_weak_scalar_type(Dimension)
        dtypes.python_scalar_types.add(Dimension)
        dtypes.python_scalar_types_to_dtypes[Dimension] = dtypes.python_scalar_types_to_dtypes[int]
        dtypes.register_canonicalize_value_handler(Dimension, None)
        handlers = getattr(import_module("jax._src.numpy.einsum"), "_poly_einsum_handlers", None)
        if handlers is not None:
            handlers[Dimension] = _einsum_path


def _einsum_path(*operands: Any, **options: Any) -> Any:
    """Return operands and their contractions in the order that JAX chooses for open sizes."""
    from jax._src.numpy.einsum import _default_poly_einsum_handler

    # To choose the order, JAX picks a number for each open size, and so rejects an open size that is contracted with a
    # number. Here numbers other than 1 are treated as open too: the contraction itself checks that its sizes are equal.
    def opened(operand: Any) -> Any:
        shape = tuple(1 if type(d) is int and d == 1 else None for d in operand.shape)
        return SimpleNamespace(shape=shape, dtype=operand.dtype, operand=operand)

    opens = [opened(v) if hasattr(v, "dtype") else v for v in operands]
    ordered, contractions = _default_poly_einsum_handler(*opens, **options)
    return [v.operand for v in ordered], contractions


# Avoid unnecessary questions from JAX about sizes: each one would double the number of paths without any benefit.
#
# JAX allows ``definitely_equal`` to return False for sizes that may be equal; its code then takes the general branch.
# If False only makes JAX's program longer, we return False. If it would make JAX raise, comparisons are combined into
# one question: whether a size is one of several, whether shapes are equal, or whether they broadcast.
#
# JAX also removes its own lines from the traceback of each error. To find out whether another of its functions will do
# so, it reads the source lines of the whole stack, which takes longer than many a trace; here another one always will.
#
# These functions replace functions inside JAX during a trace. With a version of JAX that lacks one of them, a trace
# asks more questions and gives the same answer.


# JAX functions that compare sizes only to save work.
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

# JAX functions that ask whether a size is 1, which does not matter if both operands have the same size.
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


@cache
def standins() -> StandIns:
    """Return the replacements for functions of JAX."""
    replacements = StandIns(_has_dimension)
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
            replacements.stands_for(getattr(import_module(module), name))(ours)
    replacements.stands_for(len, is_ours=_has_own_length)(length)
    for function, name in ((math.sqrt, "sqrt"), (math.log, "log"), (math.log2, "log2"), (math.log10, "log10")):
        replacements.stands_for(function)(partial(of_values, name))
    with suppress(ModuleNotFoundError, AttributeError):
        shortening = import_module("jax._src.traceback_util")._is_under_reraiser
        replacements.stands_as(shortening, lambda error: True)  # real calls to confirm a path raise errors too
    return replacements


def _has_own_length(value: Any) -> bool:
    return isinstance(getattr(type(value), "__len__", None), FunctionType)


def length(real: Callable[..., Any], value: Any) -> Any:
    """Return the length of an array or of an object with code for it: Python's ``len`` makes a number of each size."""
    size = type(value).__len__(value)
    return size if type(size) is Dimension else real(value)


def of_values(name: str, real: Callable[..., Any], size: Any, *base: Any) -> Any:
    """Return a function of Python's ``math`` at a size as an array, as products of sizes and floats are."""
    import jax.numpy as jnp

    function = getattr(jnp, name)
    value = function(size.dimension_as_value()) if type(size) is Dimension else real(size)
    return value / function(base[0]) if base else value


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
    firsts: list[Any] = []
    for value in values:
        if not any(_here().ask(equal(dim_of(value), dim_of(f))) for f in firsts):
            firsts.append(value)
    return firsts


def broadcast(real: Callable[..., Any], *shapes: Any, name: str) -> Any:
    """Broadcast shapes of the same rank; a single question decides whether they are compatible."""
    path = _here()
    if len({len(s) for s in shapes}) != 1 or not all(_is_size(d) for s in shapes for d in s):
        return real(*shapes, name=name)
    dims = [tuple(map(dim_of, s)) for s in shapes]
    axes = [tuple(dict.fromkeys(d for d in axis if d != 1)) for axis in zip(*dims, strict=True)]
    if not path.ask(all_of(Compatible(sizes) for sizes in axes if len(sizes) > 1)):
        raise TypeError(f"{name} got incompatible shapes for broadcasting: {', '.join(map(str, shapes))}.")
    return tuple(sized(d, path) for d in path.broadcast(*dims))


def reshaped(real: Callable[..., Any], array: Any, shape: Any) -> Any:
    """Return the shape of a reshape, and check the number of elements, which JAX does only for numbers."""
    dims = real(array, shape)
    has_inferred = any(type(d) is int and d < 0 for d in (shape if isinstance(shape, (tuple, list)) else [shape]))
    if not has_inferred and not _has_as_many(array.shape, dims):
        raise TypeError(f"cannot reshape array of shape {array.shape} into shape {shape}")
    return dims


def reshaped_by_user(real: Callable[..., Any], operand: Any, new_sizes: Any, *args: Any, **options: Any) -> Any:
    """Reshape, and check the number of elements, which JAX does only when it compiles."""
    if _JAX_SOURCES not in _asking().f_code.co_filename and not _has_as_many(operand.shape, new_sizes):
        what = "jax.lax.reshape checks the number of elements only when it is compiled"
        _here().fail_to_trace(what, is_compiled=True)
    return real(operand, new_sizes, *args, **options)


def _has_as_many(left: Iterable[Any], right: Iterable[Any]) -> bool:
    return _here().ask(equal(*(multiply(*map(dim_of, shape)) for shape in (left, right))))


# Find the function that asks.


def _asking() -> FrameType:
    """Return the frame of the JAX function that asks, skipping its comprehensions and calls of other checks."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename.startswith(_OWN) or frame.f_code.co_name in _WITHIN):
        frame = frame.f_back
    assert frame is not None, "something asks"
    return frame


_OWN = str(FilePath(__file__).parents[1])
_JAX_SOURCES = f"{os.sep}jax{os.sep}_src{os.sep}"
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
    innermost = asking
    while frame is not None and frame is not asking:
        innermost, frame = frame, frame.f_back
    return innermost


def _is_size(value: Any) -> bool:
    return type(value) in (int, Dimension)


def _are_same(left: Any, right: Any) -> bool:
    return _is_size(left) and _is_size(right) and dim_of(left) == dim_of(right)


# Clean JAX's caches after traces: remove entries that contain our sizes before they accumulate.
#
# These entries are never used again, but JAX keeps a trace as long as its function lives, which for JAX's own
# functions is forever. `jax.clear_caches` would remove them too, but also everything that the user has compiled.


# How many entries a cache may gain before those with sizes are removed; searching a cache takes time.
MAX_ENTRIES = 512
# How deep keys are searched; sizes were found at a depth of 6.
MAX_DEPTH = 8

# How many entries each cache had after its last search.
_entries_left: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def remove_entries() -> None:
    """Remove traces with our sizes from those caches of JAX that have gained many entries.

    Traces of the same functions with concrete shapes are removed too; compiled code stays. If JAX cannot remove single
    entries (before 0.9), its whole trace cache is cleared, but no compiled code.
    """
    from jax._src import util

    for jax_cache in list(util._caches):
        if (
            not hasattr(jax_cache, "cache_keys")
            or jax_cache.cache_info().currsize - _entries_left.get(jax_cache, 0) <= MAX_ENTRIES
        ):
            continue
        if hasattr(jax_cache, "evict_weakref"):
            _evict(jax_cache)
        else:
            jax_cache.cache_clear()
        _entries_left[jax_cache] = jax_cache.cache_info().currsize


def _evict(cache: Any) -> None:
    functions = {}
    for of, _, *arguments in cache.cache_keys():
        function = of() if isinstance(of, ref) else None
        if function is not None and id(function) not in functions and _has_size(arguments, MAX_DEPTH, set()):
            functions[id(function)] = function
    # Evicting while the keys are listed would change what is listed.
    for function in functions.values():
        cache.evict_weakref(function)


_LEAVES = (str, bytes, int, float, type, FunctionType, CodeType, ModuleType, partial)


def _has_size(values: Iterable[Any], depth: int, seen: set[int]) -> bool:
    """Return whether values contain a size; search all referents, as keys have many types, some of them compiled."""
    for value in values:
        if type(value) is Dimension:
            return True
        if depth and id(value) not in seen and not isinstance(value, _LEAVES):
            seen.add(id(value))
            if _has_size(gc.get_referents(value), depth - 1, seen):
                return True
    return False
