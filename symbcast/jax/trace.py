"""Trace a JAX function: run `jax.eval_shape` along all its paths with our sizes as dimensions; and its report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count
from typing import Any

from symbcast.arrays.arguments import ArrayArgument, TraceArguments, check_call
from symbcast.arrays.standins import WRAPPERS, real_of
from symbcast.arrays.trace import TraceReport
from symbcast.core.advice import with_advice
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.evaluation import size_at, value_at
from symbcast.errors import DimensionError, SymbcastError
from symbcast.jax.dimension import Dimension, register, remove_entries, standins
from symbcast.paths.confirmation import confirm
from symbcast.paths.exploration import MAX_PATHS, Exploration, explore_all, restoring_caches
from symbcast.paths.path import Path, current
from symbcast.paths.real_calls import CallsWithNumbers, Limits, RaisedError
from symbcast.paths.sizes import Size, dim_of, is_whole, sized
from symbcast.paths.steps import home_of, lines_of_error, place_of_error


class JaxReport(TraceReport):
    """The sizes at which a JAX function works, and constraints with which `jax.export` can export it."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of the report
        self,
        scope: Scope,
        exploration: Exploration,
        name: str,
        arguments: Sequence[str],
        function: Callable[..., Any],
        traced: TraceArguments,
    ) -> None:
        super().__init__(scope, exploration, name, arguments)
        self._function, self._traced = function, traced

    def export_constraints(self) -> list[str]:
        """Return constraints for `jax.export.symbolic_shape` that let JAX export the function.

        JAX supports only conjunctions of ``==`` and ``>=``, so they may require more than `condition`: alternatives are
        tried, starting with the least demanding, then the conditions of single paths, until the export succeeds. Raises
        `DimensionError` if none works.

        >>> import jax.numpy as jnp
        >>> from symbcast.jax import trace
        >>> trace(lambda x: x.reshape(-1, 4), "n,").export_constraints()
        ['mod(n, - 4) == 0']
        """
        from symbcast.jax.export_constraints import candidates  # it loads sympy, which a trace does not need

        for constraints in dict.fromkeys(map(tuple, candidates(self._conclusions))):
            if self._is_exported(constraints):
                return list(constraints)
        raise DimensionError(self.name, "jax cannot export it under any constraints that it supports")

    def _is_exported(self, constraints: Sequence[str]) -> bool:
        import jax
        from jax import export

        from symbcast.adapters.jax import dimension_text

        try:
            scope = export.SymbolicScope(list(constraints))
        except (ValueError, NotImplementedError):
            return False

        def make_array(dims: Sequence[Any], dtype: Any) -> Any:
            text = ", ".join(map(dimension_text, dims))
            return jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope) if dims else (), dtype)

        def make_size(dim: Any) -> Any:
            return export.symbolic_shape(dimension_text(dim), scope=scope)[0]

        args, options = self._traced.build(self._conclusions.scope.shapes, make_array, make_size)
        leaves, structure = jax.tree.flatten((args, options))
        arrays = [v for v in leaves if isinstance(v, jax.ShapeDtypeStruct)]

        def function(*values: Any) -> Any:
            rest = iter(values)
            whole = [next(rest) if isinstance(v, jax.ShapeDtypeStruct) else v for v in leaves]
            args, options = jax.tree.unflatten(structure, whole)
            return self._function(*args, **options)

        try:
            export.export(jax.jit(function))(*arrays)
        except Exception:
            return False
        return True


@with_advice
def trace(
    function: Callable[..., Any],
    *arguments: Any,
    assume: Assumptions = (),
    min_size: int = 1,
    max_paths: int = MAX_PATHS,
    observe: bool = True,
    **named: Any,
) -> JaxReport:
    """Run a JAX function with symbolic sizes, and return the sizes at which it works.

    Arguments are as in `symbcast.trace`, with dtype float32; they and the result can be pytrees. Sizes are at least 1,
    as JAX assumes for its own symbolic dimensions. Each path is confirmed with `jax.eval_shape` at concrete sizes, as
    `symbcast.trace` does with real arrays; the report makes no claim about a path if the function contradicts it.
    Where paths are open and ``observe`` is true, `jax.eval_shape` at all small sizes gives the report's ``observed``.

    >>> import jax.numpy as jnp
    >>> report = trace(lambda x, y: jnp.concatenate([x, y]) + 1, "n, 3", "m, k")
    >>> report.condition, report.shapes
    (Condition('k == 3'), Shape('(m + n, 3)'))
    """
    check_call(function, arguments, named, caller="jax.trace")
    traced = TraceArguments(arguments, named, dtype="float32")
    scope = Scope.of_arguments(traced.shapes, traced.is_fresh, assume, min_size)
    call = JaxCall(function, traced, scope.shapes)
    serials = count()

    def run(path: Path) -> Any:
        path.size_class = partial(Dimension, serial=next(serials))
        try:
            return lasting_jax_result(call.shapes(lambda dim: sized(dim, path)))
        except Exception as error:
            call.note_refusal(error)
            raise call.real_error(error, path) from None

    home = home_of(function)
    register()
    try:
        values = [function, *traced.positional, *traced.named.values()]
        with restoring_caches(values, (*_symbolic(), *WRAPPERS), real_of), standins().acting():
            exploration = explore_all(run, scope, home=home, limit=max_paths, doubtful=(Exception,))
        real = JaxCall(function, traced, scope.shapes, call.refusals)
        with _whole_tracebacks():
            exploration = confirm(exploration, real, scope, home=home, limits=LIMITS)
    finally:
        remove_entries()
    name = getattr(function, "__qualname__", type(function).__qualname__)
    report = JaxReport(scope, exploration, name, traced.texts(), function, traced)
    # `jax.eval_shape` says nothing about what only the compiler checks.
    if observe and not any(o.untraced and o.untraced.is_compiled for o in exploration.outcomes):
        report._observe(real)
    return report


