"""Sample images at the positions of a grid, and make grids by affine maps."""

from __future__ import annotations

from collections.abc import Collection

from symbcast.operators.context import Context, Dims
from symbcast.operators.operands import expect_shape


def grid_sample(context: Context, dims: Dims, grid: Dims, *, ranks: Collection[int], is_filled: bool) -> Dims:
    """Return the shape of an image (N, C, ...) sampled at a grid (N, ..., axes): (N, C) and the axes of the grid.

    ``is_filled`` says that the image must not be empty.
    """
    if len(grid) != len(dims) or len(dims) not in ranks:
        allowed = ", ".join(map(str, ranks))
        context.refuse(f"input and grid must have the same rank, {allowed}, but have {len(dims)} and {len(grid)}")
    expect_shape(context, "the grid", grid, (dims[0], *(None for _ in dims[2:]), len(dims) - 2))
    if is_filled:
        for size in dims[2:]:
            context.at_most(1, size, "there must be elements to sample")
    return (*dims[:2], *grid[1:-1])


def affine_grid(context: Context, theta: Dims, size: Dims) -> Dims:
    """Return the shape of a grid for an output (N, C, ...), made from one matrix per batch element."""
    if len(size) not in (4, 5):
        context.refuse("the size must be 4 or 5 numbers")
    axes = len(size) - 2
    expect_shape(context, "theta", theta, (size[0], axes, axes + 1))
    return (size[0], *size[2:], axes)
