"""The LiteRT front end: the walk, the report, and ``symbcast.litert.check``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from symbcast.core.advice import guessed_meanings, with_advice
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import ShapeLike
from symbcast.graphs.check import FrontEnd, check_graph, read_question
from symbcast.graphs.graph import Node
from symbcast.graphs.inputs import ContentsLike, Layouts
from symbcast.graphs.report.graph_report import GraphReport
from symbcast.graphs.walking.requirements import Requirements
from symbcast.graphs.walking.walk import Walk
from symbcast.litert.call import ELEMENTS, OPERATORS, LiteRtCall
from symbcast.litert.reader import read
from symbcast.operators.values.value import FIRST, Decider, Value, decider_of_source


class LiteRtWalk(Walk):
    """A walk through one subgraph; see `symbcast.graphs.walking.walk` for what it keeps.

    Attributes:
        variables: the values of variables, by name.
    """

    def __init__(self, model: Any, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self.variables: dict[str, Value] = {}

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of an output that are not known exactly."""
        if node.op_type == "TOPK_V2" and position == 0:
            return decider_of_source(FIRST, inputs[:1])
        return decider_of_source(ELEMENTS.get(node.op_type), inputs)


class LiteRtReport(GraphReport):
    """The input sizes to which a model can be resized, every shape in it, and the requirements of each operator.

    Everything is computed on demand, and the model is never changed.
    """

    _meanings = guessed_meanings(
        'suggest suggested_resize resize resize_tensor_input -> contract(N="1..4").to("litert"), code that resizes',
        base=GraphReport._meanings,
    )


_LAYOUTS = Layouts.of(
    images="CONV_2D DEPTHWISE_CONV_2D MAX_POOL_2D AVERAGE_POOL_2D L2_POOL_2D RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR "
    "DEPTH_TO_SPACE SPACE_TO_DEPTH",
    keeping="ADD SUB MUL DIV NEG ABS RELU RELU6 PRELU LEAKY_RELU LOGISTIC TANH PAD PADV2 MIRROR_PAD CONCATENATION CAST "
    "QUANTIZE DEQUANTIZE HARD_SWISH GELU MAXIMUM MINIMUM",
)._replace(is_channels_last=True)

FRONT_END = FrontEnd(
    name="litert",
    read=read,
    operators=OPERATORS.with_files("symbcast.litert.operators"),
    report=LiteRtReport,
    runtimes={"litert": "what LiteRT's own kernels do on the CPU, after the inputs are resized to sizes below 2**31"},
    call=LiteRtCall,
    walk=LiteRtWalk,
    read_function=read,
    layouts=_LAYOUTS,
    shapes_argument="resize",
    module=__name__,
)


@with_advice
def check(  # noqa: PLR0913 - each is a fact about the model or an option of the check
    model: str | bytes | PathLike[str] | Any,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    resize: Mapping[str, ShapeLike] | None = None,
    strict: bool = False,
    signature: str | None = None,
    bind: Mapping[str, int] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    budget: float | None = None,
) -> LiteRtReport:
    """Find the input sizes to which a LiteRT model can be resized so that it runs, and every shape in it.

    ``model`` is a ``.tflite`` file, its content as bytes, or an ``Interpreter`` that was given the content; it is not
    run. ``resize`` names the sizes of inputs, also of axes that the file fixes, as ``resize_tensor_input`` does; with
    ``strict``, only axes that the file leaves open, as with its ``strict=True``. An open axis without a name is called
    ``<input>_dim_<axis>``. ``signature`` is the key of a signature; without it, the first subgraph is checked, which
    ``invoke`` runs. The other arguments are as in `symbcast.onnx.check`. "Runs" means that resizing, allocating and
    invoking succeed with LiteRT's own kernels.

    Raises `ModelError` for anything that is not a model, `BindingError` for shapes, sizes and contents that its inputs
    cannot have, `AssumptionError` for assumptions that are contradictory or mention sizes that the model does not have,
    and `MissingExtraError` without the extra ``litert``.

    For example, ``check("classifier.tflite", resize={"image": "N, H, W, 3"})``.
    """
    question = read_question(FRONT_END, assume, min_size, bind=bind, shapes=resize, values=values, budget=budget)
    return LiteRtReport(check_graph(FRONT_END, read(model, question.runtime, signature, strict), question))
