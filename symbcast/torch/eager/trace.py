"""``symbcast.torch.trace``: run torch code along all its paths, without an export, and confirm each path."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from math import prod
from typing import Any, NoReturn

from symbcast.arrays.arguments import TraceArguments, check_call
from symbcast.arrays.trace import TraceReport
from symbcast.core.advice import with_advice
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.algebra.formulas import FALSE, Formula, equal
from symbcast.core.algebra.sympy_conversion import to_sympy
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.programs.arguments import Assumptions, read_assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.evaluation import size_at, value_at
from symbcast.graphs.walking.requirements import NodePlace
from symbcast.operators.values.value import Decider, Value
from symbcast.paths import confirmation, sizes, steps
from symbcast.paths.exploration import DOUBTFUL_ERRORS, MAX_PATHS, explore_all
from symbcast.paths.path import Path
from symbcast.paths.real_calls import CallsWithNumbers, Limits, are_small, mentions_data, result_of
from symbcast.torch.eager.runs import EagerRun, PathAsker, TorchSizeError
from symbcast.torch.eager.symbolic_numbers import SizeNode, symint
from symbcast.torch.eager.tensors import is_without_data, tensor_dims
from symbcast.torch.export import plain_module
from symbcast.torch.library import load_torch, onnx_type_number

# ``int`` and ``float`` for the code of a module while it runs with sizes as `torch.SymInt`.
#
# In a plain run a size is an ``int``, so ``int(n * 0.5)`` and ``isinstance(n, int)`` must not tell the difference.


class _Kind(type):
    """The class of stand-ins: instances are those of the type itself, and torch's own numbers."""

    own: type
    name: str

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (cls.own, getattr(load_torch(), cls.name)))

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(other, cls.own)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        torch = load_torch()
        if len(args) == 1 and is_without_data(args[0]):
            args = (args[0].item(),)
        if len(args) == 1 and isinstance(args[0], torch.SymInt | torch.SymFloat):
            return (torch.sym_int if cls.own is int else torch.sym_float)(args[0])
        return cls.own(*args, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.own, name)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.own

    def __hash__(cls) -> int:
        return hash(cls.own)


@contextmanager
def standing_in(function: Any, modules: Any) -> Iterator[None]:
    """Put the stand-ins into the modules of the code in this context: of a function, and of the classes of modules."""
    names = {type(n).__module__ for n in modules} & sys.modules.keys()
    spaces = [getattr(function, "__globals__", {}), *(vars(sys.modules[m]) for m in names)]
    types = ((int, "SymInt"), (float, "SymFloat"))
    standins = {own.__name__: _Kind(own.__name__, (), {"own": own, "name": name}) for own, name in types}
    changed = []
    for space in spaces:
        # Torch's own code keeps its types.
        if str(space.get("__name__")).partition(".")[0] != "torch":
            added = standins.keys() - space.keys()
            space.update((name, standins[name]) for name in added)
            changed += [(space, name) for name in added]
    try:
        yield
    finally:
        for space, name in changed:
            space.pop(name, None)


MAX_ELEMENTS = 1 << 16
MAX_SIZE = 1 << 10
_OF_DATA = ("singular", "converge", "positive-definite", "index out of range", "out of bounds")


