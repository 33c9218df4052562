"""LiteRT: a function that resizes the inputs of an ``Interpreter`` to sizes of the contract."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator, Mapping

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxes, Request, SteppedSize, TargetRule
from symbcast.core.structs import NamedTuple

# Names that a parameter of the text cannot have.
_RESERVED = {*keyword.kwlist, *dir(builtins), "BOXES", "resize", "interpreter", "inputs", "sizes"}
_RESERVED |= {"box", "name", "key", "detail"}
_MOST = (1 << 31) - 1
_RESIZE = "LiteRT: Interpreter.resize_tensor_input, tflite/python/interpreter.py"


class LiteRtShapes(NamedTuple):
    """The parameters of the function, the axes of the inputs in each box, and their shapes as text."""

    parameters: Mapping[str, str]
    boxes: tuple[BoundedAxes, ...]
    shapes: Mapping[str, str]

    @property
    def sizes(self) -> Iterator[tuple[str, int]]:
        """The least and the greatest size of all axes, with their text."""
        return (
            (a.text, n)
            for axes in self.boxes
            for shape in axes.values()
            for a in shape
            for n in (a.sizes[0], a.sizes[-1])
        )


RULES: tuple[TargetRule[LiteRtShapes], ...] = (
    TargetRule(
        "an input has a name",
        _RESIZE,
        lambda draft: declaration.first_refused("one has none" for name in draft.shapes if not name),
        "name it in the model",
    ),
    TargetRule(
        f"a size is from 0 to {_MOST}",
        f"{_RESIZE} makes an array of int32 of the shape",
        lambda draft: declaration.first_refused(f"{text} can be {n}" for text, n in draft.sizes if not 0 <= n <= _MOST),
        "want sizes in this range",
    ),
)


@declaration.target(
    "litert",
    "box, steps, profiles, list, derived",
    "a Python function that resizes the inputs of a LiteRT Interpreter",
    RULES,
    place=13,
    also=("tflite",),
)
def resizing(request: Request) -> str:
    """Return Python source: a function of an interpreter and sizes that resizes its inputs and allocates.

    LiteRT is resized before a run, so each form is exact: sizes in none of the boxes are a ValueError.
    """
    derived = {request.question.names[s]: expression for s, expression in request.derived.items()}
    free = [name for name in request.boxes[0] if name not in derived]
    fixed = {
        n: request.boxes[0][n][0] for n in free if len({size for box in request.boxes for size in _ends(box[n])}) == 1
    }
    parameters = declaration.distinct((name for name in free if name not in fixed), _RESERVED)
    lines = {name: SteppedSize({spelled: 1}, 0) for name, spelled in parameters.items()}
    lines |= {name: SteppedSize({}, size) for name, size in fixed.items()}
    lines |= {name: declaration.line_of(request, expression, lines) for name, expression in derived.items()}
    boxes = tuple(request.axes(box) for box in request.boxes)
    shapes = {
        name: ", ".join(declaration.line_of(request, dim, lines).expression for dim in tensor.shape.dims)
        for name, tensor in request.tensors.items()
        if tensor.shape is not None
    }
    declaration.verify_draft(request, RULES, LiteRtShapes(parameters, boxes, shapes))
    return "\n".join([*_boxes(request, parameters), *_function(parameters, shapes)])


def _ends(sizes: range) -> tuple[int, int]:
    return sizes[0], sizes[-1]


def _boxes(request: Request, parameters: Mapping[str, str]) -> list[str]:
    """Return the lines that list the boxes, as ranges in the order of the parameters."""
    if not parameters:
        return []
    return ["BOXES = [", *(f"    {tuple(box[name] for name in parameters)}," for box in request.boxes), "]", "", ""]


# A runner that is kept would stop the resize, so it has no name.
_INPUTS = """\
    inputs = {detail["name"]: detail["index"] for detail in interpreter.get_input_details()}
    inputs |= {
        name: detail["index"]
        for key in interpreter.get_signature_list()
        for name, detail in interpreter.get_signature_runner(key).get_input_details().items()
        if inputs.get(detail["name"]) == detail["index"]
    }"""


def _function(parameters: Mapping[str, str], shapes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the function."""
    names = ", ".join(parameters.values())
    yield f"def resize({', '.join(['interpreter', *parameters.values()])}):"
    if parameters:
        yield f"    sizes = [{names}]"
        yield "    if not any(all(map(range.__contains__, box, sizes)) for box in BOXES):"
        yield f'        raise ValueError(f"the contract does not have [{names}] = {{sizes}}")'
    yield _INPUTS
    for name, shape in shapes.items():
        yield f"    interpreter.resize_tensor_input(inputs[{name!r}], [{shape}])"
    yield "    interpreter.allocate_tensors()"
