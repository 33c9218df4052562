"""Functions and modules of PyTorch: they are exported, and the exported graph is analysed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from types import CodeType
from typing import Any

import numpy as np

from symbcast.arrays.arguments import ArrayArgument, TraceArguments
from symbcast.arrays.trace import FILLINGS
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import FALSE, with_dims
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs.arguments import assumption_set
from symbcast.core.programs.scope import Scope
from symbcast.core.solver.evaluation import size_at
from symbcast.core.verdicts import Verdict
from symbcast.errors import ModelError
from symbcast.graphs.report.findings import Finding
from symbcast.linting.libraries.traced import LibraryTrace, TraceFailure, trace_of_paths
from symbcast.paths.answer import conclusions_of
from symbcast.paths.real_calls import RaisedError
from symbcast.paths.steps import NOWHERE, CodePlace
from symbcast.torch.eager import tensors
from symbcast.torch.eager.trace import trace
from symbcast.torch.front_end import check
from symbcast.torch.report import TorchReport

_DTYPES = {"float": "float32", "key": "int64", "complex128": "complex64"}
# The sizes of the example with which a function is exported: torch takes equal sizes for one, and 0 and 1 apart.
_PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31)


def dtype(name: str) -> str:
    """Return the dtype for a name in an annotation."""
    return _DTYPES.get(name, name)


def paths_of(function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int) -> Any:
    """Run a function along its paths with symbolic sizes."""
    return trace(function, *positional, min_size=max(1, min_size), **named)


def read_value(value: Any) -> Any:
    """Return the shape of a tensor, or the size that a number is; None for any other value."""
    import torch

    if tensors.is_without_data(value) or isinstance(value, torch.Tensor):
        return tuple(tensors.tensor_dims(value))
    return getattr(value.node, "dim", None) if isinstance(value, torch.SymInt) else None


def traced(
    function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int
) -> LibraryTrace:
    """Export a function with its arrays as inputs, and analyse the graph; real calls run the function itself.

    The example has pairwise different sizes. If the function fails there, it is exported with two equal sizes, with
    which it works. Where torch exports neither, the function is run with symbolic sizes (`symbcast.torch.trace`).
    Raises `ModelError` if that does not decide anything either.
    """
    arguments = TraceArguments(positional, named)
    scope = Scope(arguments.shapes, arguments.is_fresh, [], max(1, min_size))
    calls = _Calls(function, arguments, scope)
    at = dict(zip(scope.names, _PRIMES, strict=False))
    pairs = ({**at, b: at[a]} for a, b in combinations(at, 2))
    first = calls.error(at) if len(at) == len(scope.names) else None
    example = at if first is None else next((e for e in pairs if calls.error(e) is None), None)
    try:
        if example is None or len(at) < len(scope.names):
            raise ModelError(_name(function), "no example with which it can be exported was found")
        return _of_report(calls, scope, _exported(calls, scope, example))
    except ModelError:
        report = paths_of(function, positional, named, min_size)
        if report.verdict is not Verdict.UNKNOWN:
            real = _Calls(function, arguments, conclusions_of(report).scope)
            return trace_of_paths(report, real.results)
        if first is not None:
            return _failing(calls, scope, at, first)
        raise


class _Calls:
    """Calls of a function with real tensors."""

    def __init__(self, function: Callable[..., Any], arguments: TraceArguments, scope: Scope) -> None:
        self.function, self.arguments, self.scope = function, arguments, scope

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the result of the function, or the error, each time with tensors of other data.

        The data are those of `symbcast.trace`: some of them suit functions with special requirements.
        """
        import torch

        for fill in FILLINGS:

            def filled(dims: Sequence[Dim], dtype: str, fill: Any = fill) -> Any:
                kind = dtype if hasattr(np, dtype) else "float32"
                array = np.asarray(fill([size_at(d, at) for d in dims], kind))
                return torch.from_numpy(array).to(getattr(torch, dtype))

            args, options = self.arguments.build(self.scope.shapes, filled, lambda dim: size_at(dim, at))
            try:
                with torch.no_grad():
                    result = self.function(*args, **options)
            except Exception as error:
                result = RaisedError.of(error)
            yield result

    def error(self, at: Mapping[Symbol, int]) -> RaisedError | None:
        """Return the first error at some sizes; None if it works with some data."""
        first: RaisedError | None = None
        for result in self.results(at):
            if not isinstance(result, RaisedError):
                return None
            first = first or result
        return first

    def by_name(self, at: Mapping[str, int]) -> Iterator[Any]:
        """Yield the results at sizes by name."""
        return self.results({s: at[n] for s, n in self.scope.names.items() if n in at})


