"""The check of a model of OpenVINO: its inputs become sizes, its nodes are walked, what they ask is put together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from symbcast.algebra.bounds import Bounds
from symbcast.api.env import ShapeEnv
from symbcast.logic.formulas import at_most
from symbcast.onnx.check_model import Walked, check_names, learn, repeated
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

    from symbcast.openvino.graph import Model


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
    >>> report.condition, *report.outputs.values()
    (Eq(Mod(x_dim_2, 8), 0), Shape('(x_dim_0, x_dim_1, 8, x_dim_2//8)'))
    """
    check_min_size(min_size)
    source, read = load(model)
    found = repeated(partial(_walked, _Question(read, assume, min_size, budget)))
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    env, asker, inputs = found.env, found.asker, found.inputs
    texts = (*(a.text for a in found.assumptions), *_said(read_parameters(read.graph, ShapeEnv()), min_size))
    conditions = Conditions(env, asker)
    return OpenVinoReport(Checked(source, path, read, env, conditions, asker, found.walk, inputs, texts, min_size))


class _Question(NamedTuple):
    """A model, and what is asked about it."""

    model: Model
    assume: Assumptions
    min_size: int
    budget: float | None


def _walked(question: _Question, before: Asker | None) -> Walked:
    """Walk through a model, knowing of its inputs what an earlier walk learned."""
    graph, min_size = question.model.graph, question.min_size
    env = ShapeEnv(question.assume, on_conflict="record", budget=question.budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, "openvino", Bounds({}))
    walk = OpenVinoWalk(question.model, asker)
    inputs, intervals = read_parameters(graph, env)
    for symbol, (least, most) in intervals.items():
        asker.bounds.learn(symbol, max(min_size, least))
        if max(min_size, least):
            asker.assume(at_most(max(min_size, least), symbol))
        if most is not None:
            asker.assume(at_most(symbol, most))
    learn(asker.bounds, assumptions)
    asker.start(inputs.symbols, inputs.held, before)
    walk.top.values.update(inputs.values)
    walk.graph(graph, walk.top)
    asker.restate_all()
    check_names(assumptions, asker)
    return Walked(env, asker, walk, inputs, assumptions)


def _said(parameters: Parameters, min_size: int) -> Iterator[str]:
    """Yield what the model itself says of its sizes."""
    for symbol, (least, most) in parameters.intervals.items():
        if most is not None:
            yield f"{least} <= {symbol.name} <= {most}"
        elif least > min_size:
            yield f"{symbol.name} >= {least}"
