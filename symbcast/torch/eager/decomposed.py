"""Nodes without a rule, analysed by torch's own decomposition of their operator.

A decomposition may check less than the kernel does, so only those are trusted that agree with recorded runs at small
sizes (`tests/exported/test_decompositions.py`). One that compares sizes is followed only if the comparison is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.solver.evaluation.evaluation import value_at
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import RefusedError, UnknownShapeError
from symbcast.torch.eager.runs import EagerRun
from symbcast.torch.eager.sizes import dim_of, symint
from symbcast.torch.eager.tensors import is_symbolic, value_of
from symbcast.torch.node_call import scalar, size_of
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.torch.node_call import TorchCall

TRUSTED: frozenset[str] = frozenset({
    "_euclidean_dist", "addr", "fliplr", "flipud", "log_sigmoid_forward", "mH",
    "mse_loss_backward", "multi_margin_loss", "multilabel_margin_loss_forward",
    "special_logsumexp", "tril_indices", "triu_indices", "unfold_copy",
})  # fmt: skip
"""The operators whose decompositions run where their kernels run, and give the same shapes."""

_AT_HAND = 2
"""The number for a size that the exported example does not have."""


class _Numbers:
    """The sizes of a graph, as the numbers of torch in a decomposition see them: nothing is decided there."""

    def __init__(self, call: TorchCall, hints: Mapping[Symbol, int]) -> None:
        self._call, self._hints = call, hints

    def ask(self, formula: Formula) -> bool:
        found = self._call.is_known(formula)
        if found is None:
            self.give_up("its decomposition depends on a comparison of sizes")
        return found

    def expect(self, formula: Formula) -> None:
        self._call.require(formula, "torch checks it")

    def number(self, dim: Dim) -> int:
        return dim if isinstance(dim, int) else self.give_up("its decomposition needs a size as a number")

    def shown(self, dim: Dim) -> int:
        from symbcast.core.algebra.terms import symbols_of

        at = {s: self._hints.get(s, _AT_HAND) for s in symbols_of((dim,))}
        found = value_at(dim, at)
        return _AT_HAND if found is None else found

    def settled(self, formula: Formula) -> bool | None:
        return self._call.is_known(formula)

    def is_true_for_data(self) -> Formula:
        self.give_up("its decomposition depends on data")

    def integer_of_data(self) -> Dim:
        self.give_up("its decomposition depends on data")

    def give_up(self, reason: str) -> NoReturn:
        raise UnknownShapeError(reason)


def decomposed(call: TorchCall) -> Sequence[Value] | None:
    """Return the outputs of a node by its operator's decomposition; None if that is not trusted."""
    target = call.node.raw.target
    if call.node.op_type.removeprefix("aten.") not in TRUSTED or not hasattr(target, "_schema"):
        return None
    numbers = _Numbers(call, getattr(call.walk, "hints", {}))
    run = EagerRun(call.asker, call.walk, numbers, call.place)
    args, kwargs = _arguments(call, run, numbers)
    try:
        with run.running() as mode:
            found = run.decomposed(target, args, kwargs, mode)
    except (RefusedError, UnknownShapeError):
        raise
    except Exception as error:
        raise UnknownShapeError(f"its decomposition failed: {str(error).partition(chr(10))[0][:120]}") from None
    listed = found if isinstance(found, (tuple, list)) else [found]
    return [_value(one) for one in listed]


def _arguments(call: TorchCall, run: EagerRun, numbers: _Numbers) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments that the node has, by position as far as torch takes them so."""
    fx = call.node.raw
    schema = fx.target._schema.arguments
    written = {a.name for a in schema[: len(fx.args)]} | fx.kwargs.keys()
    made = {
        a.name: _made(call.arguments.get(a.name), _dtypes(call, a.name), run, numbers)
        for a in schema
        if a.name in written
    }
    last = max((n for n, a in enumerate(schema) if a.name in written and not a.kwarg_only), default=-1)
    args = [made.get(a.name, a.default_value if a.has_default_value() else None) for a in schema[: last + 1]]
    return args, {a.name: made[a.name] for a in schema[last + 1 :] if a.name in written}


def _dtypes(call: TorchCall, name: str) -> list[Any]:
    """Return the element types of the tensors of an argument, in order."""
    from symbcast.torch.node_call import raw_argument

    given = raw_argument(call, name)
    listed = given if isinstance(given, (list, tuple)) else [given]
    return [getattr(getattr(v, "meta", {}).get("val"), "dtype", None) for v in listed]


def _made(value: Any, dtypes: list[Any], run: EagerRun, numbers: _Numbers) -> Any:
    if isinstance(value, list):
        return [_made(v, [t], run, numbers) for v, t in zip(value, dtypes, strict=False)]
    if not isinstance(value, Value):
        return value
    dtype = dtypes[0]
    if dtype is None:  # an integer that the graph computes
        size = size_of(value)
        if size is None:
            raise UnknownShapeError
        return symint(size, numbers)
    if value.shape is None:
        raise UnknownShapeError
    return run.tensor(value.copy(), dtype)


def _value(one: Any) -> Value:
    if is_symbolic(one) or isinstance(one, load().Tensor):
        return value_of(one)
    size = dim_of(one)
    return scalar(size) if size is not None else Value(None)
