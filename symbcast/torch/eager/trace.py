"""``symbcast.torch.trace``: run a module or function of torch along all its paths, without an export."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.arrays.arguments import Arguments, check_call
from symbcast.arrays.report.report import TraceReport
from symbcast.core.algebra.door import to_sympy
from symbcast.core.logic.formulas import FALSE, equal
from symbcast.core.program.sizes.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.shapes import shape_of
from symbcast.core.signatures import with_advice
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import Value
from symbcast.paths.confirmation import confirmed
from symbcast.paths.places import home_of
from symbcast.paths.real_calls import Limits
from symbcast.paths.runs.exploration import MAX_PATHS, UNTOLD, explored
from symbcast.paths.values import returned
from symbcast.torch.eager.askers import PathAsker, Refused
from symbcast.torch.eager.builtin_types import standing_in
from symbcast.torch.eager.real_calls import RealCalls, copied, dtype_of
from symbcast.torch.eager.runs import EagerRun
from symbcast.torch.eager.sizes import SizeNode, symint
from symbcast.torch.eager.tensors import dims_of
from symbcast.torch.export import plain_module
from symbcast.torch.reading.element_types import number_of
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.requirements.recorder import Place
    from symbcast.paths.runs.path import Path

LIMITS = Limits(calls=80, reaches=True)
"""A call of a small module takes milliseconds."""


class PathNumbers:
    """A path, as the numbers of torch on it see it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ask, self.number, self.shown = path.ask, path.number, path.shown

    def expect(self, formula: Formula) -> None:
        """Require a formula that the code or torch checks."""
        self.path.require(formula, "the code checks it", Refused)

    def settled(self, formula: Formula) -> bool | None:
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

    def leave(self, place: Place, reason: str, is_about_data: bool = False, enough: Formula = FALSE) -> None:
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
    torch = load()
    if isinstance(called, torch.nn.Module):
        called = plain_module(called)
    function = called.forward if isinstance(called, torch.nn.Module) else called
    check_call(function, arguments, named)
    given = Arguments(arguments, named, dtype="float32")
    scope = Scope(given.shapes, given.is_fresh, read_assumptions(assume), check_min_size(min_size))

    def run(path: Path) -> Any:
        asker = PathAsker(path)
        numbers = PathNumbers(path)
        own = EagerRun(asker, PathWalk(path, asker), numbers)

        def tensor(dims: Any, dtype: Any) -> Any:
            value = Value(tuple(dims), number_of(dtype_of(dtype)))
            value.decided_by = Decider.DATA
            made = own.tensor(value, dtype_of(dtype))
            made.is_given = True
            return made

        path.hashes = False
        args, options = given.made(scope.shapes, tensor, lambda dim: symint(dim, numbers))
        fresh = copied(called)
        inner = fresh.modules() if isinstance(fresh, torch.nn.Module) else ()
        with warnings.catch_warnings(), standing_in(function, inner), own.running():
            warnings.simplefilter("ignore")
            return fresh(*args, **options)

    assumed = [a.formula for a in scope.assumptions]
    home = home_of(function)
    real = RealCalls(called, given, scope.shapes)
    with without_fast_path():
        found = explored(run, assumed, told=told, min_size=scope.min_size, home=home, limit=max_paths, untold=UNTOLD)
        found = confirmed(found, real, scope.names, assumed, min_size=scope.min_size, home=home, limits=LIMITS)
    name = getattr(called, "__qualname__", type(called).__qualname__)
    return TraceReport(scope, found, name, given.texts())


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Keep attention layers from fused kernels, which torch chooses only without gradients."""
    switch = load().backends.mha
    before = switch.get_fastpath_enabled()
    switch.set_fastpath_enabled(False)
    try:
        yield
    finally:
        switch.set_fastpath_enabled(before)


def told(value: Any) -> Any:
    """Return a result in its own structure, with shapes instead of tensors and expressions instead of sizes."""
    return returned.told(vars(value) if hasattr(value, "__dataclass_fields__") else value, _shape)


def _shape(value: Any) -> Any:
    torch = load()
    if isinstance(value, torch.Tensor):
        return shape_of(dims_of(value))
    if isinstance(value, torch.SymInt) and isinstance(value.node, SizeNode):
        return to_sympy(value.node.dim)
    if isinstance(value, torch.SymFloat):
        return float
    return bool if isinstance(value, torch.SymBool) else value
