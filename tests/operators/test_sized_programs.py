"""Random programs of reshapes, windows, slices and joins: as many steps on integers have it, at sizes from 0 to 40."""

from __future__ import annotations

import pytest
from sized_programs import held


@pytest.mark.parametrize("number", [1, 8, 11, 30, 47, 96, 194, 231, 291, 445])
def test_a_program_works_and_gives_the_shape_that_its_steps_on_integers_give(number):
    assert not held(number).faults
