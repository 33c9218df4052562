"""Output axes that are equal, held against integers."""

from __future__ import annotations

import itertools

import reference

from symbcast.core.algebra.formulas import FALSE, holds
from symbcast.core.rules import Joined
from symbcast.core.rules.broadcast_rule import same_output, same_size

SHAPES = [s for count in (1, 2, 3) for s in itertools.product(range(4), repeat=count)]


def test_axes_are_equal_where_their_joins_are():
    joins = {sizes: reference.numpy(*((size,) for size in sizes)) for sizes in SHAPES}
    defined = [sizes for sizes in SHAPES if joins[sizes] is not None]
    for left, right in itertools.product(defined, repeat=2):
        assert holds(same_size(Joined(left), Joined(right))) is (joins[left] == joins[right]), (left, right)


def test_outputs_of_other_ranks_are_never_equal():
    assert same_output((2,), (1, 2)) == FALSE
    assert holds(same_output((2, Joined((1, 3))), (2, 3)))
