"""The check of a model of OpenVINO: its inputs become sizes, its nodes are walked, what they ask is put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.public.env import ShapeEnv
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.logic.formulas import at_most
from symbcast.core.program.sizes.assumptions import Assumption, Assumptions, check_min_size, read_assumptions
from symbcast.onnx.check_model import Walked, environment, repeated, sized, walked_through
from symbcast.onnx.inputs.given import ContentsLike, Given, read_given
from symbcast.onnx.report.checked import Checked
from symbcast.onnx.requirements.condition import Conditions
from symbcast.onnx.requirements.recorder import Asker
from symbcast.onnx.validity.models import Examined
from symbcast.openvino.inputs.models import load
from symbcast.openvino.inputs.sizes import Interval, read_parameters
from symbcast.openvino.report import OpenVinoReport
from symbcast.openvino.walk import OpenVinoWalk

if TYPE_CHECKING:
    import openvino

    from symbcast.core.shapes import ShapeLike
    from symbcast.openvino.graph import Model


def check(  # noqa: PLR0913 - each is something that is known, or asked
    model: str | PathLike[str] | openvino.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    budget: float | None = None,
) -> OpenVinoReport:
    """Say for which sizes of its inputs a model of OpenVINO runs, and what every shape in it is.

    ``model`` is a file that OpenVINO reads, such as ``model.xml``, or an ``openvino.Model``; it is not changed. A
    dynamic dimension is called ``<input>_dim_<axis>``; dimensions that share an ``openvino.Symbol`` are one size. The
    interval of a dimension, such as ``2..5``, is assumed. The other arguments are as in `symbcast.onnx.check`. "It
    runs" is what an inference on the CPU does.

    Raises `ModelError` for what is no model, `BindingError` for shapes, sizes and contents that its inputs cannot have,
    `AssumptionError` for assumptions that contradict each other or speak of sizes that the model does not have, and
    `MissingExtraError` without the extra ``openvino``.

    >>> import numpy as np
    >>> import openvino as ov
    >>> from openvino import opset13 as op
    >>> x = op.parameter([-1, -1, -1], np.float32, name="x")
    >>> heads = ov.Model([op.reshape(x, op.constant([0, 0, 8, -1]), special_zero=True)], [x])
    >>> report = check(heads)
    >>> report.condition, *report.outputs.values()
    (Eq(Mod(x_dim_2, 8), 0), Shape('(x_dim_0, x_dim_1, 8, x_dim_2//8)'))
    >>> report = check(heads, shapes={"x": "batch, T, 64"})
    >>> report.verdict.value, *report.outputs.values()
    ('always', Shape('(batch, T, 8, 8)'))
    """
    check_min_size(min_size)
    given = read_given(bind, shapes, values, min_size)
    source, read = load(model)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    question = _Question(source, path, read, tuple(read_assumptions(assume)), min_size, budget)
    return OpenVinoReport(_checked(question, given))


class _Question(NamedTuple):
    """A model, and what is asked about it."""

    source: str
    path: Path | None
    model: Model
    assume: tuple[Assumption, ...]
    min_size: int
    budget: float | None


def _checked(question: _Question, given: Given) -> Checked:
    """Return a model that was walked through, given what a caller knows of its inputs."""
    found = repeated(partial(_walked, question, given))
    model, min_size = question.model, question.min_size
    own = _said(read_parameters(model.graph, ShapeEnv()).intervals, min_size)
    texts = (*(a.text for a in found.assumptions), *own, *given.texts())
    env, asker = found.env, found.asker
    return Checked(
        question.source,
        question.path,
        model,
        env,
        Conditions(env, asker),
        asker,
        found.walk,
        found.inputs,
        texts,
        min_size,
        given,
        partial(_checked, question),
    )


def _walked(question: _Question, given: Given, before: Asker | None) -> Walked:
    """Walk through a model, knowing of its inputs what an earlier walk learned."""
    graph = question.model.graph
    env = environment(question.assume, question.budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, "openvino", Bounds({}))
    walk = OpenVinoWalk(Examined(question.model, {}, {}, inner=0), asker)
    inputs, intervals = read_parameters(graph, env, given, are_open=question.min_size <= 1)
    sized(asker, inputs, question.min_size)
    for size, least, most in intervals:
        asker.assume(at_most(least, size))
        if most is not None:
            asker.assume(at_most(size, most))
    return walked_through(Walked(env, asker, walk, inputs, assumptions), graph, before)


def _said(intervals: Iterable[Interval], min_size: int) -> Iterator[str]:
    """Yield what the model itself says of its sizes."""
    for size, least, most in intervals:
        if most is not None:
            yield f"{least} <= {size} <= {most}"
        elif least > min_size:
            yield f"{size} >= {least}"
