"""The table of torch's operators, by name without the overload."""

from symbcast.graphs.operators.table import OperatorTable
from symbcast.torch.node_call import TorchCall

OPERATORS: OperatorTable[TorchCall] = OperatorTable("aten")
operator = OPERATORS.offer
