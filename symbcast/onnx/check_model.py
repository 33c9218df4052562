"""Define ``symbcast.onnx.check``, which answers one question about a model."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING

from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.signatures import with_advice
from symbcast.graphs.check import checked, read_asked
from symbcast.onnx.front_end import FRONT_END
from symbcast.onnx.reader import read
from symbcast.onnx.report.report import ModelReport

if TYPE_CHECKING:
    import onnx
    import onnx_ir

    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.inputs.given import ContentsLike
    from symbcast.onnx.validity.opsets import Runtime


@with_advice
def check(  # noqa: PLR0913 - each is something that is known, or asked
    model: str | PathLike[str] | onnx.ModelProto | onnx_ir.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: Runtime = "spec",
    budget: float | None = None,
) -> ModelReport:
    """Find the input sizes at which a model runs, and the shape of every value in it.

    ``model`` is a file, a ``ModelProto`` or an ``onnx_ir.Model``; it is not changed, and weights in other files are not
    read. Sizes have the model's names, or ``<input>_dim_<axis>`` where it has none; ``assume`` lists relations between
    them, and ``min_size`` is the lower bound of each. ``runtime="onnxruntime"`` follows ONNX Runtime where it differs
    from the operators' specification. ``budget`` limits the walk and each question to that number of
    seconds: then shapes and conditions found so far are returned, later nodes are in `unanalysed`, and the verdict is
    UNKNOWN.

    An input of unknown rank is a sequence of axes with the input's name, used as ``rank(x)`` and ``x[-1]``.

    ``bind`` fixes sizes by name; ``shapes`` names or fixes the sizes of inputs; ``values`` gives the contents of
    integer inputs, as numbers and expressions in sizes: ``{"steps": [4, "N//2"]}``. All three are assumed to be true
    without a check.

    Raises `ModelError` if the model is malformed or not a model, `BindingError` if its inputs cannot have the given
    shapes, sizes or contents, `AssumptionError` if assumptions contradict each other or mention sizes that the model
    does not have, and `MissingExtraError` without the extra ``onnx``.

    >>> import onnx
    >>> heads = '''<ir_version: 9, opset_import: ["" : 18]>
    ... heads (float[N, T, D] x) => (float[N, T, 8, d] y) <int64[4] wanted = {0, 0, 8, -1}> {
    ...     y = Reshape(x, wanted)
    ... }'''
    >>> report = check(onnx.parser.parse_model(heads))
    >>> report.condition, report.shapes["y"]
    (Condition('D % 8 == 0'), Shape('(N, T, 8, D//8)'))
    >>> report = check(onnx.parser.parse_model(heads), shapes={"x": "batch, 2*k, 64"})
    >>> report.verdict.value, report.shapes["y"]
    ('always', Shape('(batch, 2*k, 8, 8)'))
    """
    asked = read_asked(
        FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime, budget=budget
    )
    return ModelReport(checked(FRONT_END, read(model, runtime), asked))
