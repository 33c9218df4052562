"""``symbcast.torch.check``: one question about an exported program, or a module that is to be one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.errors import ShapeTypeError
from symbcast.graphs.check import checked, read_asked
from symbcast.torch.export import by_argument, exported, names_of
from symbcast.torch.front_end import FRONT_END
from symbcast.torch.library import load
from symbcast.torch.reader import read
from symbcast.torch.report import TorchReport

if TYPE_CHECKING:
    import torch

    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.inputs.given import ContentsLike


def check(  # noqa: PLR0913 - each is something that is known, or asked
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
) -> TorchReport:
    """Say for which sizes the graph of a program of PyTorch runs, and what torch's guards make of that.

    ``program`` is what ``torch.export.export`` returned, or a file of such, ``model.pt2``. Or it is a module: then it
    is exported with ``args``, ``kwargs`` and ``dynamic_shapes``; where torch refuses these, all is left to torch
    (``Dim.AUTO``), and ``report.refusal`` has what it said. Sizes are called as the `Dim` of their axis, and
    ``<input>_dim_<axis>`` where there is none; ``dynamic_shapes`` names those of a program that was read from a file,
    which has no names. ``values`` gives integers among the arguments; the others are as in `symbcast.onnx.check`. "It
    runs" is what the graph does on the CPU.

    Raises `ModelError` for what torch does not read or export, `BindingError` for dynamic shapes of axes that there are
    not, this and `AssumptionError` as `symbcast.onnx.check` does, and `MissingExtraError` without the extra ``torch``.

    ```python
    batch, T = torch.export.Dim("batch"), torch.export.Dim("T")
    report = symbcast.torch.check(net, (torch.zeros(3, 8),), dynamic_shapes={"x": {0: batch, 1: T}})
    report.condition, report.guards.clauses, report.suggest(), report.compare()
    ```
    """
    torch = load()
    module, refusal = None, None
    if isinstance(program, torch.nn.Module) and not isinstance(program, torch.export.ExportedProgram):
        module, given = program, _arguments(args, kwargs)
        dynamic_shapes = by_argument(module, *given, dynamic_shapes)
        program, refusal = exported(module, *given, dynamic_shapes, min_size)
    called = "" if module is None else type(module).__name__
    asked = read_asked(FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, budget=budget)
    model = read(program, names=names_of(dynamic_shapes), called=called)
    return TorchReport(checked(FRONT_END, model, asked), module, refusal)


def _arguments(args: Any, kwargs: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return what a module is exported with; raises `ShapeTypeError` for a tensor in the place of a tuple of such."""
    if args is not None and not isinstance(args, (tuple, list)):
        raise ShapeTypeError(args, "a tuple of arguments", "give args=(x,), a tuple, for one of them too")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ShapeTypeError(kwargs, "a dictionary of arguments", 'give kwargs={"mask": mask}')
    return args or (), kwargs or {}
