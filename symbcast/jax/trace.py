"""Trace a function of JAX: `jax.eval_shape` along all its paths, with sizes of ours as dimensions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from symbcast.algebra.terms import symbols_of
from symbcast.arrays.arguments import Arguments
from symbcast.errors import SymbcastError
from symbcast.jax.dimension import Dimension, register
from symbcast.jax.needless import standins
from symbcast.jax.report import JaxReport
from symbcast.paths.exploration import MAX_PATHS, current, explored
from symbcast.paths.places import home_of, place_of_error
from symbcast.paths.size import Size, dim_of, is_whole, sized
from symbcast.program.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.program.scope import Scope
from symbcast.shapes import Shape, shape_of
from symbcast.solver.evaluation import holds_at, size_at

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim
    from symbcast.paths.path import Path


def trace(
    function: Callable[..., Any],
    *arguments: Any,
    assume: Assumptions = (),
    min_size: int = 1,
    max_paths: int = MAX_PATHS,
    **named: Any,
) -> JaxReport:
    """Run a function of JAX with sizes that are symbols, and return for which sizes it works.

    Arguments are as in `symbcast.trace`, of float32; they and the result may be pytrees. Sizes are 1 or more, as JAX
    takes its own symbolic dimensions to be. Of each path it is seen that the function does at some sizes of the path
    what was found for all of them; where it does not, nothing is said of that path.

    >>> import jax.numpy as jnp
    >>> report = trace(lambda x, y: jnp.concatenate([x, y]) + 1, "n, 3", "m, k")
    >>> report.condition, report.shapes
    (Eq(k, 3), Shape('(m + n, 3)'))
    """
    import jax

    given = Arguments(arguments, named, dtype="float32")
    scope = Scope(given.shapes, given.is_fresh, read_assumptions(assume), check_min_size(min_size))
    call = _Call(function, given, scope.shapes)

    def run(path: Path) -> Any:
        path.size_class = Dimension
        try:
            return told(call.shapes(lambda dim: sized(dim, path)))
        except Exception as error:
            raise call.real_error(error, path) from None

    register()
    jax.clear_caches()
    with standins().acting():
        found = explored(
            run,
            [a.formula for a in scope.assumptions],
            min_size=scope.min_size,
            home=home_of(function),
            limit=max_paths,
            untold=(Exception,),
            is_real=call.fails_alike,
            confirms=call.gives,
        )
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return JaxReport(scope, found, name, given.texts(), function, given)


_NEAR = (3, 2, 5, 1)
MAX_NEAR = 64
MAX_CALLS = 3
"""With how many more sizes of a path a function is called, to see that it does what was found."""


class _Call:
    """A function and its arguments, called with dimensions or with numbers."""

    def __init__(self, function: Callable[..., Any], given: Arguments, shapes: Sequence[Shape]) -> None:
        self.function, self.given, self._shapes = function, given, shapes
        self._symbols = symbols_of([d for shape in shapes for d in shape.dims])
        self._at: dict[tuple[int, ...], Any] = {}

    def shapes(self, size: Callable[[Dim], Any]) -> Any:
        """Return what `jax.eval_shape` gives for sizes."""
        import jax

        def make_array(dims: Sequence[Dim], dtype: Any) -> Any:
            return jax.ShapeDtypeStruct(tuple(map(size, dims)), dtype)

        args, options = self.given.made(self._shapes, make_array, size)
        leaves, structure = jax.tree.flatten((args, options))
        traced = [isinstance(v, jax.ShapeDtypeStruct) for v in leaves]

        def function(*arrays: Any) -> Any:
            rest = iter(arrays)
            whole = [next(rest) if is_array else v for v, is_array in zip(leaves, traced, strict=True)]
            args, options = jax.tree.unflatten(structure, whole)
            return self.function(*args, **options)

        # A function of its own for each path: JAX keeps what it traced by the function and the shapes.
        return jax.eval_shape(function, *(v for v, is_array in zip(leaves, traced, strict=True) if is_array))

    def real_error(self, error: Exception, path: Path) -> Exception:
        """Return the error that is raised at the same line with numbers of a path, where it is of another kind.

        JAX checks dimensions that are numbers earlier than others, or in other words.
        """
        if isinstance(error, SymbcastError):
            return error
        real = self.at(path.sizes)
        if not isinstance(real, Exception) or isinstance(real, type(error)):
            return error
        there, here = (place_of_error(e, path.root, path.home) for e in (real, error))
        return real if there == here else error

    def fails_alike(self, error: BaseException, path: Path) -> bool:
        """Return whether the call fails in the same way with numbers of a path, and at other sizes of it too."""
        return isinstance(self.at(path.sizes), type(error)) and all(
            isinstance(self.at(at), Exception) for at in islice(self._others(path), 1)
        )

    def gives(self, value: Any, path: Path) -> bool:
        """Return whether the call gives, with numbers of a path, what was found for all of them.

        It is called with the numbers at hand, and with a few small ones that the path has too.
        """
        return all(self._gives(value, at) for at in (path.sizes, *self._others(path)))

    def _others(self, path: Path) -> Iterator[Mapping[Symbol, int]]:
        """Return a few small sizes that a path has."""
        asked = [*path.assumed, *(s.formula for s in path.steps)]
        count = len(self._symbols)
        near = chain([(1,) * count, tuple(range(2, count + 2))], islice(product(_NEAR, repeat=count), MAX_NEAR))
        others = (dict(zip(self._symbols, sizes, strict=True)) for sizes in near)
        return islice((at for at in others if all(holds_at(f, defaultdict(lambda: 2, at)) for f in asked)), MAX_CALLS)

    def _gives(self, value: Any, at: Mapping[Symbol, int]) -> bool:
        import jax

        sizes = defaultdict(lambda: 2, at)
        found = jax.tree.leaves(self.at(at), is_leaf=_is_shape)
        wanted = jax.tree.leaves(value, is_leaf=_is_shape)
        return len(found) == len(wanted) and all(
            not _is_shape(w) or (_is_shape(f) and [size_at(d, sizes) for d in w.dims] == list(f.dims))
            for f, w in zip(found, wanted, strict=True)
        )

    def at(self, at: Mapping[Symbol, int]) -> Any:
        """Return what the call gives with numbers, or the error that it raises."""
        sizes = defaultdict(lambda: 2, at)
        key = tuple(sizes[s] for s in self._symbols)
        if key not in self._at:
            self._at[key] = self._called(sizes)
        return self._at[key]

    def _called(self, sizes: Mapping[Symbol, int]) -> Any:
        token = current.set(None)
        try:
            return told(self.shapes(lambda dim: size_at(dim, sizes)))
        except Exception as error:
            return error
        finally:
            current.reset(token)


def told(value: Any) -> Any:
    """Return what a function returned, in its structure: of arrays their shapes."""
    import jax

    def leaf(found: Any) -> Any:
        dims = getattr(found, "shape", None)
        if dims is None or not all(issubclass(type(d), Size) or is_whole(d) for d in dims):
            return found
        return shape_of(tuple(dim_of(d) for d in dims))

    return jax.tree.map(leaf, value)


def _is_shape(value: Any) -> bool:
    return isinstance(value, Shape)
