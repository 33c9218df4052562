"""What torch asks about a tensor without data: its sizes, its strides, and its only element as a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import FORMULA_KINDS, equal
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.torch.eager.nodes import UNKNOWN_REAL, Run, TruthNode
from symbcast.torch.eager.reals import RealNode
from symbcast.torch.eager.sizes import SizeNode, symint
from symbcast.torch.eager.tensors import dims_of, is_symbolic, value_of
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Place


class Asked(Protocol):
    """The run that a tensor belongs to; see `symbcast.torch.eager.runs`."""

    asker: Any
    numbers: Run
    place: Place | None


def _size(run: Asked, tensor: Any, axis: int | None = None) -> Any:
    sizes = [symint(d, run.numbers) for d in dims_of(tensor)]
    return sizes if axis is None else sizes[axis]


def _stride(run: Asked, tensor: Any, axis: int | None = None) -> Any:
    """Return the strides of contiguous memory: the layout is not followed."""
    found: list[Dim] = []
    step: Dim = 1
    for size in reversed(dims_of(tensor)):
        found.insert(0, step)
        step = multiply(step, size)
    strides = [symint(d, run.numbers) for d in found]
    return strides if axis is None else strides[axis]


def _count(run: Asked, tensor: Any) -> Any:
    return symint(multiply(*dims_of(tensor)), run.numbers)


def _number(run: Asked, tensor: Any) -> Any:
    """Return the only element of a tensor as a number that torch computes with."""
    torch = load()
    if not is_symbolic(tensor):
        return tensor.item()
    run.asker.require(run.place, equal(multiply(*dims_of(tensor)), 1), "there must be one element")
    value = value_of(tensor)
    items = value.content.items if isinstance(value.content, Elements) else ()
    known = items[0] if items else None
    if tensor.dtype == torch.bool:
        formula = known if isinstance(known, FORMULA_KINDS) else run.numbers.is_true_for_data()
        return torch.SymBool(TruthNode(formula, run.numbers))
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        return torch.SymFloat(RealNode(UNKNOWN_REAL, run.numbers))
    if is_size(known):
        return symint(known, run.numbers)
    return torch.SymInt(SizeNode(run.numbers.integer_of_data(), run.numbers))


def _is_true(run: Asked, tensor: Any) -> bool:
    return bool(_number(run, tensor))


def _equal(run: Asked, left: Any, right: Any, *rest: Any, **options: Any) -> Any:
    return run.numbers.ask(run.numbers.is_true_for_data())


ABOUT: dict[str, Callable[..., Any]] = {
    "aten.sym_size": _size,
    "aten.size": _size,
    "aten.sym_stride": _stride,
    "aten.stride": _stride,
    "aten.sym_numel": _count,
    "aten.numel": _count,
    "aten.dim": lambda run, tensor: len(dims_of(tensor)),
    "aten.is_contiguous": lambda run, tensor, *rest, **options: True,
    "aten.is_non_overlapping_and_dense": lambda run, tensor: True,
    "aten.is_strides_like_format": lambda run, tensor, *rest: False,
    "aten.sym_storage_offset": lambda run, tensor: 0,
    "aten.storage_offset": lambda run, tensor: 0,
    "aten.item": _number,
    "aten._local_scalar_dense": _number,
    "aten.is_nonzero": _is_true,
    "aten.equal": _equal,
    "aten.allclose": _equal,
    "prim.device": lambda run, tensor: load().device("cpu"),
    "prim.layout": lambda run, tensor: load().strided,
}
"""What torch asks about tensors, by operator."""
