"""The PyTorch front end."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.front_end import FrontEnd
from symbcast.graphs.values.value import Value
from symbcast.torch.node_call import TorchCall
from symbcast.torch.operators.families import OPERATORS, by_tag
from symbcast.torch.reading.reader import read
from symbcast.torch.report import TorchReport
from symbcast.torch.walk import TorchWalk


def tail(call: TorchCall) -> Sequence[Value]:
    """Return the outputs of an operator that has no function here: by its tags, or as torch recorded them."""
    operator = by_tag(call.node.raw.target)
    if operator is not None:
        found = operator(call)
        return (found,) if isinstance(found, Value) else found
    call.note(f"{call.node.op_type} is not supported here: its shape is as torch recorded it")
    return call.recorded()


FRONT_END = FrontEnd(
    name="torch",
    read=read,
    operators=OPERATORS,
    report=TorchReport,
    runtimes={"torch": "what PyTorch does on the CPU"},
    tail=tail,
    call=TorchCall,
    walk=TorchWalk,
)
