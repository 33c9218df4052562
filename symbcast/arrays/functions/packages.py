"""Stand-ins for the compiled functions and class checks of the packages that are loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from symbcast.arrays.arguments import confirming
from symbcast.arrays.array_facts import axes_of, common_dtype, dims_of, dtype_of, here, is_symbolic, only_size
from symbcast.arrays.functions.draws import Draws, drawing, seeding
from symbcast.arrays.functions.linear_algebra import DECOMPOSITIONS
from symbcast.arrays.standins import ReachedPlaces, StandIn, StandIns
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, any_of, equal
from symbcast.errors import SymbcastError
from symbcast.paths.path import current
from symbcast.paths.sizes import dim_of, sized

_packages_seen: set[str] = set()
_NUMBA = "numba.core.registry"


def register_package_standins(standins: StandIns) -> None:
    """Register stand-ins for the packages that are loaded, once per package."""
    for name in [n for n in sys.modules if n not in _packages_seen]:
        _packages_seen.add(name)
        module = sys.modules.get(name)
        if name == "numpy.random" and module is not None:
            _register_random_standins(module, standins)
        if name == _NUMBA and module is not None:
            standins.stands_for_kind(module.CPUDispatcher, NumbaFunction)
        functions = next((known for end, known in _BY_NAME.items() if name == end or name.endswith(f".{end}")), {})
        for function, ours in functions.items() if isinstance(module, ModuleType) else ():
            if hasattr(module, function):
                standins.stands_for(getattr(module, function), is_ours=_is_of_ours)(ours)


def _register_random_standins(random: ModuleType, standins: StandIns) -> None:
    """Replace random draws by arrays without data, for existing generators and for those that the code creates."""
    for kind in (random.Generator, random.RandomState):
        standins.stands_as(kind, drawing(kind))
        standins.stands_for_kind(kind, Draws)
    standins.stands_as(random.default_rng, seeding(random.default_rng))
    for name in ("ranf", "sample", "seed"):
        own = "seed" if name == "seed" else "random_sample"

        def drawn(real: Any, *args: Any, own: str = own, **options: Any) -> Any:
            return getattr(Draws(random.mtrand._rand), own)(*args, **options)

        standins.stands_for(getattr(random, name), is_ours=lambda *_, **__: True)(drawn)


class NumbaFunction(StandIn):
    """A function that Numba compiles: in a trace, its Python code; the compiled one elsewhere.

    Attributes:
        real: the compiled function.
    """

    def __init__(self, real: Any) -> None:
        own = {"real": real, "py_func": getattr(real, "py_func", real), "__module__": real.__module__}
        vars(self).update(own)

    def __call__(self, *args: Any, **options: Any) -> Any:
        path = current.get()
        # Where a path is confirmed too: compiled code does not check whether an index is within its axis, and would
        # write outside of the array. So an error of the Python code says nothing about the compiled one.
        if path is None:
            return (self.py_func if confirming.get() else self.real)(*args, **options)
        # Compiled code returns infinity for a division by zero, where Python raises.
        before, path.is_guarded = path.is_guarded, True
        try:
            return self.py_func(*args, **options)
        except SymbcastError:
            raise
        except Exception as error:
            path.fail_to_trace(f"code compiled by Numba need not raise {type(error).__name__}, as its Python code does")
        finally:
            path.is_guarded = before


@contextmanager
def without_numba(reach: ReachedPlaces) -> Iterator[None]:
    """Let functions that Numba compiles be called as Python code, as real calls must: see `NumbaFunction`."""
    module = sys.modules.get(_NUMBA)
    if module is None:
        yield
        return
    standins = StandIns(_is_of_ours)
    standins.stands_for_kind(module.CPUDispatcher, NumbaFunction)
    with standins.acting(reach):
        yield


def _is_of_ours(*args: Any, **options: Any) -> bool:
    return any(v is SymbolicArray or is_symbolic(v) for v in (*args, *options.values()))


def _is_subclass(real: Any, kind: type, package: str, name: str) -> bool:
    return (package, name) == ("numpy", "ndarray") if kind is SymbolicArray else real(kind, package, name)


def _like(array: Any, double: Any, last: tuple[int, Any] | None = None) -> SymbolicArray:
    """Return a real or complex array with an array's precision and shape, except for the size of one axis."""
    dims = list(dims_of(array))
    if last is not None:
        dims[last[0]] = last[1]
    is_single = np.dtype(dtype_of(array)) in (np.dtype(np.float32), np.dtype(np.complex64))
    single = np.complex64 if double is np.complex128 else np.float32
    return SymbolicArray(tuple(dims), single if is_single else double)