def _symbolic() -> tuple[type, ...]:
    import jax

    return Dimension, jax.core.Tracer


def _whole_tracebacks() -> AbstractContextManager[Any]:
    """Return a context without JAX's filter of tracebacks, which reads the lines of the whole stack for each error."""
    from jax._src import config

    setting = getattr(config, "traceback_filtering", None)
    context: AbstractContextManager[Any] = nullcontext() if setting is None else setting("off")
    return context


# A call of `jax.eval_shape` takes milliseconds.
LIMITS = Limits(calls=48, sure=1)


class JaxCall(CallsWithNumbers):
    """A function and its arguments, called with dimensions or with numbers."""

    most_points = 100

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: TraceArguments,
        shapes: Sequence[Shape],
        refusals: Iterable[str] = (),
    ) -> None:
        self.function, self.arguments, self._shapes = function, arguments, shapes
        # The messages of the errors that code of JAX, or of a library on it, raised for symbolic sizes.
        self.refusals = set(refusals)
        self._symbols = symbols_of([d for shape in shapes for d in shape.dims])
        self._at: dict[tuple[int, ...], Any] = {}

    def shapes(self, size: Callable[[Dim], Any]) -> Any:
        """Return the result of `jax.eval_shape` for the given sizes."""
        import jax

        # Use a new function for each path: JAX caches traces by function and shapes.
        return jax.eval_shape(self.on_arrays(size), *self.structs(size))

    def structs(self, size: Callable[[Dim], Any]) -> list[Any]:
        """Return the arrays of the arguments, as JAX describes them, for the given sizes."""
        import jax

        return [
            jax.ShapeDtypeStruct(tuple(map(size, shape.dims)), value.dtype)
            for value, shape in zip(self.arguments.symbolic, self._shapes, strict=True)
            if isinstance(value, ArrayArgument)
        ]

    def on_arrays(self, size: Callable[[Dim], Any]) -> Callable[..., Any]:
        """Return the call as a function of its arrays only."""

        def function(*arrays: Any) -> Any:
            rest = iter(arrays)
            args, options = self.arguments.build(self._shapes, lambda dims, dtype: next(rest), size)
            return self.function(*args, **options)

        return function

    def note_refusal(self, error: Exception) -> None:
        """Note an error that code of a library raises."""
        lines = lines_of_error(error)
        if lines and "site-packages" in lines[-1].file:
            self.refusals.add(str(error))

    def limit_of(self, error: BaseException | None) -> str:
        """Return that JAX refuses symbolic sizes, if its code, or that of a library on it, raised an error."""
        if error is None or str(error) not in self.refusals:
            return ""
        return f"JAX does not trace this with symbolic sizes ({type(error).__name__}: {str(error)[:80]})"

    def real_error(self, error: Exception, path: Path) -> Exception:
        """Return the error raised at the same line with the path's concrete sizes, if it has another type."""
        if isinstance(error, SymbcastError):
            return error
        # JAX checks concrete dimensions earlier than symbolic ones, or with different messages.
        real = self.at(path.growing.sizes)
        if not isinstance(real, RaisedError) or isinstance(real.error, type(error)):
            return error
        assert isinstance(real.error, Exception)
        return real.error if place_of_error(error, path.root, path.home) in real.lines else error

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the result shapes at concrete sizes, or the error that the function raises."""
        yield self.at(at)

    def fits(self, traced: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether the shapes of a concrete call match the symbolic shapes at the given sizes."""
        import jax

        real_leaves = jax.tree.leaves(real, is_leaf=_is_shape)
        traced_leaves = jax.tree.leaves(traced, is_leaf=_is_shape)
        return len(real_leaves) == len(traced_leaves) and all(
            not _is_shape(w) or (_is_shape(g) and [value_at(d, at) for d in w.dims] == list(g.dims))
            for g, w in zip(real_leaves, traced_leaves, strict=True)
        )

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return the shapes in a value as text, evaluated at the given sizes if there are any."""
        import jax

        def leaf(part: Any) -> Any:
            return tuple(d if at is None else value_at(d, at) for d in part.dims) if _is_shape(part) else part

        return str(jax.tree.map(leaf, value, is_leaf=_is_shape))

    def at(self, at: Mapping[Symbol, int]) -> Any:
        """Return the result of the call at concrete sizes, or the error that it raises."""
        sizes = defaultdict(lambda: 2, at)
        key = tuple(sizes[s] for s in self._symbols)
        # Each call is a trace, which is the same for the same sizes.
        if key not in self._at:
            self._at[key] = self._called(sizes)
        return self._at[key]

    def _called(self, sizes: Mapping[Symbol, int]) -> Any:
        token = current.set(None)
        try:
            return lasting_jax_result(self.shapes(lambda dim: size_at(dim, sizes)))
        except Exception as error:
            return RaisedError.of(error)
        finally:
            current.reset(token)


def lasting_jax_result(value: Any) -> Any:
    """Return a function's result with each array replaced by its shape, in the same structure."""
    import jax

    def leaf(part: Any) -> Any:
        dims = getattr(part, "shape", None)
        if dims is None or not all(issubclass(type(d), Size) or is_whole(d) for d in dims):
            return part
        return shape_of(tuple(dim_of(d) for d in dims))

    leaves, structure = jax.tree.flatten(value)
    parts = list(map(leaf, leaves))
    try:
        # If a class of users does not take shapes for arrays, its parts are a list.
        return jax.tree.unflatten(structure, parts)
    except Exception:  # the constructor is users' code
        return parts


def _is_shape(value: Any) -> bool:
    return isinstance(value, Shape)