class RealTorchCalls(CallsWithNumbers):
    """A module or function with its arguments, called with real tensors; see `symbcast.paths.confirmation`."""

    has_data = True

    def __init__(self, called: Callable[..., Any], arguments: TraceArguments, shapes: Sequence[Shape]) -> None:
        self._called, self._given, self._shapes = called, arguments, shapes

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the result or error of a call for different data, each on a copy of the module."""
        for fill in FILLINGS:
            yield self._result(at, fill)

    def _result(self, at: Mapping[Symbol, int], fill: Callable[[Any, Any], Any]) -> Any:
        args, options = self._given.build(
            self._shapes,
            lambda dims, dtype: _filled(fill, [size_at(d, at) for d in dims], torch_dtype(dtype)),
            lambda dim: size_at(dim, at),
        )
        with warnings.catch_warnings(), load_torch().no_grad():
            warnings.simplefilter("ignore")
            return result_of(lambda: module_copy(self._called)(*args, **options))

    def fits(self, traced: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether a real result has the structure, shapes and sizes of the traced one."""
        torch = load_torch()
        if is_without_data(traced) or isinstance(traced, torch.Tensor):
            dims = tensor_dims(traced)
            is_like = isinstance(real, torch.Tensor) and len(dims) == real.dim()
            return is_like and all(
                mentions_data(d, at) or value_at(d, at) == n for d, n in zip(dims, real.shape, strict=True)
            )
        if isinstance(traced, torch.SymInt) and isinstance(traced.node, SizeNode):
            dim = traced.node.dim
            return isinstance(real, int) and (mentions_data(dim, at) or value_at(dim, at) == real)
        if isinstance(traced, torch.SymInt | torch.SymFloat | torch.SymBool):
            return isinstance(real, (int, float, bool))
        # Model outputs of transformers are dataclasses and mappings: these are compared as mappings.
        if dataclasses.is_dataclass(traced) and not isinstance(traced, Mapping):
            return type(real) is type(traced) and self.fits(vars(traced), vars(real), at)
        if isinstance(traced, Mapping):
            is_like = isinstance(real, Mapping) and list(traced) == list(real)
            return is_like and all(self.fits(v, real[k], at) for k, v in traced.items())
        if isinstance(traced, (tuple, list)):
            is_like = isinstance(real, (tuple, list)) and len(traced) == len(real)
            return is_like and all(self.fits(f, r, at) for f, r in zip(traced, real, strict=True))
        if type(traced) in (bool, int, str, float):
            return type(real) is type(traced) and bool(traced == real)
        return type(real) is type(traced)

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether all tensors of the call are small."""
        return are_small(self._shapes, at, MAX_SIZE, MAX_ELEMENTS)

    def is_of_data(self, error: BaseException) -> bool:
        """Return whether an error depends on data, such as a singular matrix or an index."""
        text = str(error).lower()
        return any(words in text for words in _OF_DATA)

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return the shapes and numbers in a value as text, at some sizes."""
        torch = load_torch()
        if isinstance(value, torch.Tensor):
            dims = tensor_dims(value)
            return f"({', '.join(str(d if at is None or mentions_data(d, at) else value_at(d, at)) for d in dims)})"
        if isinstance(value, torch.SymInt) and isinstance(value.node, SizeNode):
            dim = value.node.dim
            return str(dim if at is None or mentions_data(dim, at) else value_at(dim, at))
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{k!r}: {self.text(v, at)}' for k, v in value.items())}}}"
        if isinstance(value, (tuple, list)):
            return f"[{', '.join(self.text(v, at) for v in value)}]"
        return repr(value)[:80] if value is None or type(value) in (bool, int, str) else f"a {type(value).__name__}"


def module_copy(called: Any) -> Any:
    """Return a copy of a module that shares its parameters, so that no call leaves anything in it; else the function.

    Buffers are copied: modules in training write to them.
    """
    if not isinstance(called, load_torch().nn.Module):
        return called
    # deepcopy takes what its memo already has: parameters stay shared, buffers are copied.
    shared = {id(p): p for p in called.parameters()}
    try:
        return deepcopy(called, shared)
    except Exception:  # a module may hold anything
        return called


def torch_dtype(name: Any) -> Any:
    """Return the element type of torch with a name, such as ``float32``; an element type as it is."""
    return getattr(load_torch(), name) if isinstance(name, str) else name


def _between(count: Any) -> Any:
    """Return numbers spread between 0 and 1, from 1, 2, 3, ..."""
    return count * 0.6180339887498949 % 1


def _spread(count: Any, dtype: Any) -> Any:
    """Return numbers spread between 0 and 1; for types without fractions, alternating 1 and 0."""
    return _between(count) if dtype.is_floating_point or dtype.is_complex else count % 2


# The elements of tensors, from 1, 2, 3, ... and the element type.
FILLINGS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda count, dtype: count**0,
    _spread,
    lambda count, dtype: count * 0,
    lambda count, dtype: count - 1,
    # Of both signs; the first is above 1, so that a single element also suits `x.sum() > 1`.
    lambda count, dtype: _between(count) * 16 - 7,
    # Negative numbers, and the last index; unsigned integers and booleans have no -1.
    lambda count, dtype: -(count**0) if dtype.is_signed else count**0,
)


def _filled(fill: Callable[[Any, Any], Any], shape: Sequence[int], dtype: Any) -> Any:
    torch = load_torch()
    return fill(torch.arange(1, prod(shape) + 1, dtype=torch.float64), dtype).reshape(shape).to(dtype)


# A call of a small module takes milliseconds.
LIMITS = Limits(calls=80, audits=120)


class PathNumbers:
    """A path, as the numbers of torch on it see it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ask, self.number, self.shown = path.ask, path.number, path.shown

    def expect(self, formula: Formula) -> None:
        """Require a formula that the code or torch checks."""
        self.path.require(formula, "the code checks it", TorchSizeError)

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, without a decision."""
        return self.path.is_known(formula)

    def is_true_for_data(self) -> Formula:
        """Return the formula that a new boolean, which data decide, is true."""
        return equal(self.path.data_size("truth", 0, 1), 1)

    def integer_of_data(self) -> Dim:
        """Return a new integer that data decide."""
        return self.path.data_size("number")

    def give_up(self, reason: str) -> NoReturn:
        """End the path, because what follows is unknown."""
        self.path.fail_to_trace(reason)