def _half(real: Any, a: Any, axes: Any = None, *args: Any, **options: Any) -> SymbolicArray:
    place = axes_of(axes, len(dims_of(a)))[-1]
    return _like(a, np.complex128, (place, add(floor_divide(dims_of(a)[place], 2), 1)))


def _whole(real: Any, a: Any, axes: Any = None, lastsize: Any = 0, *args: Any, **options: Any) -> SymbolicArray:
    place, size = axes_of(axes, len(dims_of(a)))[-1], dim_of(lastsize)
    if here().ask(equal(size, 0)):  # as if no size were given
        size = subtract(multiply(2, dims_of(a)[place]), 1)
    return _like(a, np.float64, (place, size))


# Distances whose only requirement is that all points have the same number of coordinates.
METRICS = frozenset({
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "euclidean", "hamming",
    "jaccard", "minkowski", "rogerstanimoto", "russellrao", "sokalsneath", "sqeuclidean", "yule",
})  # fmt: skip


def _between_each(real: Any, points: Any, metric: Any = "euclidean", *, out: Any = None, **options: Any) -> Any:
    if metric not in METRICS or options or out is not None:
        return real(points, metric, out=out, **options)
    if len(dims_of(points)) != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    count = dims_of(points)[0]
    return SymbolicArray((floor_divide(multiply(count, subtract(count, 1)), 2),), np.float64)


def _between_both(
    real: Any, left: Any, right: Any, metric: Any = "euclidean", *, out: Any = None, **options: Any
) -> Any:
    if metric not in METRICS or options or out is not None:
        return real(left, right, metric, out=out, **options)
    for array, name in ((left, "XA"), (right, "XB")):
        if len(dims_of(array)) != 2:
            raise ValueError(f"{name} must be a 2-dimensional array.")
    here().equal(dims_of(left)[1], dims_of(right)[1], "XA and XB must have the same number of columns")
    return SymbolicArray((dims_of(left)[0], dims_of(right)[0]), np.float64)


def _filtered(real: Any, b: Any, a: Any, x: Any, *rest: Any) -> Any:
    axis, zi = (*rest, None)[:2] if rest else (-1, None)
    for array in (b, a):
        only_size(array, "object of too small depth for desired array")
    order = maximum((dims_of(b)[0], dims_of(a)[0]))
    here().require(Comparison("<=", 1, order), "the filter must have a coefficient", MemoryError)
    kind = common_dtype([b, a, x] if zi is None else [b, a, x, zi])
    result = SymbolicArray(dims_of(x), kind)
    if zi is None:
        return result
    if len(dims_of(zi)) != len(dims_of(x)):
        raise ValueError("object of too small depth for desired array")
    (place,) = axes_of(axis, len(dims_of(x)))
    after = [subtract(order, 1) if n == place else d for n, d in enumerate(dims_of(x))]
    for n, (size, expected) in enumerate(zip(dims_of(zi), after, strict=True)):
        fits = equal(size, expected) if n == place else any_of([equal(size, expected), equal(size, 1)])
        here().require(fits, "the initial conditions must fit the filter")
    return result, SymbolicArray(tuple(after), kind)


