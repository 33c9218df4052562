"""MLIR: tensor types with StableHLO's bounds, and IREE's assumptions about sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.contracts.search.space import decision_in
from symbcast.answers.contracts.targets.lines import free_lines
from symbcast.core.logic.formulas import negate
from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Axis, Request

_TYPES = {
    "float32": "f32",
    "float16": "f16",
    "float64": "f64",
    "bfloat16": "bf16",
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
}


def bounded_types(request: Request) -> str:
    """Return a line for each input: its name, and a tensor type with upper bounds.

    A bound excludes nothing below it; raises `TargetError` unless all smaller sizes from 1 on work too.
    """
    box = request.box("compile the module once for each box")
    axes = request.intervals(box)
    question = request.question
    ranges = {s: range(1, max(1, box[n][-1]) + 1) if len(box[n]) > 1 else box[n] for s, n in question.names.items()}
    decision = decision_in(ranges, [negate(question.formula)])
    if decision is not None and decision.satisfiable is not False:
        raise request.refused(
            "its bounds are upper bounds, and not all smaller sizes work",
            "fix the sizes with form='list' and most=1, or write for iree",
            "list",
        )
    return "\n".join(
        f"{name}: {_type(request, shape, request.tensors[name].element_type)}" for name, shape in axes.items()
    )


def _type(request: Request, axes: tuple[Axis, ...], element_type: str) -> str:
    kind = _TYPES.get(element_type or "float32")
    if kind is None:
        raise TargetError(request.target, f"it has no element type {element_type}", "cast it to another one")
    dims = "".join(f"{a.sizes[0] if a.is_fixed else '?'}x" for a in axes)
    if all(a.is_fixed for a in axes):
        return f"tensor<{dims}{kind}>"
    bounds = ", ".join("?" if a.is_fixed else str(a.sizes[-1]) for a in axes)
    return f"tensor<{dims}{kind}, #stablehlo.bounds<{bounds}>>"


def assumptions(request: Request) -> str:
    """Return a function that takes all sizes and returns them with IREE's assumptions about their ranges."""
    box = request.box("compile the module once for each box")
    request.require_free()
    names = {name: line.free.lstrip("_") or f"size_{n}" for n, (name, line) in enumerate(free_lines(box).items())}
    body = []
    for name, sizes in box.items():
        step = f", udiv = {sizes.step}" if sizes.step > 1 else ""
        if sizes[0] % sizes.step:
            raise request.refused(
                f"it knows multiples, and {name} is {sizes[0] % sizes.step} more than a multiple of {sizes.step}",
                "want multiples, or take form='box'",
                "box",
            )
        told = f"<umin = {sizes[0]}, umax = {sizes[-1]}{step}>"
        body.append(f"  %{names[name]}_in_range = util.assume.int %{names[name]}{told} : index")
    arguments = ", ".join(f"%{n}: index" for n in names.values())
    results = ", ".join("index" for _ in names)
    values = ", ".join(f"%{n}_in_range" for n in names.values())
    return "\n".join(
        [
            f"util.func public @sizes({arguments}) -> ({results}) {{",
            *body,
            f"  util.return {values} : {results}",
            "}",
        ]
    )
