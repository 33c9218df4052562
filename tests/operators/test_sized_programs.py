"""Random programs of reshapes, windows, slices and joins: as many steps on integers have it, at sizes from 0 to 40."""

from __future__ import annotations

import pytest
from sized_programs import held, held_in_parts


@pytest.mark.parametrize("number", [1, 8, 11, 30, 47, 96, 194, 231, 291, 445])
def test_a_program_works_and_gives_the_shape_that_its_steps_on_integers_give(number):
    assert not held(number).faults


@pytest.mark.parametrize("number", [0, 3, 8, 28, 30, 47, 117, 194, 281, 445])
def test_the_answer_for_large_sizes_and_those_for_small_ones_are_together_right(number):
    assert held_in_parts(number) == ([], 0)
