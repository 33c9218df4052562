"""``jax.export``: symbolic shapes in a scope with constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import Request, SteppedSize, TargetRule
from symbcast.core.structs import NamedTuple

# JAX's operators in symbolic shapes, and the names in the text.
_RESERVED = {"mod", "floordiv", "max", "min", "export", "scope", "shapes"}
_INT32 = (1 << 31) - 1
_SHAPES = "jax: jax/_src/export/shape_poly.py"


class JaxShapes(NamedTuple):
    """The free sizes, by the names of the sizes that have them, and the axes of the inputs, None for no inputs."""

    free: Mapping[str, SteppedSize]
    shapes: Mapping[str, Sequence[SteppedSize]] | None

    @property
    def unsolved(self) -> set[str]:
        """The free sizes in shapes that JAX cannot compute from these.

        It solves an equation of one axis in one size, puts the value in, and goes on.
        """
        pending = {*(f for shape in (self.shapes or {}).values() for line in shape for f in line.factors)}
        axes = [{f for f, factor in line.factors.items() if factor} for s in (self.shapes or {}).values() for line in s]
        while True:
            solvable = {f for axis in axes if len(axis & pending) == 1 for f in axis & pending}
            if not solvable:
                return pending
            pending -= solvable

    @property
    def greatest(self) -> dict[str, int]:
        """The greatest number of each axis that is written or computed, by its expression."""
        bounds = {line.free: line for line in self.free.values()}
        lines = [*self.free.values(), *(line for shape in (self.shapes or {}).values() for line in shape)]
        return {
            line.expression: line.offset
            + sum(factor * (bounds[f].high if factor > 0 else bounds[f].low) for f, factor in line.factors.items())
            for line in lines
        }


RULES: tuple[TargetRule[JaxShapes], ...] = (
    TargetRule(
        "a size is at least 1",
        f"{_SHAPES}: dimension variables range over integers >= 1",
        lambda draft: declaration.first_refused(
            f"{name} can be {line.low}" for name, line in draft.free.items() if line.low < 1
        ),
        "want sizes >= 1",
    ),
    TargetRule(
        f"a size is at most {_INT32}",
        f"{_SHAPES}: dimensions have 32 bits unless jax_enable_x64 is set",
        lambda draft: declaration.first_refused(
            f"{text} can be {size}" for text, size in draft.greatest.items() if size > _INT32
        ),
        "want smaller sizes",
    ),
    TargetRule(
        "each size can be computed from the shapes, one equation in one size at a time",
        f"{_SHAPES}: solve_dim_vars",
        lambda draft: f"{' and '.join(sorted(draft.unsolved))} cannot" if draft.unsolved else "",
        "give an input with an axis that is just this size",
    ),
)


@declaration.target(
    "jax", "box, steps, derived, list of one", "symbolic shapes of jax.export, constrained", RULES, place=10
)
def symbolic_shapes(request: Request) -> str:
    """Return Python source: a scope with the bounds of all sizes, and the shapes of the inputs in it, if known.

    JAX refuses a constraint on a size that is in no shape, so there is none.
    """
    box = request.box("export once for each box")
    lines = declaration.lines_of(request, box, _RESERVED)
    free = {name: line for name, line in lines.items() if line.free}
    shapes = None
    if request.tensors:
        request.axes(box)  # raises the error of an unknown rank
        shapes = {
            n: [declaration.line_of(request, d, lines) for d in t.shape.dims]
            for n, t in request.tensors.items()
            if t.shape
        }
        used = {f for shape in shapes.values() for line in shape for f in line.factors}
        free = {name: line for name, line in free.items() if line.free in used}
    draft = JaxShapes(free, shapes)
    declaration.verify_draft(request, RULES, draft)
    bounds = [(f"{line.free} >= {line.low}", f"{line.free} <= {line.high}") for line in free.values()]
    constraints = [part for pair in bounds for part in pair]
    source = ["from jax import export", "", f"scope = export.SymbolicScope({constraints!r})"]
    if shapes is not None:
        source.append("shapes = {")
        for name, shape in shapes.items():
            text = ", ".join(line.expression for line in shape)
            comma = "," if len(shape) == 1 else ""
            source.append(f'    {name!r}: export.symbolic_shape("({text}{comma})", scope=scope),')
        source.append("}")
    return "\n".join(source)