def _exported(calls: _Calls, scope: Scope, at: Mapping[Symbol, int]) -> TorchReport:
    import torch

    arguments, function = calls.arguments, calls.function
    modules = [v for v in [*arguments.positional, *arguments.named.values()] if isinstance(v, torch.nn.Module)]
    tensors = [v for v in arguments.symbolic if isinstance(v, ArrayArgument)]
    if len(tensors) < len(arguments.symbolic):
        raise ModelError(_name(function), "torch exports integer arguments as constants")
    if any(not isinstance(d, (int, Symbol)) for shape in scope.shapes for d in shape.dims):
        raise ModelError(_name(function), "torch exports axes that are expressions as constants")

    class Wrapper(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.ModuleList(modules)

        def forward(self, arrays: list[Any]) -> Any:
            rest = iter(arrays)
            args, options = arguments.build(scope.shapes, lambda dims, dtype: next(rest), int)
            return function(*args, **options)

    dims = {s: torch.export.Dim(f"s_{n}") for n, s in enumerate(scope.names)}
    axes = [{n: dims[d] for n, d in enumerate(shape.dims) if isinstance(d, Symbol)} for shape in scope.shapes]
    arrays = [
        torch.ones([size_at(d, at) for d in shape.dims], dtype=getattr(torch, value.dtype))
        for value, shape in zip(tensors, scope.shapes, strict=True)
    ]
    with torch.no_grad():
        return check(Wrapper().eval(), (arrays,), dynamic_shapes={"arrays": axes}, min_size=scope.min_size)


def _of_report(calls: _Calls, scope: Scope, report: TorchReport) -> LibraryTrace:
    symbols = list(scope.names)
    shown = report._subject.shown
    own = {s: scope.names[symbols[int(n[2:])]] for s, n in shown.items() if re.fullmatch(r"s_\d+", n)}
    values = [report.outputs[name] for name in report.outputs]
    result = _unflattened(report.program.call_spec.out_spec, values)
    reason = report.reason if report.verdict is Verdict.UNKNOWN else ""
    return LibraryTrace(
        report.verdict is Verdict.ALWAYS,
        reason,
        {**shown, **own},
        own,
        assumption_set(tuple(shown), report._subject.assumptions, scope.min_size),
        [(report.condition.formula, result)] if report.verdict is not Verdict.NEVER else [],
        [_failure(f, own, shown) for f in report.findings],
        calls.by_name,
        list(_pairs(report, CodePlace(_file(calls.function), _code(calls.function).co_firstlineno))),
    )


def _unflattened(spec: Any, values: Sequence[Any]) -> Any:
    """Return the values of a program's outputs in the structure of its result."""
    import torch.utils._pytree as trees

    return trees.tree_unflatten(list(values), spec)


def _failure(finding: Finding, own: Mapping[Symbol, str], shown: Mapping[Symbol, str]) -> TraceFailure:
    names = {shown[s]: name for s, name in own.items()}
    text = re.sub(r"s_\d+", lambda m: names.get(m[0], m[0]), finding.text)
    at = None if finding.counterexample is None else {names.get(n, n): k for n, k in finding.counterexample.items()}
    place = NOWHERE if finding.line is None else CodePlace(finding.line.file, finding.line.number)
    formula = finding.condition.formula
    bound = {s.name: s for s in shown}
    formula = with_dims(formula, lambda d: replace_symbols(d, {s: bound.get(s.name, s) for s in symbols_of((d,))}))
    return TraceFailure(formula, text, finding.words, finding.reason, place, finding.kind, at)


def _failing(calls: _Calls, scope: Scope, at: Mapping[Symbol, int], first: RaisedError) -> LibraryTrace:
    """Return the trace of a function that fails at pairwise different sizes, and with each two of them equal.

    Other sizes may work, so the failure has no condition.
    """
    places = [p for p in first.lines if p.file == _file(calls.function)]
    sizes = {scope.names[s]: n for s, n in at.items()}
    error = f"{type(first.error).__name__}: {first.error}"
    failure = TraceFailure(FALSE, "", "", error, places[-1] if places else NOWHERE, "call", sizes)
    known = assumption_set(tuple(scope.names), [], scope.min_size)
    return LibraryTrace(
        False,
        "no example with which it can be exported was found",
        scope.names,
        scope.names,
        known,
        [],
        [failure],
        calls.by_name,
    )


def _pairs(report: TorchReport, place: CodePlace) -> Iterator[tuple[CodePlace, tuple[tuple[Dim, ...], ...]]]:
    """Yield the nodes of two tensors that put one size on two axes, though neither tensor has it twice.

    Torch records no lines inside a function that is not a module, so the place is that of the whole function.
    """
    shapes = report.shapes
    for node in report.program.graph.nodes:
        if node.op != "call_function" or "pointwise" not in str(getattr(node.target, "tags", "")):
            continue
        dims = [shapes.get(a.name) for a in node.args if hasattr(a, "name")]
        output = shapes.get(node.name)
        if len(dims) != 2 or output is None or any(s is None for s in dims):
            continue
        operands = tuple(tuple(s.dims) for s in dims if s is not None)
        sizes = [d for d in dict.fromkeys(output.dims) if isinstance(d, Symbol)]
        if any(output.dims.count(d) > max(o.count(d) for o in operands) for d in sizes):
            yield place, operands


def _file(function: Callable[..., Any]) -> str:
    return str(_code(function).co_filename)


def _code(function: Callable[..., Any]) -> CodeType:
    code: CodeType = inspect.unwrap(function).__code__
    return code


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
