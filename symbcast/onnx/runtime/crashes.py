"""Sizes at which ONNX Runtime ends its process instead of refusing them (seen with 1.32)."""

from __future__ import annotations

from symbcast.core.logic.formulas import Formula
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.runtime.differences import CRASHES


def crashes(call: NodeCall, unless: Formula, where: str) -> None:
    """Require a formula, if ONNX Runtime is asked about: where it does not hold, the process ends."""
    if call.does(CRASHES):
        call.require(unless, f"the runtime crashes here: {where}")
