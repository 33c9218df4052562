"""The report on a traced JAX function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symbcast.arrays.arguments import Arguments
from symbcast.arrays.report.report import TraceReport
from symbcast.core.program.sizes.scope import Scope
from symbcast.errors import DimensionError
from symbcast.paths.runs.exploration import Exploration


class JaxReport(TraceReport):
    """The sizes at which a JAX function works, and constraints with which `jax.export` can export it."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of the report
        self,
        scope: Scope,
        exploration: Exploration,
        name: str,
        arguments: Sequence[str],
        function: Callable[..., Any],
        given: Arguments,
    ) -> None:
        super().__init__(scope, exploration, name, arguments)
        self._function, self._given = function, given

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
        from symbcast.jax.constraints import candidates  # it loads sympy, which a trace does not need

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

        args, options = self._given.made(self._conclusions.scope.shapes, make_array, make_size)
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
