"""Random generators as traced functions see them: each draw is an array without data.

Parameters and sizes follow NumPy's own rule: parameters broadcast, and ``size`` must be their broadcast shape. NumPy
itself checks the values of parameters; a parameter that is a size is tried with a few small numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from symbcast.arrays.array_facts import (
    ArrayContents,
    IntegerSpan,
    as_dims,
    axes_of,
    broadcast_together,
    dims_of,
    dtype_of,
    here,
    is_symbolic,
    only_size,
)
from symbcast.arrays.standins import ProxyFunction, StandIn, StandInClass
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import multiply, subtract
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.operators.operator import Dims
from symbcast.paths.path import current
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, dim_of, is_whole

# Distributions of integers.
DISCRETE = frozenset({
    "binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson", "tomaxint", "zipf",
})  # fmt: skip
_NO_PARAMETERS = frozenset({"size", "dtype", "method", "out", "endpoint"})


class Draws(StandIn):
    """A ``Generator`` or ``RandomState`` in a trace; for ``isinstance`` it is one, and outside a trace the real one.

    Attributes:
        real: the real generator, from which nothing is drawn.
    """

    __slots__ = ("real",)

    def __init__(self, real: Any) -> None:
        object.__setattr__(self, "real", real)

    # `isinstance(rng, np.random.Generator)` is how libraries recognise one.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.real)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.real, name)
        ours = _METHODS.get(name)
        if ours is None and callable(attribute) and "size" in signature(attribute).parameters:
            ours = _drawn
        if ours is None:
            return attribute

        def method(*args: Any, **options: Any) -> Any:
            # A generator may outlive its trace: then it draws as ever.
            if current.get() is None:
                return attribute(*args, **options)
            with here().doing(f"random.{name}"):
                return ours(self.real, attribute, *args, **options)

        return method

    # No stand-in leaves a trace: copies and pickles are of the real generator.
    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.real.__reduce_ex__(protocol)


class _Drawing(StandInClass):
    """A class of generators: in a trace, calling it makes `Draws`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return seeded(self.real, *args, **options)


def drawing(real: type) -> type:
    """Return the stand-in of a class of generators."""
    return _Drawing(real.__name__, (), {"real": real, "__doc__": real.__doc__})


def seeded(real: Any, *args: Any, **options: Any) -> Any:
    """Return a generator; a seed that is a size is replaced by 0."""
    # No shape depends on a seed.
    args, options = tuple(map(_seed, args)), {k: _seed(v) for k, v in options.items()}
    generator = real(*args, **options)
    is_drawing = current.get() is not None and type(generator) in (np.random.Generator, np.random.RandomState)
    return Draws(generator) if is_drawing else generator


