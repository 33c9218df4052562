"""TensorRT: optimisation profiles for trtexec, ONNX Runtime's TensorRT provider and torch_tensorrt.

A profile has a least, an optimal and a greatest shape for each input, and accepts every size between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from symbcast.answers.contracts.question import Tensor
from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxis, Request, TargetRule
from symbcast.core.structs import NamedTuple

ENDS: dict[str, Callable[[BoundedAxis], int]] = {
    "min": lambda axis: axis.sizes[0],
    "opt": lambda axis: axis.best,
    "max": lambda axis: axis.sizes[-1],
}
ELEMENT_TYPES = ("float32", "float16", "float64", "bfloat16", "int8", "uint8", "int32", "int64", "bool")
_INT32 = (1 << 31) - 1
_MOST_AXES = 8
_PLAIN = re.compile(r"[^\s,'\"`$&|;<>()*?\[\]{}~#!\\]+")

Profile: TypeAlias = "dict[str, dict[str, tuple[int, ...]]]"
"""The least, the optimal and the greatest shape of each input, by the names of `ENDS`."""


class TensorRtProfiles(NamedTuple):
    """Profiles, and the inputs that they are about."""

    tensors: Mapping[str, Tensor]
    profiles: list[Profile]


def _draft(request: Request) -> TensorRtProfiles:
    profiles = [
        {name: {end: tuple(map(at, axes)) for end, at in ENDS.items()} for name, axes in request.intervals(box).items()}
        for box in request.boxes
    ]
    return TensorRtProfiles(request.tensors, profiles)


def _shapes(draft: TensorRtProfiles) -> Iterator[tuple[str, tuple[int, ...]]]:
    for profile in draft.profiles:
        for name, ends in profile.items():
            for shape in ends.values():
                yield name, shape


def _is_unordered(draft: TensorRtProfiles) -> str:
    parts = ((name, ends) for profile in draft.profiles for name, ends in profile.items())
    return declaration.first_refused(
        f"those of {name} are {ends['min']}, {ends['opt']} and {ends['max']}"
        for name, ends in parts
        if not all(0 <= a <= b <= c for a, b, c in zip(ends["min"], ends["opt"], ends["max"], strict=True))
    )


def _is_large(draft: TensorRtProfiles) -> str:
    return declaration.first_refused(
        f"{name} can have {max(shape)}" for name, shape in _shapes(draft) if max(shape, default=0) > _INT32
    )


def _is_static(draft: TensorRtProfiles) -> str:
    axes = [tensor.axes for tensor in draft.tensors.values()]
    return "" if any(known is None or None in known for known in axes) else "all inputs are fixed"


_PROFILES: tuple[TargetRule[TensorRtProfiles], ...] = (
    TargetRule(
        "a profile has 0 <= least <= optimal <= greatest on each axis",
        "TensorRT: NvInferRuntime.h, IOptimizationProfile::setDimensions",
        _is_unordered,
        "want sizes >= 0",
    ),
    TargetRule(
        f"a tensor has at most {_MOST_AXES} axes",
        "TensorRT: NvInferRuntimeBase.h, Dims::MAX_DIMS",
        lambda draft: declaration.first_refused(f"{n} has {len(s)}" for n, s in _shapes(draft) if len(s) > _MOST_AXES),
        "reshape it inside the model",
    ),
    TargetRule(
        f"an element type is one of {', '.join(ELEMENT_TYPES)}",
        "TensorRT: NvInferRuntimeBase.h, DataType; onnx-tensorrt: docs/operators.md",
        lambda draft: declaration.first_refused(
            f"that of {name} is {tensor.element_type}"
            for name, tensor in draft.tensors.items()
            if tensor.element_type and tensor.element_type not in ELEMENT_TYPES
        ),
        "cast it in front of the model",
    ),
)
_SMALL: TargetRule[TensorRtProfiles] = TargetRule(
    f"a size is at most {_INT32}",
    "trtexec: samples/common/sampleOptions.cpp; ONNX Runtime: tensorrt_execution_provider_utils.h (std::stoi)",
    _is_large,
    "want smaller sizes",
)
TRTEXEC: tuple[TargetRule[TensorRtProfiles], ...] = (
    *_PROFILES,
    _SMALL,
    TargetRule(
        "shape options are for models with an input of open size",
        "trtexec: samples/common/sampleEngines.cpp, 'Static model does not take explicit shapes'",
        _is_static,
        "leave the options out, or open sizes first, with symbcast.onnx.free or symbcast model --free",
    ),
    TargetRule(
        "options are split at commas, and a shell reads them",
        "trtexec: samples/common/sampleOptions.cpp, getShapesBuild",
        lambda draft: declaration.first_refused(
            f"the input name {n!r} has a sign with a meaning" for n in draft.tensors if not _PLAIN.fullmatch(n)
        ),
        "rename the input",
    ),
)
PROVIDER: tuple[TargetRule[TensorRtProfiles], ...] = (
    *_PROFILES,
    _SMALL,
    TargetRule(
        "names and shapes are split at the first colon and at commas",
        "ONNX Runtime: tensorrt_execution_provider_utils.h, ParseProfileShapes",
        lambda draft: declaration.first_refused(
            f"there is an input {n!r}" for n in draft.tensors if not n or "," in n or ":" in n
        ),
        "rename the input",
    ),
    TargetRule(
        "a shape has at least one axis",
        "ONNX Runtime: tensorrt_execution_provider_utils.h, MakeInputNameShapePair",
        lambda draft: "" if any(shape for _, shape in _shapes(draft)) else "no input has one",
        "leave the options out: the provider reads the sizes from the model",
    ),
)
TORCH: tuple[TargetRule[TensorRtProfiles], ...] = _PROFILES


def _spec(profile: Profile, end: str, scalar: str = "") -> str:
    shapes = ((name, "x".join(map(str, ends[end])) or scalar) for name, ends in profile.items())
    return ",".join(f"{name}:{shape}" for name, shape in shapes if shape)


@declaration.target(
    "trtexec", "box, profiles, list", "options of TensorRT's trtexec", TRTEXEC, place=1, also=("tensorrt", "trt")
)
def trtexec(request: Request) -> str:
    """Return the options of trtexec on one line; ``--profile`` numbers the profiles if there are several."""
    draft = _draft(request)
    declaration.verify_draft(request, TRTEXEC, draft)
    parts = []
    for number, profile in enumerate(draft.profiles):
        # trtexec splits a name from its shape at the last colon, so names need no quotes: these would reach it as they
        # are where the line is read from a file, as by ``$(cat profile.txt)``.
        options = [f"--{end}Shapes={_spec(profile, end, 'scalar')}" for end in ENDS]
        parts.append(" ".join([*([f"--profile={number}"] if len(draft.profiles) > 1 else []), *options]))
    return " ".join(parts)


@declaration.target("onnxruntime-tensorrt", "box, profiles, list", "ONNX Runtime provider options", PROVIDER, place=2)
def provider_options(request: Request) -> str:
    """Return the three options of ONNX Runtime's provider as JSON; an input is repeated for each profile.

    An input without axes is left out: it has no dynamic size, and the provider does not read an empty shape.
    """
    draft = _draft(request)
    declaration.verify_draft(request, PROVIDER, draft)
    options = {f"trt_profile_{end}_shapes": ",".join(_spec(p, end) for p in draft.profiles) for end in ENDS}
    return json.dumps(options, indent=2)


@declaration.target("torch_tensorrt", "box, profiles, list", "a list of torch_tensorrt.Input", TORCH, place=3)
def torch_inputs(request: Request) -> str:
    """Return Python source: a list of ``torch_tensorrt.Input``, in the order of the inputs."""
    draft = _draft(request)
    declaration.verify_draft(request, TORCH, draft)
    lines = ["import torch", "import torch_tensorrt", "", "inputs = ["]
    for name, tensor in request.tensors.items():
        shapes = [", ".join(f"{end}_shape={shape}" for end, shape in p[name].items()) for p in draft.profiles]
        arguments = shapes[0] if len(shapes) == 1 else f"profiles=[{', '.join(f'dict({s})' for s in shapes)}]"
        kind = f", dtype=torch.{tensor.element_type}" if tensor.element_type else ""
        lines.append(f"    torch_tensorrt.Input({arguments}{kind}, name={name!r}),")
    return "\n".join([*lines, "]"])
