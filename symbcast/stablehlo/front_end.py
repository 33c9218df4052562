"""The StableHLO front end."""

from __future__ import annotations

from symbcast.graphs.front_end import FrontEnd
from symbcast.stablehlo.node_call import ASSERTIONS, UNASSERTED, HloCall
from symbcast.stablehlo.operators.families import OPERATORS
from symbcast.stablehlo.reader import read
from symbcast.stablehlo.report import HloReport
from symbcast.stablehlo.walk import HloWalk

FRONT_END = FrontEnd(
    name="stablehlo",
    read=read,
    operators=OPERATORS,
    report=HloReport,
    runtimes={
        "stablehlo": "StableHLO's specification and the module's assertions; integers that do not overflow",
        UNASSERTED: "StableHLO's specification without the module's assertions; integers that do not overflow",
        ASSERTIONS: "what the module's assertions say",
    },
    call=HloCall,
    walk=HloWalk,
    read_function=read,
    module=__name__,
)
