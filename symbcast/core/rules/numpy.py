"""The rule of NumPy, which ONNX's multidirectional and OpenVINO's numpy broadcasting share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symbcast.core.rules.broadcast_rule import Join, Rule
from symbcast.core.rules.declaration import Alias
from symbcast.core.rules.placement import AtRight
from symbcast.core.rules.registry import rule


@rule
class Numpy(Rule):
    """Shapes are aligned at the right, a missing size is 1, and the join on every axis must be defined.

    Under its own name it also accepts no operands, as NumPy does; under another name, as many as its `Alias` allows.

    >>> Numpy().emit([("N", 3), (2, 1, 3)]).output
    (2, ('N', 1), (3, 3))
    """

    name: ClassVar[str] = "numpy"
    family: ClassVar[str] = "numpy"
    aliases: ClassVar[tuple[str | Alias, ...]] = (
        Alias("onnx", "ONNX Broadcasting.md"),
        Alias("onnx-multidirectional", "ONNX Broadcasting.md"),
        Alias("openvino-numpy", "OpenVINO broadcast_rules"),
        Alias("torch", "torch.broadcast_shapes", least=0),
        Alias("jax", "jax.numpy.broadcast_shapes", least=0),
        Alias("tensorflow", "tf.broadcast_static_shape", least=2, most=2),
    )
    summary: ClassVar[str] = "right-aligned; on each axis the sizes are equal or 1; any number of operands"
    document: ClassVar[str] = "NumPy user guide, Broadcasting"
    variadic: ClassVar[bool] = True
    placement = AtRight()
    law = Join()

    def concrete(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the joins of integers without making constraints, since this is the most frequent question."""
        if len(shapes) != 2:
            return _join_sizes(shapes)
        long, short = shapes
        if len(long) < len(short):
            long, short = short, long
        axis = len(long) - len(short)
        output = list(long)
        for size in short:
            if size != 1:
                before = output[axis]
                if before == 1:
                    output[axis] = size
                elif before != size:
                    return None
            axis += 1
        return tuple(output)


def _join_sizes(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    rank = max(map(len, shapes), default=0)
    output = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size not in (1, output[axis]):
                if output[axis] != 1:
                    return None
                output[axis] = size
    return tuple(output)
