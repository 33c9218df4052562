"""The PyTorch front end."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.front_end import FrontEnd
from symbcast.graphs.inputs.aliases import Layouts
from symbcast.graphs.values.value import Value
from symbcast.torch.eager.decomposed import decomposed
from symbcast.torch.node_call import TorchCall
from symbcast.torch.operators.families import OPERATORS, by_tag
from symbcast.torch.reading.reader import read
from symbcast.torch.report import TorchReport
from symbcast.torch.walk import TorchWalk


def tail(call: TorchCall) -> Sequence[Value]:
    """Return the outputs of an operator that has no function here.

    They are known by its tags, or by torch's decomposition of it; otherwise their sizes are unknown.
    """
    operator = by_tag(call.node.raw.target)
    if operator is not None:
        found = operator(call)
        return (found,) if isinstance(found, Value) else found
    made = decomposed(call)
    if made is not None:
        return made
    return call.unchecked(f"{call.node.op_type} is not supported here")


_LAYOUTS = Layouts.of(
    images="conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d max_pool2d "
    "max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
    "batch_norm instance_norm group_norm pixel_shuffle pixel_unshuffle",
    keeping="to _to_copy add sub rsub mul div pow sqrt neg abs clamp relu sigmoid tanh pad constant_pad_nd cat clone "
    "contiguous detach alias",
    prefix="aten.",
)

FRONT_END = FrontEnd(
    name="torch",
    read=read,
    operators=OPERATORS,
    report=TorchReport,
    runtimes={"torch": "what PyTorch does on the CPU"},
    tail=tail,
    call=TorchCall,
    walk=TorchWalk,
    layouts=_LAYOUTS,
    module=__name__,
)
