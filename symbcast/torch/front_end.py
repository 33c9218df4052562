"""The PyTorch front end, and ``symbcast.torch.check``: check an exported program, or export a module and check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from symbcast.core.advice import with_advice
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import ShapeLike
from symbcast.errors import ShapeTypeError
from symbcast.graphs.check import FrontEnd, check_graph, read_question
from symbcast.graphs.inputs import ContentsLike, Layouts
from symbcast.operators.values.value import Value
from symbcast.torch.calls import OPERATORS, TorchCall
from symbcast.torch.eager.runs import decomposed
from symbcast.torch.export import by_argument, exported, gathered_name, plain_module
from symbcast.torch.library import load_torch
from symbcast.torch.operators.elementwise import by_tag
from symbcast.torch.reader import read
from symbcast.torch.report import TorchReport
from symbcast.torch.walk import TorchWalk

if TYPE_CHECKING:
    import torch


def tail(call: TorchCall) -> Sequence[Value]:
    """Return the outputs of an operator that has no function here.

    They are known by its tags, or by torch's decomposition of it; otherwise their sizes are unknown.
    """
    operator = by_tag(call.node.raw.target)
    if operator is not None:
        outputs = operator(call)
        return (outputs,) if isinstance(outputs, Value) else outputs
    outputs_of_parts = decomposed(call)
    if outputs_of_parts is not None:
        return outputs_of_parts
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


@with_advice
def check(  # noqa: PLR0913 - each is a fact about the program or an option of the check
    program: str | PathLike[str] | torch.export.ExportedProgram | torch.nn.Module,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    assume: Assumptions = (),
    min_size: int = 1,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    budget: float | None = None,
    device: str = "cpu",
) -> TorchReport:
    """Find the sizes at which the graph of a PyTorch program runs, and compare them with torch's guards.

    ``program`` is an exported program, the path of a saved one (``model.pt2``), or a module. A module is exported with
    ``args``, ``kwargs`` and ``dynamic_shapes``; if torch refuses these, it is exported again with ``Dim.AUTO`` for
    every axis, and ``report.refusal`` holds torch's message. A size has the name of its axis's `Dim`, or
    ``<input>_dim_<axis>`` without one. A saved program has no names: ``dynamic_shapes`` supplies them. ``values`` sets
    integer arguments; the other parameters are as in `symbcast.onnx.check`. "Runs" means that the graph runs on the
    CPU. With ``device="cuda"``, the report also has the nodes whose kernels on CUDA do otherwise, and at which sizes.

    Raises `ModelError` if torch cannot read or export the program, `BindingError` for dynamic shapes of axes that do
    not exist, `BindingError` and `AssumptionError` in the same cases as `symbcast.onnx.check`, and `MissingExtraError`
    without the extra ``torch``.

    ```python
    batch, T = torch.export.Dim("batch"), torch.export.Dim("T")
    report = symbcast.torch.check(net, (torch.zeros(3, 8),), dynamic_shapes={"x": {0: batch, 1: T}})
    report.condition, report.guards.clauses, report.suggest(), report.compare()
    ```
    """
    torch = load_torch()
    if device not in ("cpu", "cuda"):
        raise ShapeTypeError(device, "a device", "write 'cpu' or 'cuda'")
    module, refusal = None, None
    if isinstance(program, torch.nn.Module) and not isinstance(program, torch.export.ExportedProgram):
        module, arguments = plain_module(program), _arguments(args, kwargs)
        dynamic_shapes = by_argument(module, *arguments, dynamic_shapes)
        program, refusal = exported(module, *arguments, dynamic_shapes, min_size)
    called = "" if module is None else type(module).__name__
    question = read_question(FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, budget=budget)
    gathered = None if module is None else gathered_name(module)
    model = read(program, dynamic_shapes=dynamic_shapes, called=called, gathered=gathered)
    return TorchReport(check_graph(FRONT_END, model, question), module, refusal, device)


def _arguments(args: Any, kwargs: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return the export arguments; raises `ShapeTypeError` if a tensor is given instead of a tuple of tensors."""
    if args is not None and not isinstance(args, (tuple, list)):
        raise ShapeTypeError(args, "a tuple of arguments", "give a tuple even for one argument: args=(x,)")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ShapeTypeError(kwargs, "a dictionary of arguments", 'give kwargs={"mask": mask}')
    return args or (), kwargs or {}