class PathWalk:
    """Takes the notes of operators: a condition that was not checked ends the path, unless it is about data."""

    def __init__(self, path: Path, asker: PathAsker) -> None:
        self._path, self._asker = path, asker
        self.counts: dict[int, tuple[Value, Dim]] = {}

    def leave(self, place: NodePlace, reason: str, is_about_data: bool = False, enough: Formula = FALSE) -> None:
        """Note a condition of an operator that was not checked; it holds at sizes that are ``enough``."""
        if is_about_data or self._asker.is_trying or (enough != FALSE and self._path.ask(enough)):
            return
        self._path.fail_to_trace(reason)

    def trying(self) -> AbstractContextManager[None]:
        """Return a context in which nothing is kept; there is nothing to discard."""
        return nullcontext()


@with_advice
def trace(
    called: Callable[..., Any],
    *arguments: Any,
    assume: Assumptions = (),
    min_size: int = 1,
    max_paths: int = MAX_PATHS,
    **named: Any,
) -> TraceReport:
    """Run a module or function of torch with symbolic sizes, and return for which sizes it works.

    It needs no export: the code is run once per path that sizes and data can take through it, with tensors that have no
    data. ``arguments`` are shapes as text (float32), `symbcast.array` for another element type, `symbcast.size` for an
    integer, and any other value as itself; ``assume`` and ``min_size`` are as in `symbcast.broadcast`. Each path is
    confirmed by calls with real tensors on the CPU, without gradients, each on a copy of the module. Operators without
    a rule and without a decomposition, elements that are needed as NumPy arrays, and more than ``max_paths`` paths make
    the answer incomplete.

    Raises `ModelError` for a TorchScript module.

    ```python
    report = symbcast.torch.trace(net, "batch, 3, H, W")
    report.condition, report.shapes, report.data_sizes
    ```
    """
    module_type = load_torch().nn.Module
    if isinstance(called, module_type):
        called = plain_module(called)
    function = called.forward if isinstance(called, module_type) else called
    check_call(function, arguments, named)
    traced_arguments = TraceArguments(arguments, named, dtype="float32")
    scope = Scope(
        traced_arguments.shapes, traced_arguments.is_fresh, read_assumptions(assume), check_min_size(min_size)
    )
    home = steps.home_of(function)
    real = RealTorchCalls(called, traced_arguments, scope.shapes)
    with without_fast_path():
        exploration = explore_all(
            lambda path: _run(path, called, function, traced_arguments, scope.shapes),
            scope,
            lasting=result_in_shapes,
            home=home,
            limit=max_paths,
            doubtful=DOUBTFUL_ERRORS,
        )
        exploration = confirmation.confirm(exploration, real, scope, home=home, limits=LIMITS)
    name = getattr(called, "__qualname__", type(called).__qualname__)
    return TraceReport(scope, exploration, name, traced_arguments.texts())


def _run(path: Path, called: Any, function: Any, arguments: TraceArguments, shapes: Sequence[Shape]) -> Any:
    """Return the result of the code on one path; ``function`` is the code itself, if ``called`` is a module."""
    asker, numbers = PathAsker(path), PathNumbers(path)
    run = EagerRun(asker, PathWalk(path, asker), numbers)

    def tensor(dims: Any, dtype: Any) -> Any:
        value = Value(tuple(dims), onnx_type_number(torch_dtype(dtype)))
        value.decided_by = Decider.DATA
        tensor = run.tensor(value, torch_dtype(dtype))
        tensor.is_given = True
        return tensor

    # Libraries may keep results in caches by size: hashing must not decide a size.
    path.hashes = False
    args, options = arguments.build(shapes, tensor, lambda dim: symint(dim, numbers))
    fresh = module_copy(called)
    inner = fresh.modules() if isinstance(fresh, load_torch().nn.Module) else ()
    with warnings.catch_warnings(), standing_in(function, inner), run.running():
        warnings.simplefilter("ignore")
        return fresh(*args, **options)


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Keep attention layers from fused kernels."""
    # Torch chooses them only without gradients.
    switch = load_torch().backends.mha
    before = switch.get_fastpath_enabled()
    switch.set_fastpath_enabled(False)
    try:
        yield
    finally:
        switch.set_fastpath_enabled(before)


def result_in_shapes(value: Any) -> Any:
    """Return a result in its own structure, with shapes instead of tensors and expressions instead of sizes."""
    return sizes.lasting_value(vars(value) if hasattr(value, "__dataclass_fields__") else value, _shape)


def _shape(value: Any) -> Any:
    torch = load_torch()
    if isinstance(value, torch.Tensor):
        return shape_of(tensor_dims(value))
    if isinstance(value, torch.SymInt) and isinstance(value.node, SizeNode):
        return to_sympy(value.node.dim)
    if isinstance(value, torch.SymFloat):
        return float
    return bool if isinstance(value, torch.SymBool) else value
