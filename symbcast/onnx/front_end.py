"""ONNX as a front end."""

from __future__ import annotations

from symbcast.graphs.check import checked, read_asked
from symbcast.graphs.front_end import FrontEnd
from symbcast.graphs.inputs.aliases import Layouts
from symbcast.onnx.declared.reaches import reaches_of
from symbcast.onnx.operators.families import OPERATORS
from symbcast.onnx.reader import read
from symbcast.onnx.report.report import ModelReport
from symbcast.onnx.tail import infer
from symbcast.onnx.walk import OnnxWalk


def _prepare() -> None:
    from onnx.parser import parse_model

    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[N] a, float[M] b) => (float[] y) { y = Add(a, b) }'
    asked = read_asked(FRONT_END)
    ModelReport(checked(FRONT_END, read(parse_model(text), asked.runtime), asked)).to_dict()


_LAYOUTS = Layouts.of(
    images="Conv ConvInteger ConvTranspose FusedConv QLinearConv MaxPool AveragePool LpPool GlobalAveragePool "
    "GlobalMaxPool BatchNormalization InstanceNormalization GroupNormalization LRN DepthToSpace SpaceToDepth",
    keeping="Identity Cast Add Sub Mul Div Pow Sqrt Neg Abs Clip Relu LeakyRelu Sigmoid HardSigmoid Tanh Pad Concat "
    "QuantizeLinear DequantizeLinear DynamicQuantizeLinear",
)

FRONT_END = FrontEnd(
    name="onnx",
    read=read,
    operators=OPERATORS,
    report=ModelReport,
    runtimes={
        "spec": "",
        "onnxruntime": "what ONNX Runtime does, where that is not what the documents say",
    },
    tail=infer,
    reaches=reaches_of,
    walk=OnnxWalk,
    layouts=_LAYOUTS,
    prepare=_prepare,
    module=__name__,
)
