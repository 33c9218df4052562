"""OpenVINO: partial shapes with bounds, for ``Model.reshape``."""

from __future__ import annotations

import json

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxes, BoundedAxis, Request, TargetRule

RULES: tuple[TargetRule[BoundedAxes], ...] = (
    TargetRule(
        "Model.reshape takes names of inputs",
        "OpenVINO: Model::reshape(std::map<std::string, PartialShape>)",
        lambda axes: declaration.first_refused("an input has none" for name in axes if not name),
        "name it in the model",
    ),
    TargetRule(
        "a dimension has 0 <= least <= greatest",
        "OpenVINO: src/core/src/partial_shape.cpp, Dimension(std::string)",
        lambda axes: declaration.first_refused(
            f"{a.text} of {n} is {a.sizes[0]}..{a.sizes[-1]}"
            for n, shape in axes.items()
            for a in shape
            if a.sizes[0] < 0
        ),
        "want sizes >= 0",
    ),
)


@declaration.target("openvino", "box, list of one", "partial shapes for Model.reshape, as JSON", RULES, place=6)
def partial_shapes(request: Request) -> str:
    """Return JSON: the text of a ``PartialShape`` for each input, such as ``[1..16,3,64..1280,64..1280]``."""
    axes = request.intervals(request.box("compile the model once for each box"))
    declaration.verify_draft(request, RULES, axes)
    return json.dumps({name: f"[{','.join(map(_dim, shape))}]" for name, shape in axes.items()}, indent=2)


def _dim(axis: BoundedAxis) -> str:
    return str(axis.sizes[0]) if axis.is_fixed else f"{axis.sizes[0]}..{axis.sizes[-1]}"