def _promoted(real: Any, *args: Any, broadcast: bool = False, force_floating: bool = False, xp: Any) -> Any:
    """Return arrays converted to their common dtype and, with ``broadcast``, to one shape."""
    promoted = real(*args, broadcast=False, force_floating=force_floating, xp=xp)
    if not broadcast:
        return promoted
    arrays = [promoted] if len(args) == 1 else list(promoted)
    dims = here().broadcast(*(dims_of(a) for a in arrays if a is not None))
    arrays = [a if a is None else SymbolicArray(dims, dtype_of(a)) for a in arrays]
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _length(real: Any, x: Any, axis: Any, keepdims: bool = False, xp: Any = None) -> Any:
    return sized(multiply(*(dims_of(x)[n] for n in axes_of(axis, len(dims_of(x))))), here())


def _broadcast_but(real: Any, shapes: Any, axis: Any = None) -> Any:
    """Broadcast shapes, except along some axes, on which each shape keeps its own size."""
    path, rank = here(), max(map(len, shapes))
    left_out = () if axis is None else axes_of(axis, rank)
    padded = [(1,) * (rank - len(s)) + tuple(map(dim_of, s)) for s in shapes]
    common = path.broadcast(*(tuple(d for n, d in enumerate(s) if n not in left_out) for s in padded))
    results = []
    for shape in padded:
        rest = iter(common)
        results.append(tuple(sized(d if n in left_out else next(rest), path) for n, d in enumerate(shape)))
    return results[0] if axis is None else results


def _masked(real: Any, *args: Any, **options: Any) -> Any:
    here().fail_to_trace("masked arrays are not supported")


_MASKED = (
    "equal", "greater", "greater_equal", "inside", "invalid", "less", "less_equal", "not_equal", "object", "outside",
    "values", "where",
)  # fmt: skip
_FILTERS = (
    "correlate", "correlate1d", "uniform_filter1d", "min_or_max_filter", "min_or_max_filter1d", "rank_filter",
    "spline_filter1d", "fourier_filter", "fourier_shift", "zoom_shift", "geometric_transform",
)  # fmt: skip
_REAL_TRANSFORMS = ("dct", "dst", "r2r_fftpack", "separable_hartley", "genuine_hartley")

# The functions with a stand-in in each supported module, by the end of its name: some packages vendor others.
_BY_NAME: dict[str, Mapping[str, Callable[..., Any]]] = {
    # It recognises NumPy arrays by their class, which symbolic arrays do not have.
    "array_api_compat.common._helpers": {
        "_issubclass_fast": _is_subclass,
        "_is_lazy_cls": lambda real, kind: False,
        "_is_writeable_cls": lambda real, kind: True,
    },
    "numpy.ma.core": dict.fromkeys(
        ("array", "asarray", "asanyarray", "fix_invalid", *(f"masked_{kind}" for kind in _MASKED)), _masked
    ),
    # Each fills the output array that it is given.
    "scipy.ndimage._nd_image": dict.fromkeys(_FILTERS, lambda real, *args: None),
    "scipy.fft._pocketfft.pypocketfft": {
        "c2c": lambda real, a, *args, **options: _like(a, np.complex128),
        "r2c": _half,
        "c2r": _whole,
        **dict.fromkeys(_REAL_TRANSFORMS, lambda real, a, *args, **options: _like(a, np.float64)),
    },
    "scipy.spatial.distance": {"pdist": _between_each, "cdist": _between_both},
    "scipy.linalg": DECOMPOSITIONS,
    # The correlation fills a given output, the filter keeps the shape.
    "scipy.signal._sigtools": {"_correlateND": lambda real, left, right, out, *args: out, "_linear_filter": _filtered},
    # SciPy puts shapes into a set here, or converts a size to a number.
    "scipy._lib._array_api": {"xp_promote": _promoted, "_length_nonmasked": _length},
    # It broadcasts shapes as integer arrays.
    "scipy.stats._axis_nan_policy": {"_broadcast_shapes": _broadcast_but},
}
