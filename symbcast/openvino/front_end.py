"""The OpenVINO front end."""

from __future__ import annotations

from symbcast.graphs.front_end import FrontEnd
from symbcast.graphs.inputs.aliases import Layouts
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.operators.families import OPERATORS
from symbcast.openvino.reaches import reaches_of
from symbcast.openvino.reader import read
from symbcast.openvino.report import OpenVinoReport
from symbcast.openvino.tail import infer
from symbcast.openvino.walk import OpenVinoWalk

_LAYOUTS = Layouts.of(
    images="Convolution GroupConvolution BinaryConvolution ConvolutionBackpropData GroupConvolutionBackpropData "
    "MaxPool AvgPool BatchNormInference LRN DepthToSpace SpaceToDepth",
    keeping="Convert Add Subtract Multiply Divide Power Sqrt Negative Abs Clamp Relu PRelu Sigmoid Tanh Pad Concat "
    "FakeQuantize",
)

FRONT_END = FrontEnd(
    name="openvino",
    read=read,
    operators=OPERATORS,
    report=OpenVinoReport,
    runtimes={"openvino": "what OpenVINO does on the CPU"},
    tail=infer,
    reaches=reaches_of,
    call=OpenVinoCall,
    walk=OpenVinoWalk,
    layouts=_LAYOUTS,
    module=__name__,
)
