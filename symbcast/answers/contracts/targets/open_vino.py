"""OpenVINO: partial shapes with bounds, for ``Model.reshape``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Axis, Request


def shapes(request: Request) -> str:
    """Return JSON: the text of a ``PartialShape`` for each input, such as ``[1..16,3,64..1280,64..1280]``."""
    axes = request.intervals(request.box("compile the model once for each box"))
    return json.dumps({name: f"[{','.join(map(_dim, shape))}]" for name, shape in axes.items()}, indent=2)


def _dim(axis: Axis) -> str:
    return str(axis.sizes[0]) if axis.is_fixed else f"{axis.sizes[0]}..{axis.sizes[-1]}"
