"""``symbcast.openvino.check``: check an OpenVINO model."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING

from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.signatures import with_advice
from symbcast.graphs.check import checked, read_asked
from symbcast.openvino.front_end import FRONT_END
from symbcast.openvino.reader import read
from symbcast.openvino.report import OpenVinoReport

if TYPE_CHECKING:
    import openvino

    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.inputs.given import ContentsLike


@with_advice
def check(  # noqa: PLR0913 - each is a fact about the model or an option of the check
    model: str | PathLike[str] | openvino.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    budget: float | None = None,
) -> OpenVinoReport:
    """Find the input sizes at which an OpenVINO model runs, and every shape in it.

    ``model`` is a file that OpenVINO reads, such as ``model.xml``, or an ``openvino.Model``; it is not changed. A
    dynamic dimension is named ``<input>_dim_<axis>``; dimensions that share an ``openvino.Symbol`` are one size. The
    interval of a dimension, such as ``2..5``, is assumed. The other arguments are as in `symbcast.onnx.check`.
    "Runs" means that inference on the CPU succeeds.

    Raises `ModelError` for anything that is not a model, `BindingError` for shapes, sizes and contents that its inputs
    cannot have, `AssumptionError` for assumptions that are contradictory or mention sizes that the model does not have,
    and `MissingExtraError` without the extra ``openvino``.

    >>> import numpy as np
    >>> import openvino as ov
    >>> from openvino import opset13 as op
    >>> x = op.parameter([-1, -1, -1], np.float32, name="x")
    >>> heads = ov.Model([op.reshape(x, op.constant([0, 0, 8, -1]), special_zero=True)], [x])
    >>> report = check(heads)
    >>> report.condition, *report.outputs.values()
    (Condition('x_dim_2 % 8 == 0'), Shape('(x_dim_0, x_dim_1, 8, x_dim_2//8)'))
    >>> report = check(heads, shapes={"x": "batch, T, 64"})
    >>> report.verdict.value, *report.outputs.values()
    ('always', Shape('(batch, T, 8, 8)'))
    """
    asked = read_asked(FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, budget=budget)
    return OpenVinoReport(checked(FRONT_END, read(model, asked.runtime), asked))
