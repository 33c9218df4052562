"""Trace a function of arrays along all its paths without data, and confirm it by calls with real arrays."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from symbcast.answers.outcomes import CheckOutcome, CodeLine, Level, Notice, NoticeKind
from symbcast.answers.program_report import Format, formatted
from symbcast.arrays.arguments import WITHOUT_CHECKS, ArrayArgument, TraceArguments, check_call, check_dtypes, is_shape
from symbcast.arrays.functions import replacements  # noqa: F401 - it registers stand-ins
from symbcast.arrays.functions.packages import NumbaFunction, without_numba
from symbcast.arrays.functions.replacements import STANDINS, SYMBOLIC
from symbcast.arrays.loops.loop import check_ended, check_joins, checked_value
from symbcast.arrays.loops.repeated import LongList
from symbcast.arrays.loops.rewriting import loops_of
from symbcast.arrays.loops.rewritten_calls import is_key, restore_keyed
from symbcast.arrays.loops.state import FrameState
from symbcast.arrays.standins import WRAPPERS, reach_of, real_of
from symbcast.arrays.symbolic_array import MARK, SymbolicArray, argument
from symbcast.core.advice import guessed_meanings, with_advice
from symbcast.core.algebra.formulas import FALSE
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.effort import EffortSpentError
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.evaluation import value_at
from symbcast.core.text.notation import shape_text
from symbcast.core.verdicts import Verdict
from symbcast.paths import sizes
from symbcast.paths.answer import PathFinding, paths_to_dict
from symbcast.paths.confirmation import confirm
from symbcast.paths.exploration import DOUBTFUL_ERRORS, MAX_PATHS, Exploration, explore_all, restoring_caches
from symbcast.paths.explore import Paths
from symbcast.paths.path import Path
from symbcast.paths.real_calls import CallsWithNumbers, are_small, mentions_data, result_of
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, sized
from symbcast.paths.steps import LoopRefusedError, UntracedError, home_of

# The report about a traced function: the answer, its notices by line, and its data for JSON.


_TEXT = re.compile(r"(?P<name>\w+)='(?P<text>[^']*)'")
_OF_TYPES = re.compile(r"\w*(?:TypeError|AttributeError)\b")


class TraceReport(Paths):
    """For which sizes a function works, its result, and which line requires what.

    Attributes:
        name: the name of the function.
        arguments: the arguments it was called with, as text.
        isolated: whether it was traced in a child process, so that a crash is an answer too.
    """

    _meanings = guessed_meanings(
        "args inputs operands -> arguments",
        "function source called -> name",
        "sarif to_sarif -> report('sarif')",
        base=Paths._meanings,
    )
    isolated = False

    def __init__(self, scope: Scope, exploration: Exploration, name: str, arguments: Sequence[str]) -> None:
        super().__init__(scope, exploration)
        self.name = name
        self.arguments = tuple(arguments)

    def _suited(self, finding: PathFinding) -> PathFinding:
        """Return a finding whose fix names an argument that is text where an array was surely meant."""
        texts = [match for match in map(_TEXT.fullmatch, self.arguments) if match and is_shape(match["text"])]
        if finding.formula != FALSE or not texts or not _OF_TYPES.match(finding.error):
            return finding
        name, text = texts[0]["name"], texts[0]["text"]
        return replace(
            finding, fix=f"{name} is text; for an array of this shape, write {name}=symbcast.array({text!r})"
        )

    @property
    def _called(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """The call that was traced."""
        return f"{self.name}({', '.join(self.arguments)})"

    def report(self, format: Format = "text") -> str:
        """Return the findings in a format: ``"text"``, ``"json"``, ``"sarif"`` or ``"github"``.

        Raises `ShapeTypeError` for any other format.
        """
        return formatted(format, lambda: outcome_of(self), self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data that `json.dumps` takes, as `json_schema` describes it."""
        return report_to_dict(self)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of what `to_dict` returns."""
        return json_schema()

    def __repr__(self) -> str:
        count = f"{self.paths} path{'s' * (self.paths != 1)}"
        return f"<{type(self).__name__} of {self.name}: {self.verdict.value}, {count}>"


FAILS = NoticeKind("function-fails", "A function must work for all sizes of its arguments.")
UNKNOWN = NoticeKind(
    "function-unknown", "For some sizes of its arguments, it is not known whether a function works.", "note"
)


def outcome_of(report: TraceReport) -> CheckOutcome:
    """Return the outcome of tracing a function."""
    return CheckOutcome("", report.verdict.value, notices=tuple(_notices(report)), subject=report.name)


def _notices(report: TraceReport) -> Iterator[Notice]:
    level: Level = "error" if report.verdict is Verdict.NEVER else "warning"
    for finding in report.findings:
        text = "\n".join(_lines(report, finding))
        operation = finding.operation or "check"
        line = CodeLine.of(finding.file, finding.line) if finding.line else None
        yield Notice(FAILS, level, report.name, operation, text, line)
    if report.account.open:
        where = "for some sizes" if report.complete else f"when {report.unexplored}"
        seen = f"; observed {report.observed}" if report.observed else ""
        yield Notice(UNKNOWN, UNKNOWN.level, "", "", f"{report.name} is open {where}: {report.reason}{seen}")


def _lines(report: TraceReport, finding: PathFinding) -> Iterator[str]:
    yield f"{report.name} {finding.works}"
    if finding.source:
        yield f"the line: {finding.source}"
    if finding.operands:
        yield f"operands: {', '.join(shape_text(o) for o in finding.operands)}"
    if finding.counterexample:
        there = f" ({finding.sizes_there})" if finding.sizes_there else ""
        yield f"fails at {sizes_text(finding.counterexample)}{there}: {finding.error}"


FORMAT = "symbcast.trace-report"
# The version of the data: it is increased when a key changes its meaning or is removed.
VERSION = 1


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `report_to_dict` returns."""
    schema: dict[str, Any] = json.loads(FilePath(__file__).with_name("report.schema.json").read_text("utf-8"))
    return schema