def seeding(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return the stand-in of a function that makes a generator."""
    return ProxyFunction(real, seeded, lambda *_, **__: True)


def _seed(value: Any) -> Any:
    if type(value) is Draws:
        return value.real
    return 0 if type(value) is Size and here().bounds.is_at_least(value.dim, 0) else value


def _drawn(real: Any, method: Any, *args: Any, **options: Any) -> Any:
    bound = signature(method).bind(*args, **options).arguments
    parameters = {k: v for k, v in bound.items() if k not in _NO_PARAMETERS}
    _check_values(real, method, parameters)
    dims = _shape(list(parameters.values()), bound.get("size"), bound.get("out"))
    if bound.get("out") is not None:
        return _outputs_or_draws(bound["out"], dims)
    if method.__name__ in DISCRETE:
        return _within(dims, np.int64, 0, None)
    return SymbolicArray(dims, bound.get("dtype", np.float64))


def _shape(parameters: list[Any], size: Any, out: Any = None) -> Dims:
    """Return the shape of a draw. Parameters without axes do not affect it."""
    together = broadcast_together(map(dims_of, parameters))
    if size is None and out is None:
        return together
    target = as_dims(size) if size is not None else dims_of(out)
    if together:
        if len(together) > len(target):
            raise ValueError(f"Output size is not compatible with {len(together)} dimensions of inputs.")
        here().broadcast(together, target, rule="unidirectional")
    return target


def _drawn_dims(size: Any) -> Dims:
    return () if size is None else as_dims(size)


def _outputs_or_draws(out: Any, dims: Dims) -> Any:
    """Return the array that a draw fills; it must have the shape of the draw."""
    here().same_shape(dims_of(out), dims, "size must match out.shape when used together")
    if not hasattr(type(out), "dims"):
        return here().fail_to_trace("a real array is filled with random numbers")
    out.forget()
    return out


def _prober(real: Any) -> Any:
    """Return a separate generator of the same class for checking parameters."""
    return _prober_of(type(real) is np.random.RandomState)


@cache
def _prober_of(is_state: bool) -> Any:
    return np.random.RandomState(0) if is_state else np.random.default_rng(0)


def _check_values(real: Any, method: Any, parameters: dict[str, Any]) -> None:
    """Raise NumPy's errors for invalid parameter values; require that sizes are as large as NumPy demands."""
    probe = getattr(_prober(real), method.__name__)
    sizes = {k: v for k, v in parameters.items() if type(v) is Size}
    # Values of arrays without data, and numbers computed from sizes, are assumed to be valid.
    if any(is_symbolic(v) for k, v in parameters.items() if k not in sizes):
        sizes = {}
    elif not sizes:
        if parameters:
            probe(**parameters)
        return
    for name, size in sizes.items():
        others = {**parameters, **dict.fromkeys(sizes, 2)}
        # NumPy's checks are bounds from below, so four small numbers show the bound; anything else becomes a number.
        right = [_is_taken(probe, {**others, name: n}) for n in (0, 1, 2, 3)]
        least = right.index(True) if True in right else 4
        if not all(right[least:]) or least > 2 or not here().bounds.is_at_least(size.dim, 0):
            parameters[name] = int(size)
            probe(**{k: int(v) if type(v) is Size else v for k, v in parameters.items()})
        elif least:
            here().require(at_most(least, size.dim), f"{name} must be {least} or more")


def _is_taken(probe: Callable[..., Any], parameters: dict[str, Any]) -> bool:
    try:
        probe(**parameters)
    except ValueError:
        return False
    return True


# Bounded integers.


def _integers(real: Any, method: Any, *args: Any, **options: Any) -> Any:
    bound = signature(method).bind(*args, **options).arguments
    low, high = bound["low"], bound.get("high")
    is_closed = bound.get("endpoint", False) or method.__name__ == "random_integers"
    if high is None:
        low, high = (1 if method.__name__ == "random_integers" else 0), low
    size = bound.get("size")
    shapes = [dims_of(v) for v in (low, high)]
    dims = broadcast_together(shapes) if size is None else as_dims(size)
    kind, path = bound.get("dtype", np.int64), here()
    nothing = [equal(d, 0) for d in dims]
    if any(shapes):
        if size is not None and not path.ask(any_of(nothing)):
            path.broadcast(*(s for s in shapes if s), dims)
        if not any(map(is_symbolic, (low, high))):
            options = {k: v for k, v in bound.items() if k != "size"}
            getattr(_prober(real), method.__name__)(**options)
        return _within(dims, kind, 0, None)
    first, last = _whole(low), _whole(high)
    last = last if is_closed else subtract(last, 1)
    path.require(any_of([at_most(first, last), *nothing]), "low >= high")
    return _within(dims, kind, first, last)


def _whole(value: Any) -> Any:
    if is_whole(value):
        return dim_of(value)
    return int(value) if isinstance(value, (int, float, Real, np.generic)) else dim_of(np.asarray(value).item())


def _within(dims: Any, dtype: Any, first: Any, last: Any) -> SymbolicArray:
    """Return drawn integers from ``first`` to ``last``; without a known upper bound ``last`` is None."""
    # Unlike the data of an argument, a draw cannot be chosen by the caller: used as an index, every possible draw must
    # be within the axis.
    span = None if last is None else IntegerSpan(first, last, "part")
    return SymbolicArray(dims, dtype, contents=ArrayContents(span=span, is_data=False))


def _of_sizes(*sizes: Any) -> SymbolicArray:
    return SymbolicArray(as_dims(sizes), np.float64)


# Permutations and samples.


def _permutation(real: Any, method: Any, x: Any, axis: int = 0) -> Any:
    if is_whole(x):
        count = here().bounds.larger(dim_of(x), 0)
        return SymbolicArray((count,), np.int64, None, (0, subtract(count, 1)))
    if not dims_of(x) and type(real) is np.random.RandomState:
        raise IndexError("x must be an integer or at least 1-dimensional")
    axes_of(axis, len(dims_of(x)))
    return _reordered(x)


def _reordered(x: Any) -> SymbolicArray:
    return x._with(x.dims) if type(x) is SymbolicArray else SymbolicArray(dims_of(x), dtype_of(x))


def _permuted(real: Any, method: Any, x: Any, *, axis: Any = None, out: Any = None) -> Any:
    if not dims_of(x):
        raise TypeError("len() of unsized object")
    axes_of(axis, len(dims_of(x)))
    return _reordered(x) if out is None else _outputs_or_draws(out, dims_of(x))


def _shuffle(real: Any, method: Any, x: Any, axis: int = 0) -> None:
    if type(x) is not SymbolicArray:
        here().fail_to_trace("shuffling this type of value is not supported")
    if not x.dims:
        raise TypeError("len() of unsized object")
    axes_of(axis, x.ndim)
    x.reorder()


def _choice(real: Any, method: Any, *args: Any, **options: Any) -> Any:
    bound = signature(method).bind(*args, **options)
    bound.apply_defaults()
    a, size, p = (bound.arguments[k] for k in ("a", "size", "p"))
    path, dims = here(), () if is_whole(a) else dims_of(a)
    if not is_whole(a) and not dims:
        path.fail_to_trace("numpy.random.choice from a number that depends on data is not supported")
    if len(dims) > 1 and type(real) is np.random.RandomState:
        raise ValueError("a must be 1-dimensional")
    (place,) = axes_of(bound.arguments.get("axis", 0), len(dims) or 1)
    count = dims[place] if dims else dim_of(a)
    drawn = _drawn_dims(size)
    nothing = [equal(d, 0) for d in drawn]
    path.require(any_of([at_most(1, count), *nothing]), "a must be positive unless no samples are taken")
    if p is not None:
        _check_chances(p, count)
    if not bound.arguments["replace"]:
        path.require(
            any_of([at_most(multiply(*drawn), count), *nothing]),
            "Cannot take a larger sample than population when replace is False",
        )
    if dims:
        return SymbolicArray((*dims[:place], *drawn, *dims[place + 1 :]), dtype_of(a))
    return _within(drawn, np.int64, 0, subtract(count, 1))


def _check_chances(p: Any, count: Any) -> None:
    """Require one probability per item; whether they sum to 1 depends on data."""
    chances = only_size(p, "p must be 1-dimensional")
    here().equal(chances, count, "a and p must have same size")
    here().require(at_most(1, chances), "Probabilities do not sum to 1")
    if not is_symbolic(p):
        _prober_of(False).choice(len(p), p=p)


# Distributions of vectors.


def _multinomial(real: Any, method: Any, n: Any, pvals: Any, size: Any = None) -> Any:
    dims = dims_of(pvals)
    if not is_symbolic(n) and not is_symbolic(pvals):
        getattr(_prober(real), method.__name__)(n, pvals)
    if not dims or (len(dims) > 1 and type(real) is np.random.RandomState):
        raise ValueError("pvals must have 1 dimension")
    if type(real) is np.random.Generator:
        here().require(at_most(1, dims[-1]), "the last dimension of pvals must be greater than 0")
    outer = _shape([SymbolicArray(dims[:-1], float), n], size)
    return _within((*outer, dims[-1]), np.int64, 0, None)


def _multivariate_hypergeometric(
    real: Any, drawn: Any, colors: Any, nsample: Any, size: Any = None, *_: Any, **__: Any
) -> Any:
    kinds = only_size(colors, "colors must be a one-dimensional sequence of nonnegative integers")
    if not is_symbolic(nsample) and not is_symbolic(colors):
        getattr(_prober(real), drawn.__name__)(colors, nsample)
    return _within((*_drawn_dims(size), kinds), np.int64, 0, None)


def _multivariate_normal(real: Any, method: Any, mean: Any, cov: Any, size: Any = None, *_: Any, **__: Any) -> Any:
    path, means, covariances = here(), dims_of(mean), dims_of(cov)
    if len(means) != 1 or len(covariances) != 2:
        raise ValueError("mean must be 1 dimensional, and cov must be 2 dimensional and square")
    path.equal(covariances[0], covariances[1], "cov must be 2 dimensional and square")
    path.equal(means[0], covariances[0], "mean and cov must have same length")
    path.require(at_most(1, means[0]), "cannot reshape array of size 0 into shape (0)")
    return SymbolicArray((*_drawn_dims(size), means[0]), np.float64)


def _dirichlet(real: Any, method: Any, alpha: Any, size: Any = None) -> Any:
    count = only_size(alpha)
    if not is_symbolic(alpha):
        getattr(_prober(real), method.__name__)(alpha)
    return SymbolicArray((*_drawn_dims(size), count), np.float64)


def _set_seed(real: Any, method: Any, *args: Any, **options: Any) -> Any:
    return method(*map(_seed, args), **{k: _seed(v) for k, v in options.items()})


# The methods of generators that draw in their own way. All others with a ``size`` draw from a distribution; those
# without one, such as ``bytes``, are the real ones.
_METHODS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(["integers", "randint", "random_integers"], _integers),
    **dict.fromkeys(["rand", "randn"], lambda real, method, *sizes: _of_sizes(*sizes)),
    "choice": _choice,
    "dirichlet": _dirichlet,
    "multinomial": _multinomial,
    "multivariate_hypergeometric": _multivariate_hypergeometric,
    "multivariate_normal": _multivariate_normal,
    "permutation": _permutation,
    "permuted": _permuted,
    "seed": _set_seed,
    "shuffle": _shuffle,
    "spawn": lambda real, method, *args: list(map(Draws, method(*args))),
}
