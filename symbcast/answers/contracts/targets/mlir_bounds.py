"""MLIR: tensor types with StableHLO's bounds, and IREE's assumptions about sizes."""

from __future__ import annotations

from collections.abc import Mapping

from symbcast.answers.contracts.search.space import decision_in
from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxes, BoundedAxis, Box, Request, TargetRule
from symbcast.core.algebra.formulas import negate
from symbcast.core.structs import NamedTuple

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


_INT64 = (1 << 63) - 1


class BoundedTypes(NamedTuple):
    """The axes of the inputs, and their element types, empty if unknown."""

    axes: BoundedAxes
    kinds: Mapping[str, str]


STABLEHLO: tuple[TargetRule[BoundedTypes], ...] = (
    declaration.typed("an input", _TYPES, "StableHLO: docs/spec.md, Types", "cast it in front of the model"),
    TargetRule(
        "a line is a name, a colon and a type",
        "this text",
        lambda types: declaration.first_refused(
            f"the name {name!r} has a colon and a space, or a line break"
            for name in types.axes
            if ": " in name or not name.isprintable()
        ),
        "rename the input",
    ),
    TargetRule(
        "a tensor has a bound for each axis",
        "StableHLO: stablehlo/dialect/StablehloOps.cpp, TypeExtensionsAttr",
        lambda types: declaration.first_refused(
            f"{n} has none" for n, axes in types.axes.items() if any(not a.sizes for a in axes)
        ),
        "give its shape with inputs=",
    ),
)
IREE: tuple[TargetRule[Box], ...] = (
    TargetRule(
        "an assumption has 0 <= umin <= umax, and multiples of udiv",
        "IREE: compiler/src/iree/compiler/Dialect/Util/IR/UtilOps.td, Util_AssumeIntOp",
        lambda box: declaration.first_refused(
            f"{name} is {sizes[0]}..{sizes[-1]} step {sizes.step}"
            for name, sizes in box.items()
            if not 0 <= sizes[0] <= sizes[-1] <= _INT64 or sizes[0] % sizes.step or sizes[-1] % sizes.step
        ),
        "want multiples, or take form='box'",
    ),
)


@declaration.target("stablehlo", "box, list of one", "tensor types with upper bounds", STABLEHLO, place=11)
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
    types = BoundedTypes(axes, declaration.kinds_of(request, axes))
    declaration.verify_draft(request, STABLEHLO, types)
    return "\n".join(f"{name}: {_type(shape, types.kinds[name])}" for name, shape in axes.items())


def _type(axes: tuple[BoundedAxis, ...], element_type: str) -> str:
    kind = _TYPES[element_type or "float32"]
    dims = "".join(f"{a.sizes[0] if a.is_fixed else '?'}x" for a in axes)
    if all(a.is_fixed for a in axes):
        return f"tensor<{dims}{kind}>"
    bounds = ", ".join("?" if a.is_fixed else str(a.sizes[-1]) for a in axes)
    return f"tensor<{dims}{kind}, #stablehlo.bounds<{bounds}>>"


@declaration.target("iree", "box, steps, list of one", "util.assume.int operations of IREE", IREE, place=12)
def assumptions(request: Request) -> str:
    """Return a function that takes all sizes and returns them with IREE's assumptions about their ranges."""
    box = request.box("compile the module once for each box")
    request.require_free()
    names = declaration.distinct(box)
    body = []
    for name, sizes in box.items():
        step = f", udiv = {sizes.step}" if sizes.step > 1 else ""
        if sizes[0] % sizes.step:
            raise request.refused(
                f"it knows multiples, and {name} is {sizes[0] % sizes.step} more than a multiple of {sizes.step}",
                "want multiples, or take form='box'",
                "box",
            )
        bounds = f"<umin = {sizes[0]}, umax = {sizes[-1]}{step}>"
        body.append(f"  %{names[name]}_in_range = util.assume.int %{names[name]}{bounds} : index")
    declaration.verify_draft(request, IREE, box)
    arguments = ", ".join(f"%{n}: index" for n in names.values())
    results = ", ".join("index" for _ in names)
    values = ", ".join(f"%{n}_in_range" for n in names.values())
    returned = f"util.return {values} : {results}" if names else "util.return"
    return "\n".join([f"util.func public @sizes({arguments}) -> ({results}) {{", *body, f"  {returned}", "}"])
