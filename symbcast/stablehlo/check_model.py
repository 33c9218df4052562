"""``symbcast.stablehlo.check``: check a StableHLO module."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.signatures import with_advice
from symbcast.graphs.check import checked, read_asked
from symbcast.stablehlo.front_end import FRONT_END
from symbcast.stablehlo.reader import read
from symbcast.stablehlo.report import HloReport

if TYPE_CHECKING:
    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.inputs.given import ContentsLike


@with_advice
def check(  # noqa: PLR0913 - each is a fact about the module or an option of the check
    module: str | bytes | PathLike[str] | Any,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    function: str | None = None,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: str | None = None,
    budget: float | None = None,
) -> HloReport:
    """Find the input sizes at which a StableHLO module runs, and every shape in it.

    ``module`` is MLIR text, the path of a file with text, bytecode or a portable artifact, the bytes of one, an
    ``ir.Module`` of jaxlib or a ``jax.export.Exported``. Text and bytes are parsed in a child process first.
    ``function`` names the function to check, by default ``main`` or the only public one. A dynamic size is named
    ``<argument>_<axis>``, such as ``arg0_1``, or as JAX's dimension variable that is read from it. "Runs" means that
    all constraints of the specification and all assertions of the module hold; ``runtime="unasserted"`` leaves out the
    assertions. The other arguments are as in `symbcast.onnx.check`.

    Raises `ModelError` for anything that is not a module, `BindingError` for shapes, sizes and contents that its
    arguments cannot have, `AssumptionError` for assumptions that are contradictory or mention sizes that the module
    does not have, and `MissingExtraError` without the extra ``stablehlo``.

    >>> report = check('''
    ... func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    ...   %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    ...       : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    ...   return %0 : tensor<?x8xf32>
    ... }''')
    >>> report.condition, *report.outputs.values()
    (Condition('arg0_1 == arg1_0'), Shape('(arg0_0, 8)'))
    """
    asked = read_asked(
        FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime, budget=budget
    )
    return HloReport(checked(FRONT_END, read(module, asked.runtime, function), asked))
