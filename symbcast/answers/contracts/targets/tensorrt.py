"""TensorRT: optimisation profiles for trtexec, ONNX Runtime's TensorRT provider and torch_tensorrt.

A profile has a least, an optimal and a greatest shape for each input, and accepts every size between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Axes, Axis, Request

ENDS: dict[str, Callable[[Axis], int]] = {
    "min": lambda axis: axis.sizes[0],
    "opt": lambda axis: axis.best,
    "max": lambda axis: axis.sizes[-1],
}
_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")


def _profiles(request: Request) -> Iterator[Axes]:
    for box in request.boxes:
        yield request.intervals(box)


def _shape(axes: tuple[Axis, ...], end: str) -> tuple[int, ...]:
    return tuple(ENDS[end](axis) for axis in axes)


def _spec(profile: Axes, end: str, spell: Callable[[str], str]) -> str:
    return ",".join(f"{spell(name)}:{'x'.join(map(str, _shape(axes, end)))}" for name, axes in profile.items())


def trtexec(request: Request) -> str:
    """Return the options of trtexec: a line for each profile, which ``--profile`` numbers if there are several."""
    lines = []
    profiles = list(_profiles(request))
    for number, profile in enumerate(profiles):
        options = [f"--{end}Shapes={_spec(profile, end, _escaped)}" for end in ENDS]
        lines.append(" ".join([*([f"--profile={number}"] if len(profiles) > 1 else []), *options]))
    return " \\\n".join(lines)


def _escaped(name: str) -> str:
    """Return a name as trtexec reads it: one with ``:`` or other signs in escaped quotes."""
    return name if _PLAIN.fullmatch(name) else f"\\'{name}\\'"


def provider_options(request: Request) -> str:
    """Return the three options of ONNX Runtime's provider as JSON; an input is repeated for each profile."""

    def spell(name: str) -> str:
        if "," in name or ":" in name:
            raise TargetError(request.target, f"it has no way to write the input name {name!r}", "rename the input")
        return name

    profiles = list(_profiles(request))
    options = {f"trt_profile_{end}_shapes": ",".join(_spec(p, end, spell) for p in profiles) for end in ENDS}
    return json.dumps(options, indent=2)


def torch_inputs(request: Request) -> str:
    """Return Python source: a list of ``torch_tensorrt.Input``, in the order of the inputs."""
    profiles = list(_profiles(request))
    lines = ["import torch", "import torch_tensorrt", "", "inputs = ["]
    for name, tensor in request.tensors.items():
        shapes = [", ".join(f"{k}_shape={_shape(p[name], k)}" for k in ENDS) for p in profiles]
        told = shapes[0] if len(shapes) == 1 else f"profiles=[{', '.join(f'dict({s})' for s in shapes)}]"
        kind = f", dtype=torch.{tensor.element_type}" if tensor.element_type else ""
        lines.append(f"    torch_tensorrt.Input({told}{kind}, name={name!r}),")
    return "\n".join([*lines, "]"])
