"""The table of OpenVINO's operators by type name, for all operator sets."""

from symbcast.graphs.operators.table import OperatorTable
from symbcast.openvino.node_call import OpenVinoCall

OPERATORS: OperatorTable[OpenVinoCall] = OperatorTable()
operator = OPERATORS.offer