def report_to_dict(report: TraceReport) -> dict[str, Any]:
    """Return a report as data that `json.dumps` takes, the same on every run.

    A shape is a list of numbers and text that `symbcast.core.text` reads back.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": report.name,
        "arguments": list(report.arguments),
        **paths_to_dict(report),
    }


Filled = Callable[[Sequence[int], Any], Any]


# The maximum number of elements of a real array.
MAX_ELEMENTS = 1 << 13
# The maximum size in a real array: a function may build an array of all pairs.
MAX_SIZE = 1 << 11


class RealRun(CallsWithNumbers):
    """A function and its arguments, to be called with real arrays."""

    has_data = True

    def __init__(self, function: Callable[..., Any], arguments: TraceArguments, shapes: Sequence[Shape]) -> None:
        self.function, self.arguments, self._shapes = function, arguments, shapes
        pairs = zip(arguments.symbolic, shapes, strict=True)
        self._arrays = [shape for value, shape in pairs if isinstance(value, ArrayArgument)]

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the function's result or error, each time for different data."""
        # Later data suit functions with special requirements: sorted or positive data, indices, regular matrices.
        for filled in (*FILLINGS, *DRAWS):
            yield result_of(partial(self.arguments.call, self.function, self._shapes, at, filled))

    def fits(self, traced: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether a real result has the structure, shapes and sizes of the traced one."""
        if type(traced) is SymbolicArray:
            return _has_shape(real, traced.dims, at)
        if isinstance(traced, np.ndarray):
            return _has_shape(real, traced.shape, at)
        if issubclass(type(traced), Size):
            is_number = _is_scalar(real) and isinstance(real, (int, float, np.number, np.ndarray))
            return is_number and (mentions_data(traced.dim, at) or bool(real == value_at(traced.dim, at)))
        if type(traced) is Real:
            return _is_scalar(real)
        if isinstance(traced, str) and MARK in str(traced):
            return isinstance(real, str)
        if type(traced) is LongList:
            is_long = isinstance(real, list) and (
                mentions_data(traced.count, at) or len(real) == value_at(traced.count, at)
            )
            return is_long and (traced.value is None or all(self.fits(traced.value, r, at) for r in real))
        if isinstance(traced, (tuple, list)):
            is_like = isinstance(real, (tuple, list)) and len(traced) == len(real)
            return is_like and all(self.fits(f, r, at) for f, r in zip(traced, real, strict=True))
        if isinstance(traced, Mapping):
            is_like = isinstance(real, Mapping) and len(traced) == len(real)
            return is_like and all(self.fits(f, r, at) for f, r in zip(traced.values(), real.values(), strict=True))
        if type(traced) in (bool, int, str) and type(real) is type(traced):
            return bool(traced == real)
        return _is_scalar(real) if traced is None or isinstance(traced, (bool, int, float, complex, str)) else True

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether all arrays of the call are small."""
        return are_small(self._shapes, at, MAX_SIZE, MAX_ELEMENTS)

    def is_without_data(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the arrays of a call are all empty."""
        return all(0 in [value_at(d, at) for d in shape.dims] for shape in self._arrays)

    def is_of_data(self, error: BaseException) -> bool:
        """Return whether an error depends on data, such as a singular matrix or an iteration that does not converge."""
        text = str(error).lower()
        return isinstance(error, np.linalg.LinAlgError) and any(words in text for words in _OF_DATA)

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return the shapes of arrays and the numbers in a value as text, at some sizes."""
        if type(value) is SymbolicArray or isinstance(value, np.ndarray):
            dims = value.dims if type(value) is SymbolicArray else value.shape
            return f"({', '.join(str(_number(d, at)) for d in dims)})" if dims else "a number"
        if issubclass(type(value), Size):
            return str(_number(value.dim, at))
        if isinstance(value, (tuple, list)):
            return f"[{', '.join(self.text(v, at) for v in value)}]"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{k!r}: {self.text(v, at)}' for k, v in value.items())}}}"
        if type(value) is Real or isinstance(value, (float, complex, np.generic)):
            return "a number"
        return repr(value)[:80] if value is None or type(value) in (bool, int, str) else f"a {type(value).__name__}"


_OF_DATA = ("singular", "converge", "positive definite", "rank")


def _has_shape(real: Any, dims: Sequence[Dim], at: Mapping[Symbol, int]) -> bool:
    if not isinstance(real, np.ndarray):
        return not dims and _is_scalar(real)
    if len(dims) != real.ndim:
        return False
    return all(mentions_data(d, at) or value_at(d, at) == n for d, n in zip(dims, real.shape, strict=True))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.ndim == 0


def _number(dim: Dim, at: Mapping[Symbol, int] | None) -> Any:
    return dim if at is None or mentions_data(dim, at) else value_at(dim, at)


def _spread(shape: Sequence[int], dtype: Any) -> Any:
    """Return numbers spread between 0 and 1; for types without fractions, alternating 1 and 0."""
    number = np.arange(1, prod(shape) + 1)
    if np.dtype(dtype).kind in "fc":
        return np.modf(number * 0.6180339887498949)[0].reshape(shape).astype(dtype)
    return (number % 2).reshape(shape).astype(dtype) if np.dtype(dtype).kind in "biu" else np.ones(shape, dtype)


def _signed(shape: Sequence[int], dtype: Any) -> Any:
    """Return spread numbers of both signs."""
    return (_spread(shape, "float64") * 8 - 4).astype(dtype)


def _sorted(shape: Sequence[int], dtype: Any) -> Any:
    """Return increasing numbers: 0, 1, 2, ..."""
    return np.arange(prod(shape)).reshape(shape).astype(dtype)


def _diagonal(shape: Sequence[int], dtype: Any) -> Any:
    """Return diagonal matrices with 2, 3, ... on the diagonal: positive definite if they are square."""
    if len(shape) < 2:
        return _sorted(shape, dtype) + np.ones((), dtype)
    return np.broadcast_to(np.eye(shape[-2], shape[-1]) * (2 + np.arange(shape[-1])), shape).astype(dtype)


def _last(shape: Sequence[int], dtype: Any) -> Any:
    """Return arrays of -1: the last index, or one before the first."""
    return np.full(shape, -1).astype(dtype)


def _drawn(seed: int, shape: Sequence[int], dtype: Any) -> Any:
    """Return small whole numbers drawn at random, of another range for each seed, many of them equal."""
    low, high = ((-2, 3), (0, 2), (-1, 6), (-9, 10))[seed % 4]
    return np.random.default_rng((seed, *shape)).integers(low, high, shape).astype(dtype)


FILLINGS: tuple[Filled, ...] = (np.ones, _spread, np.zeros, _sorted, _diagonal, _signed, _last)
# Further data, for calls that fail with all of these.
DRAWS: tuple[Filled, ...] = tuple(partial(_drawn, seed) for seed in range(32))


def lasting_result(value: Any) -> Any:
    """Return a result in its original structure, with shapes instead of arrays and expressions instead of sizes.

    Text that data decide becomes the type ``str``.
    """
    return sizes.lasting_value(value, _shape)


def _shape(value: Any) -> Any:
    if type(value) is SymbolicArray:
        return shape_of(value.dims)
    if isinstance(value, str) and MARK in str(value):
        return str
    if type(value) is LongList:
        return list
    return shape_of(value.shape) if isinstance(value, np.ndarray) else value


@with_advice
def trace(
    function: Callable[..., Any],
    *arguments: Any,
    assume: Assumptions = (),
    min_size: int = 0,
    max_paths: int = MAX_PATHS,
    observe: bool = True,
    **named: Any,
) -> TraceReport:
    """Run a function of arrays with symbolic sizes, and return for which sizes it works.

    The function's own code is run once per path that sizes can take through it. ``arguments`` are shapes as text,
    `symbcast.array` for a dtype other than float64, `symbcast.size` for an integer, and any other value as itself; in
    ``named`` arguments, text is passed unchanged. ``assume`` and ``min_size`` are as in `symbcast.broadcast`; data are
    assumed to be finite. The function is also called with real arrays: for each path at pairwise different sizes, at 0
    and 1, and where a requirement is violated. If a call disagrees with the trace, the path is left unknown. Side
    effects of the function therefore occur many times: `Limits` in `symbcast.paths.real_calls` limits the number of
    calls. If paths are open and ``observe`` is true, a copy of this process calls the function at all small sizes,
    unless it has effects; `TraceReport.observed` has what these calls show. Unsupported operations, and more than
    ``max_paths`` paths, make the answer incomplete. The function must end: a loop that never asks about a size, such as
    ``while True: pass``, never returns from the trace either.

    >>> report = trace(lambda x, y: x + y, "N, 3", "M, 1")
    >>> report.condition, report.shapes
    (Condition('N == M or N == 1 or M == 1'), Shape('(broadcast(M, N), 3)'))
    """
    function = getattr(function, WITHOUT_CHECKS, function)
    called = function
    if type(function).__module__.partition(".")[0] == "numba":  # it must not be compiled from code with stand-ins
        called, function = NumbaFunction(function), getattr(function, "py_func", function)
    check_call(function, arguments, named)
    traced_arguments = TraceArguments(arguments, named)
    check_dtypes(traced_arguments)
    scope = Scope.of_arguments(traced_arguments.shapes, traced_arguments.is_fresh, assume, min_size)

    traced = _Traced(called, function, traced_arguments, scope, max_paths)
    with np.errstate(all="ignore"):
        exploration = traced.confirmed(is_by_symbols=True)
        if traced.has_followed_loops and not exploration.is_complete:  # one iteration may not represent the others
            exploration = min(traced.confirmed(is_by_symbols=False), exploration, key=_left)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    report = TraceReport(scope, exploration, name, traced_arguments.texts())
    if observe:
        traced.observe(report)
    return report


class _Traced:
    """A function that is traced.

    Attributes:
        has_followed_loops: whether the body of a loop was run for a symbolic index.
    """

    def __init__(
        self, called: Any, function: Callable[..., Any], arguments: TraceArguments, scope: Scope, max_paths: int
    ) -> None:
        self.called, self.function, self.arguments, self.scope = called, function, arguments, scope
        self.has_followed_loops = False
        self._max_paths = max_paths
        self._refused_loops: Counter[Any] = Counter()
        self._items: dict[tuple[Any, ...], Any] = {}
        self._assumed = [a.formula for a in scope.assumptions]
        self._home = home_of(function)
        self._values = [function, *arguments.positional, *arguments.named.values()]

    def confirmed(self, *, is_by_symbols: bool) -> Exploration:
        """Return the paths as real calls confirm them; ``is_by_symbols`` runs bodies of loops for a symbolic index."""
        scope, reach = self.scope, reach_of(self.function, self._values[1:])
        rewritten = loops_of(self.function) if is_by_symbols else nullcontext()
        with restoring_caches(self._values, (*SYMBOLIC, *WRAPPERS), real_of), rewritten, STANDINS.acting(reach):
            exploration = self._followed()
        # The stand-ins are gone, and so is all that the trace left in caches, before the function is really called.
        real = RealRun(self.function, self.arguments, scope.shapes)
        with without_numba(reach):
            return confirm(exploration, real, scope, home=self._home)

    def observe(self, report: TraceReport) -> None:
        """Call the function at all small sizes, in a child process, if its paths are open."""
        with without_numba(reach_of(self.function, self._values[1:])):
            report._observe(RealRun(self.function, self.arguments, self.scope.shapes))

    def _followed(self) -> Exploration:
        """Return the paths, with those loops rolled out by number in which the iterations differ."""
        while True:
            self._items = {}
            try:
                return explore_all(
                    self._run,
                    self.scope,
                    lasting=lasting_result,
                    home=self._home,
                    limit=self._max_paths,
                    doubtful=DOUBTFUL_ERRORS,
                )
            except LoopRefusedError as refused:
                self._refused_loops[refused.key] += 1

    def _run(self, path: Path) -> Any:
        path.loops.tries, path.loops.items = self._refused_loops, self._items
        path.takes_opaque, path.turns.state_of = True, FrameState.of
        path.hashes, path.is_key = False, is_key  # libraries such as einops cache results by shape
        args, options = self.arguments.build(self.scope.shapes, argument, lambda dim: sized(dim, path))
        of = STANDINS.of
        result = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = of(self.called)(*map(of, args), **{k: of(v) for k, v in options.items()})
            except Exception as error:
                if not isinstance(error, EffortSpentError):
                    check_joins(path, is_error=not isinstance(error, UntracedError))
                check_ended(path, error)
                raise
            finally:
                self.has_followed_loops = self.has_followed_loops or bool(path.loops.varying)
                restore_keyed(path, result)
            check_joins(path, is_error=False)
            return checked_value(path, result)


def _left(exploration: Exploration) -> int:
    """Return how many paths were not followed to their end."""
    return len(exploration.pending) + sum(o.untraced is not None for o in exploration.outcomes)
