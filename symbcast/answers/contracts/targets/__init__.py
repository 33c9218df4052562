"""Writers of contracts for servers and compilers: the table of targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from symbcast.answers.contracts.targets import (
    coreml,
    jax_export,
    mlir_bounds,
    onnx_runtime,
    open_vino,
    own_json,
    tensorrt,
    torch_export,
    triton,
    webnn,
)
from symbcast.answers.contracts.targets.request import Request
from symbcast.core.characters import closest
from symbcast.errors import TargetError


class Target(NamedTuple):
    """A target: its writer, the forms that it can express, and what it writes."""

    write: Callable[[Request], str]
    forms: str
    text: str


TARGETS: dict[str, Target] = {
    "trtexec": Target(tensorrt.trtexec, "box, profiles, list", "options of TensorRT's trtexec"),
    "onnxruntime-tensorrt": Target(tensorrt.provider_options, "box, profiles, list", "ONNX Runtime provider options"),
    "torch_tensorrt": Target(tensorrt.torch_inputs, "box, profiles, list", "a list of torch_tensorrt.Input"),
    "triton": Target(triton.config, "box, list of one", "a config.pbtxt of Triton Inference Server"),
    "coreml": Target(coreml.inputs, "box, list", "a list of coremltools.TensorType"),
    "openvino": Target(open_vino.shapes, "box, list of one", "partial shapes for Model.reshape, as JSON"),
    "onnxruntime": Target(onnx_runtime.overrides, "list of one", "free dimension overrides, as JSON"),
    "webnn": Target(webnn.descriptors, "box, list of one", "WebNN descriptors of inputs with bounded dimensions"),
    "torch": Target(torch_export.dynamic_shapes, "box, steps, derived, list of one", "dynamic_shapes of torch.export"),
    "jax": Target(jax_export.shapes, "box, steps, derived, list of one", "symbolic shapes of jax.export, constrained"),
    "stablehlo": Target(mlir_bounds.bounded_types, "box, list of one", "tensor types with upper bounds"),
    "iree": Target(mlir_bounds.assumptions, "box, steps, list of one", "util.assume.int operations of IREE"),
    "json": Target(own_json.document, "all", "JSON, as Contract.json_schema describes it"),
}


_MEANT = {"tensorrt": "trtexec", "trt": "trtexec", "ort": "onnxruntime", "core_ml": "coreml", "pytorch": "torch"}
"""What names that people try mean."""


def target_of(name: str) -> Target:
    """Return a target by name; raise `TargetError` if there is none."""
    known = TARGETS.get(name)
    if known is None:
        meant = _MEANT.get(str(name).casefold()) or closest(str(name), TARGETS)
        hint = f"did you mean {meant!r}? The targets are" if meant else "the targets are"
        raise TargetError(str(name), "there is no such target", f"{hint} {', '.join(TARGETS)}")
    return known
