"""The OpenVINO front end."""

from __future__ import annotations

from symbcast.graphs.front_end import FrontEnd
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.operators.families import OPERATORS
from symbcast.openvino.reaches import reaches_of
from symbcast.openvino.reader import read
from symbcast.openvino.report import OpenVinoReport
from symbcast.openvino.tail import infer
from symbcast.openvino.walk import OpenVinoWalk

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
)
