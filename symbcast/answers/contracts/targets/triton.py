"""Triton Inference Server: a ``config.pbtxt`` with the inputs, the outputs and the greatest batch.

A dimension is a number or -1, which stands for any size. So a range can be written only for the batch (from 1 to
``max_batch_size``), and -1 only if every size works.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from symbcast.answers.contracts.search.space import decision_in
from symbcast.core.logic.formulas import negate
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.contracts.inputs import Tensor
    from symbcast.answers.contracts.targets.request import Axes, Axis, Request

_TYPES = {
    "float32": "FP32",
    "uint8": "UINT8",
    "int8": "INT8",
    "uint16": "UINT16",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "string": "STRING",
    "bool": "BOOL",
    "float16": "FP16",
    "float64": "FP64",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "bfloat16": "BF16",
}
_ANY = range(1, (1 << 31) + 1)


def config(request: Request) -> str:
    """Return a ``config.pbtxt`` for the only box of a contract."""
    axes = request.axes(request.box("write a model for each box, with a configuration each"))
    batch = _batch(axes)
    _check(request, axes, batch)
    blocks = [_block("input", n, request.tensors[n], _dims(a, batch)) for n, a in axes.items()]
    for name, tensor in request.question.outputs.items():
        if tensor.shape is not None and tensor.shape.rank is not None:
            dims = [d if isinstance(d, int) else -1 for d in tensor.shape.dims]
            blocks.append(_block("output", name, tensor, dims[1:] if batch else dims))
    most = 0 if batch is None else next(a[0].sizes[-1] for a in axes.values())
    return "\n".join([f"max_batch_size: {most}", *blocks])


def _batch(axes: Axes) -> str | None:
    """Return the size that is the first axis of every input and starts at 1: the batch; None if there is none."""
    first = {a[0] if a else None for a in axes.values()}
    axis = first.pop() if len(first) == 1 else None
    is_batch = axis is not None and axis.name and axis.sizes[0] == 1 and axis.sizes.step == 1
    others = (a for shape in axes.values() for a in shape[1:])
    return axis.name if axis is not None and is_batch and all(a.name != axis.name for a in others) else None


def _dims(axes: tuple[Axis, ...], batch: str | None) -> list[int]:
    return [a.sizes[0] if a.is_fixed else -1 for a in axes[1 if batch else 0 :]]


def _check(request: Request, axes: Axes, batch: str | None) -> None:
    """Raise `TargetError` unless every size works on the axes for which -1 is written."""
    free = {a.name for shape in axes.values() for a in shape if not a.is_fixed and a.name != batch}
    if not free:
        return
    question, box = request.question, request.boxes[0]
    ranges = {s: _ANY if name in free else box[name] for s, name in question.names.items()}
    decision = decision_in(ranges, [negate(question.formula)])
    if decision is not None and decision.satisfiable is not False and decision.verdict is not Verdict.NEVER:
        found = decision.witness() or {}
        at = ", ".join(f"{question.names[s]}={n}" for s, n in found.items() if question.names[s] in free)
        raise request.refused(
            f"its dimensions are a number or -1 for any size, and not every size of {' and '.join(sorted(free))} works"
            f"{f' ({at} fails)' if at else ''}",
            "fix these sizes, or check requests before they reach the model",
            "box",
            fixed=sorted(free),
        )


def _block(kind: str, name: str, tensor: Tensor, dims: Iterable[int]) -> str:
    told = f"  data_type: TYPE_{_TYPES[tensor.element_type]}\n" if tensor.element_type in _TYPES else ""
    return f"{kind} {{\n  name: {json.dumps(name)}\n{told}  dims: [{', '.join(map(str, dims))}]\n}}"
