"""Random conditions and programs: what they say is what brute force and plain z3 say, and evidence is z3's optimum."""

from __future__ import annotations

import optimal_points
import pytest


# In 46 and 63 a size was replaced by 0 below a number, and the comparison with 1//0 was evaluated.
@pytest.mark.parametrize("kind", optimal_points.KINDS)
@pytest.mark.parametrize("number", [1, 2, 3, 46, 63])
def test_evidence_is_the_optimum_of_z3(kind, number):
    faults, _ = optimal_points.held(kind, number)
    assert not faults
