"""Writers of contracts for servers and compilers: the table of targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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
from symbcast.answers.contracts.targets.request import Request, TargetRule
from symbcast.core.characters import closest
from symbcast.errors import TargetError


class Target(NamedTuple):
    """A target: its writer, the forms that it can express, what it writes, and the rules that each text keeps."""

    write: Callable[[Request], str]
    forms: str
    text: str
    rules: Sequence[TargetRule[Any]] = ()


TARGETS: dict[str, Target] = {
    "trtexec": Target(tensorrt.trtexec, "box, profiles, list", "options of TensorRT's trtexec", tensorrt.TRTEXEC),
    "onnxruntime-tensorrt": Target(
        tensorrt.provider_options, "box, profiles, list", "ONNX Runtime provider options", tensorrt.PROVIDER
    ),
    "torch_tensorrt": Target(
        tensorrt.torch_inputs, "box, profiles, list", "a list of torch_tensorrt.Input", tensorrt.TORCH
    ),
    "triton": Target(triton.config, "box, list of one", "a config.pbtxt of Triton Inference Server", triton.RULES),
    "coreml": Target(coreml.inputs, "box, list", "a list of coremltools.TensorType", coreml.RULES),
    "openvino": Target(
        open_vino.partial_shapes, "box, list of one", "partial shapes for Model.reshape, as JSON", open_vino.RULES
    ),
    "onnxruntime": Target(
        onnx_runtime.overrides, "list of one", "free dimension overrides, as JSON", onnx_runtime.RULES
    ),
    "webnn": Target(
        webnn.descriptors, "box, list of one", "WebNN descriptors of inputs with bounded dimensions", webnn.RULES
    ),
    "torch": Target(
        torch_export.dynamic_shapes,
        "box, steps, derived, list of one",
        "dynamic_shapes of torch.export",
        torch_export.RULES,
    ),
    "jax": Target(
        jax_export.symbolic_shapes,
        "box, steps, derived, list of one",
        "symbolic shapes of jax.export, constrained",
        jax_export.RULES,
    ),
    "stablehlo": Target(
        mlir_bounds.bounded_types, "box, list of one", "tensor types with upper bounds", mlir_bounds.STABLEHLO
    ),
    "iree": Target(
        mlir_bounds.assumptions, "box, steps, list of one", "util.assume.int operations of IREE", mlir_bounds.IREE
    ),
    "json": Target(own_json.contract_document, "all", "JSON, as Contract.json_schema describes it"),
}


_MEANT = {"tensorrt": "trtexec", "trt": "trtexec", "ort": "onnxruntime", "core_ml": "coreml", "pytorch": "torch"}
"""What names that people try mean."""


def target_of(name: str) -> Target:
    """Return a target by name; raise `TargetError` if there is none."""
    known = TARGETS.get(name)
    if known is None:
        similar = _MEANT.get(str(name).casefold()) or closest(str(name), TARGETS)
        hint = f"did you mean {similar!r}? The targets are" if similar else "the targets are"
        raise TargetError(str(name), "there is no such target", f"{hint} {', '.join(TARGETS)}")
    return known
