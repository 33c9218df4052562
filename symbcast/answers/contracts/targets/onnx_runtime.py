"""ONNX Runtime: free dimension overrides, which give a named dimension one size."""

from __future__ import annotations

import json
from collections.abc import Mapping

from symbcast.answers.contracts.targets.declaration import Request, TargetRule, first_refused, target, verify_draft

RULES: tuple[TargetRule[Mapping[str, int]], ...] = (
    TargetRule(
        "an override is for a size that the model names",
        "ONNX Runtime: include/onnxruntime/core/session/onnxruntime_c_api.h, AddFreeDimensionOverrideByName",
        lambda sizes: first_refused(
            f"{name or 'one'} has no name in the model" for name in sizes if not name or name[0] == "?"
        ),
        "name it in the model",
    ),
    TargetRule(
        "an override is a number from 0 on",
        "ONNX Runtime: core/optimizer/free_dim_override_transformer.cc takes -1 for an open size",
        lambda sizes: first_refused(f"{name} is {size}" for name, size in sizes.items() if size < 0),
        "want sizes >= 0",
    ),
)


@target("onnxruntime", "list of one", "free dimension overrides, as JSON", RULES, place=7, also=("ort",))
def overrides(request: Request) -> str:
    """Return JSON: the size of each named dimension, for ``add_free_dimension_override_by_name``."""
    hint = "take form='list' and most=1, and pad requests to that size"
    if len(request.boxes) > 1:
        raise request.refused(f"it takes one size, and the contract has {len(request.boxes)} boxes", hint, "list")
    box = request.boxes[0]
    for name, sizes in box.items():
        if len(sizes) > 1:
            raise request.refused(f"it takes one size for each name, and {name} has {len(sizes)}", hint, "list")
    fixed = {name: sizes[0] for name, sizes in box.items()}
    verify_draft(request, RULES, fixed)
    return json.dumps(fixed, indent=2)
