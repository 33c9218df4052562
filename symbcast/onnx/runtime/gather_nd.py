"""Batches that ONNX Runtime's GatherND accepts together (seen with 1.31)."""

from __future__ import annotations

from symbcast.core.algebra.arithmetic import modulo, multiply
from symbcast.core.algebra.bounds import exact_quotient, reduced_fraction
from symbcast.core.logic.formulas import all_of, any_of, at_most, equal
from symbcast.operators.context import Context, Dims


def divided_batches(context: Context, batches: Dims, slices: Dims, taken: Dims) -> None:
    """Require the same number of indices for each batch element, regardless of axes, if anything is gathered."""
    if exact_quotient(slices, batches) is not None:  # without a batch there are no indices either
        return
    above, below = reduced_fraction(slices, batches)
    is_whole = equal(modulo(above, context.bounds.larger(below, 1)), 0)
    needs = any_of([context.empty((*slices, *taken)), all_of([at_most(1, multiply(*batches)), is_whole])])
    context.require(needs, "there must be the same number of indices for each batch element")
