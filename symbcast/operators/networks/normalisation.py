"""Normalisations: the shapes that scales, shifts and statistics must fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.logic.formulas import FALSE, Formula, any_of, equal
from symbcast.operators.context import Context, Dims
from symbcast.operators.reductions import reduce

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Parameters: TypeAlias = "Mapping[str, Dims | None]"
"""The shapes of scales, shifts and statistics by name; None for one that is not given, or unknown."""


def layer_norm(
    context: Context, dims: Dims, first: int, parameters: Parameters, *, parameters_broadcast: bool = False
) -> Dims:
    """Return the shape of the statistics over the axes from ``first`` on, which become 1.

    Parameters have the shape of these axes, or, if broadcasting is allowed, any shape that broadcasts onto the data.
    """
    for name, found in parameters.items():
        if found is None:
            continue
        if parameters_broadcast:
            context.broadcast(found, dims, rule="unidirectional")
        else:
            context.same_shape(found, dims[first:], f"{name} must have the shape of the normalised axes")
    return reduce(context, dims, range(first, len(dims)), keepdims=True)


def group_norm(
    context: Context, channels: Dim, groups: int, parameters: Parameters, *, is_per_group: bool = False
) -> None:
    """Require equal groups of channels, and parameters with one number for each channel or each group."""
    context.divide(channels, groups, f"the channels must be a multiple of the {groups} groups")
    if is_per_group:
        per_channel(context, groups, parameters, what="group")
    else:
        per_channel(context, channels, parameters)


def check_channels(context: Context, dims: Dims) -> None:
    """Require a batch axis and a channel axis."""
    if len(dims) < 2:
        context.refuse("the input must have a batch and channels")


def per_channel(
    context: Context, channels: Dim, parameters: Parameters, *, what: str = "channel", unless: Formula = FALSE
) -> None:
    """Require that each parameter have one number for each channel, ``unless`` a given formula holds."""
    for name, found in parameters.items():
        if found is None or found == (channels,):
            continue
        reason = f"{name} must have one number for each {what}"
        if len(found) == 1:
            context.require(any_of([unless, equal(found[0], channels)]), reason)
        elif unless == FALSE:
            context.refuse(reason)
        else:
            context.require(unless, reason)
