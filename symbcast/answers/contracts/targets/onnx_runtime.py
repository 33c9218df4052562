"""ONNX Runtime: free dimension overrides, which give a named dimension one size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Request


def overrides(request: Request) -> str:
    """Return JSON: the size of each named dimension, for ``add_free_dimension_override_by_name``."""
    hint = "take form='list' and most=1, and pad requests to that size"
    if len(request.boxes) > 1:
        raise request.refused(f"it takes one size, and the contract has {len(request.boxes)} boxes", hint, "list")
    box = request.boxes[0]
    for name, sizes in box.items():
        if len(sizes) > 1:
            raise request.refused(f"it takes one size for each name, and {name} has {len(sizes)}", hint, "list")
        if name.startswith("?"):
            raise request.refused(f"the size {name} has no name in the model", "name it in the model")
    return json.dumps({name: sizes[0] for name, sizes in box.items()}, indent=2)
