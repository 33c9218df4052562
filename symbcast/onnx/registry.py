"""The table of ONNX operators; those that ONNX Runtime adds have their own domains."""

from symbcast.graphs.operators.table import OperatorTable
from symbcast.graphs.walking.node_call import NodeCall

MICROSOFT = "com.microsoft"
"""The domain of the operators that ONNX Runtime adds, and that its optimiser puts into models."""

OPERATORS: OperatorTable[NodeCall] = OperatorTable()
operator = OPERATORS.offer
