"""Core ML: flexible input shapes for ``coremltools.convert``, as ``RangeDim`` or ``EnumeratedShapes``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxes, BoundedAxis, Request, TargetRule
from symbcast.core.structs import NamedTuple

if TYPE_CHECKING:
    Shapes: TypeAlias = "tuple[BoundedAxis, ...] | list[tuple[int, ...]]"
    """The axes of an input, or its enumerated shapes."""

# The element types of inputs: Core ML has no integers of 64 bits, and coremltools makes them 32 bits wide.
ELEMENT_TYPES = {"float32": "float32", "float16": "float16", "int32": "int32", "int64": "int32"}
# The number of shapes that Core ML enumerates at most.
MOST_SHAPES = 128


MOST_AXES = 5


class CoreMlShapes(NamedTuple):
    """The shapes of the inputs, and their element types, empty if unknown."""

    shapes: Mapping[str, Shapes]
    kinds: Mapping[str, str]

    @property
    def enumerated(self) -> dict[str, list[tuple[int, ...]]]:
        """The shapes of the inputs that have several."""
        return {name: shape for name, shape in self.shapes.items() if isinstance(shape, list) and len(shape) > 1}

    @property
    def ranks(self) -> dict[str, int]:
        """How many axes each input has."""
        return {n: len(shape[0]) if isinstance(shape, list) else len(shape) for n, shape in self.shapes.items()}


RULES: tuple[TargetRule[CoreMlShapes], ...] = (
    TargetRule(
        f"an input has 1 to {MOST_AXES} axes",
        "coremltools: converters/mil/mil/program.py, Placeholder; converters/mil/frontend/torch/ops.py",
        lambda draft: declaration.first_refused(
            f"{n} has {rank}" for n, rank in draft.ranks.items() if not 1 <= rank <= MOST_AXES
        ),
        "reshape it inside the model",
    ),
    declaration.typed(
        "an input",
        ELEMENT_TYPES,
        "Core ML: mlmodel/format/FeatureTypes.proto, ArrayDataType; coremltools: converters/mil/input_types.py",
        "cast it to float32 in front of the model",
    ),
    TargetRule(
        f"an input has at most {MOST_SHAPES} enumerated shapes",
        "coremltools: docs-guides/source/flexible-inputs.md",
        lambda draft: declaration.first_refused(
            f"{n} has {len(s)}" for n, s in draft.enumerated.items() if len(s) > MOST_SHAPES
        ),
        f"take most={MOST_SHAPES}",
    ),
    TargetRule(
        "at most one input has enumerated shapes",
        "coremltools: converters/_converters_entry.py, _validate_enumerated_shape_inputs",
        lambda draft: f"{' and '.join(draft.enumerated)} have" if len(draft.enumerated) > 1 else "",
        "give one of them a fixed shape, or take form='box'",
    ),
)


@declaration.target("coreml", "box, list", "a list of coremltools.TensorType", RULES, place=5, also=("core_ml",))
def inputs(request: Request) -> str:
    """Return Python source: a list of ``coremltools.TensorType``, in the order of the inputs."""
    shapes: Mapping[str, Shapes]
    if len(request.boxes) > 1:
        shapes = _enumerated(request)
    else:
        box = request.boxes[0]
        request.require_free()
        if any(sizes.step > 1 for sizes in box.values()):
            raise request.refused(
                "its ranges have no steps", "enumerate sizes with form='list', up to 128", "list", MOST_SHAPES
            )
        shapes = request.intervals(box)
    draft = CoreMlShapes(shapes, declaration.kinds_of(request, shapes))
    declaration.verify_draft(request, RULES, draft)
    lines = ["import coremltools as ct", "import numpy as np", "", "inputs = ["]
    for name, shape in draft.shapes.items():
        kind = draft.kinds[name]
        dtype = f", dtype=np.{ELEMENT_TYPES[kind]}" if kind else ""
        lines.append(f"    ct.TensorType(name={name!r}, shape={_text(shape)}{dtype}),")
    return "\n".join([*lines, "]"])


def _text(shape: Shapes) -> str:
    if isinstance(shape, list):
        return f"ct.EnumeratedShapes(shapes={shape}, default={shape[-1]})" if len(shape) > 1 else str(shape[0])
    if all(axis.is_fixed for axis in shape):
        return str(tuple(axis.sizes[0] for axis in shape))
    dims = (
        str(a.sizes[0]) if a.is_fixed else f"ct.RangeDim({a.sizes[0]}, {a.sizes[-1]}, default={a.best})" for a in shape
    )
    return f"ct.Shape(shape=({', '.join(dims)},))"


def _enumerated(request: Request) -> dict[str, list[tuple[int, ...]]]:
    """Return the enumerated shapes of each input; raise `TargetError` if combinations would be wrong."""
    every: list[BoundedAxes] = []
    for box in request.boxes:
        if any(len(sizes) > 1 for sizes in box.values()):
            raise request.refused("it enumerates single shapes, not several ranges", "take form='list'", "list", 128)
        every.append(request.axes(box))
    shapes = {
        name: list(dict.fromkeys(tuple(axis.sizes[0] for axis in axes[name]) for axes in every)) for name in every[0]
    }
    flexible = [name for name, known in shapes.items() if len(known) > 1]
    if len(flexible) > 1:
        raise request.refused(
            f"it combines the shapes of {' and '.join(flexible)} freely, and only some combinations are valid",
            "give one of them a fixed shape, or take form='box'",
            "box",
        )
    if any(len(known) > MOST_SHAPES for known in shapes.values()):
        raise request.refused(f"it enumerates at most {MOST_SHAPES} shapes", "take most=128", "list", MOST_SHAPES)
    return shapes
