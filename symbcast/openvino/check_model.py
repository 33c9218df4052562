"""The check of a model of OpenVINO: its inputs become sizes, its nodes are walked, what they ask is put together."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from symbcast.algebra.bounds import Bounds
from symbcast.api.env import ShapeEnv
from symbcast.logic.formulas import at_most
from symbcast.onnx.check_model import check_names, learn
from symbcast.onnx.report.checked import Checked
from symbcast.onnx.requirements.condition import Conditions
from symbcast.onnx.requirements.recorder import Asker
from symbcast.openvino.inputs.models import load
from symbcast.openvino.inputs.sizes import Parameters, read_parameters
from symbcast.openvino.report import OpenVinoReport
from symbcast.openvino.walk import OpenVinoWalk
from symbcast.program.assumptions import Assumptions, check_min_size

if TYPE_CHECKING:
    import openvino

    from symbcast.logic.formulas import Formula


def check(
    model: str | PathLike[str] | openvino.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    budget: float | None = None,
) -> OpenVinoReport:
    """Say for which sizes of its inputs a model of OpenVINO runs, and what every shape in it is.

    ``model`` is a file that OpenVINO reads, such as ``model.xml``, or an ``openvino.Model``; it is not changed. A
    dynamic dimension is called ``<input>_dim_<axis>``; dimensions that share an ``openvino.Symbol`` are one size. The
    interval of a dimension, such as ``2..5``, is assumed. ``assume``, ``min_size`` and ``budget`` are as in
    `symbcast.onnx.check`. "It runs" is what an inference on the CPU does.

    Raises `ModelError` for what is no model, `AssumptionError` for assumptions that contradict each other or speak of
    sizes that the model does not have, and `MissingExtraError` without the extra ``openvino``.

    >>> import numpy as np
    >>> import openvino as ov
    >>> from openvino import opset13 as op
    >>> x = op.parameter([-1, -1, -1], np.float32, name="x")
    >>> heads = op.reshape(x, op.constant([0, 0, 8, -1]), special_zero=True)
    >>> report = check(ov.Model([heads], [x]))
    >>> report.condition, report.shapes[heads.get_friendly_name()]
    (Eq(Mod(x_dim_2, 8), 0), Shape('(x_dim_0, x_dim_1, 8, x_dim_2//8)'))
    """
    check_min_size(min_size)
    source, read = load(model)
    env = ShapeEnv(assume, on_conflict="record", budget=budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, "openvino", Bounds({}))
    walk = OpenVinoWalk(read, asker)
    parameters = read_parameters(read.graph, env)
    inputs = parameters.inputs
    asker.inputs = inputs.symbols
    texts = [a.text for a in assumptions]
    for formula, text in _assumed(parameters, min_size):
        asker.assume(formula)
        texts += [text] if text else []
    for symbol in dict.fromkeys(inputs.symbols):
        asker.bounds.learn(symbol, max(min_size, parameters.intervals[symbol].least))
    learn(asker.bounds, assumptions)
    asker.origins.update(inputs.held)
    walk.top.values.update(inputs.values)
    walk.graph(read.graph, walk.top)
    check_names(assumptions, asker)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    return OpenVinoReport(
        Checked(source, path, read, env, Conditions(env, asker), asker, walk, inputs, tuple(texts), min_size)
    )


def _assumed(parameters: Parameters, min_size: int) -> Iterator[tuple[Formula, str]]:
    """Yield what is assumed of the sizes; those that the model itself says with a text."""
    for symbol, (least, most) in parameters.intervals.items():
        if max(least, min_size):
            yield at_most(max(least, min_size), symbol), ""
        if most is not None:
            yield at_most(symbol, most), f"{least} <= {symbol.name} <= {most}"
        elif least > min_size:
            yield at_most(least, symbol), f"{symbol.name} >= {least}"
