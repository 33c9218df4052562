"""Functions of JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symbcast.arrays.arguments import TraceArguments
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.solver.evaluation import size_at
from symbcast.core.verdicts import Verdict
from symbcast.jax.trace import JaxCall, JaxReport, trace
from symbcast.linting.libraries.traced import LibraryTrace, read_value, trace_of_paths
from symbcast.paths.answer import conclusions_of
from symbcast.paths.steps import CodePlace

_DTYPES = {"float": "float32", "int64": "int32", "complex128": "complex64", "float64": "float32", "uint64": "uint32"}
__all__ = ["dtype", "paths_of", "read_value", "traced"]


def dtype(name: str) -> Any:
    """Return the dtype for a name in an annotation, without 64 bits, which JAX may have switched off."""
    if name == "key":
        import jax

        return jax.random.key(0).dtype
    return _DTYPES.get(name, name)


def paths_of(
    function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int
) -> JaxReport:
    """Trace a function along its paths."""
    return trace(function, *positional, min_size=max(1, min_size), observe=False, **named)


def traced(
    function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int
) -> LibraryTrace:
    """Trace a function; real calls are calls of `jax.eval_shape`."""
    report = paths_of(function, positional, named, min_size)
    arguments = TraceArguments(positional, named, dtype="float32")
    call = JaxCall(function, arguments, conclusions_of(report).scope.shapes)
    result = trace_of_paths(report, call.results)
    if report.verdict in (Verdict.ALWAYS, Verdict.SOMETIMES):
        result = replace(result, pairs=list(_pairs(call, result.own)))
    return result


def _pairs(call: JaxCall, names: Mapping[Symbol, str]) -> Iterator[tuple[CodePlace, tuple[tuple[Dim, ...], ...]]]:
    """Yield operations that broadcast one size to two axes, seen at sizes that are different large primes."""
    import jax

    at = dict(zip(names, _PRIMES, strict=False))
    if len(at) < len(names):
        return
    sizes: dict[int, Symbol] = {n: s for s, n in at.items()}

    def size(dim: Dim) -> int:
        return size_at(dim, at)

    try:
        closed = jax.make_jaxpr(call.on_arrays(size))(*call.structs(size))
    except Exception:
        return  # these sizes need not satisfy the function's condition
    for equation in closed.jaxpr.eqns:
        if equation.primitive.name == "dot_general":  # a product of a column and a row: x @ x.T
            continue
        operands = [tuple(v.aval.shape) for v in equation.invars if hasattr(v.aval, "shape")]
        # JAX writes a broadcast as an equation of its own, so operands of other operations have one rank, or one of
        # them is a number.
        if len(operands) != 2 or len(equation.outvars) != 1 or len({len(o) for o in operands}) != 1:
            continue
        output = equation.outvars[0].aval.shape
        doubled = [n for n in sizes if output.count(n) > max(o.count(n) for o in operands)]
        if doubled and all(o.count(n) for o in operands for n in doubled):
            yield _place(equation), tuple(tuple(sizes.get(n, n) for n in o) for o in operands)


# A size is recognised by its number, which must not be one that functions have as a constant, such as 2 or 64.
_PRIMES = (101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199)


def _place(equation: Any) -> CodePlace:
    traceback = equation.source_info.traceback
    for frame in getattr(traceback, "frames", ()):
        if "/jax/" not in frame.file_name and "/symbcast/" not in frame.file_name:
            return CodePlace(frame.file_name, frame.line_num)
    return CodePlace("", 0)
