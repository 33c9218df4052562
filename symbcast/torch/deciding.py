"""What decides the elements that an operator of torch makes: see `symbcast.graphs.values.deciders`.

Data are proven to decide elements that are made of data alone, or of data that make up for whatever sizes contribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.deciding import joined
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.numbers import FLOATS

if TYPE_CHECKING:
    from symbcast.graphs.values.value import Value


def _aten(names: str) -> frozenset[str]:
    return frozenset(f"aten.{name}" for name in names.split())


_SHAPES_ONLY = _aten("sym_size sym_numel zeros_like ones_like new_zeros new_ones")
_RANDOM = _aten("rand randn rand_like randn_like normal normal_ uniform uniform_ bernoulli multinomial")
_UNSET = _aten("empty empty_like new_empty empty_strided new_empty_strided empty_permuted")
_OF_FIRST = _aten(
    "index _unsafe_index index_select gather embedding take select select_copy slice slice_copy narrow narrow_copy "
    "view reshape expand expand_as repeat repeat_interleave roll flip permute transpose unsqueeze squeeze unfold split "
    "split_with_sizes chunk unbind diagonal tril triu masked_select"
)
"""Operators whose elements are some of their first tensor's; the other arguments say which of them, and where."""
_SUMS = _aten("add sub rsub scaled_dot_product_attention")
"""Operators that add real numbers up: whatever is added, data may make up for it."""


def decider_of_output(node: Any, inputs: Sequence[Value | None], output: Value) -> Decider:
    """Return what decides an output whose elements are not known exactly, from what decides the inputs."""
    kind = node.op_type
    if kind in _SHAPES_ONLY:
        return Decider.SIZES
    if kind in _RANDOM:
        return Decider.DATA
    if kind in _UNSET:
        return Decider.BOTH
    made_of = inputs[:1] if kind in _OF_FIRST and joined(inputs[:1]) else inputs
    found = joined(made_of)
    if found == Decider.NUMBERS and any(numbers_of(v.shape) is None for v in (*made_of, output) if v is not None):
        return Decider.SIZES  # how often one number is there is decided by sizes
    if found == Decider.BOTH and kind in _SUMS and any(map(_is_free, made_of)):
        return Decider.DATA
    return found


def _is_free(value: Value | None) -> bool:
    return value is not None and value.decided_by == Decider.DATA and value.dtype in FLOATS
