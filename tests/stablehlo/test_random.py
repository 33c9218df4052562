"""Random modules and programs, held against StableHLO's refinement in this run."""

from __future__ import annotations

import pytest

pytest.importorskip("jaxlib")

from stablehlo.scores import compared
from stablehlo.survey import known_leniency
from stablehlo.survey_random import runs_of
from stablehlo_corpora.random_modules import MAKERS, module
from stablehlo_corpora.random_programs import program

import symbcast as sb


def held(made):
    """Return how a report about a module compares with StableHLO; None if StableHLO refuses it with dynamic sizes."""
    runs = runs_of(made)
    if runs is None:
        return None
    report = sb.stablehlo.check(made.text, min_size=0)
    found = compared(report, runs)
    return [o for o in found if o.kind not in ("agrees", "open") and not known_leniency(made.operator, o)]


@pytest.mark.parametrize("operator", MAKERS)
def test_operators(operator):
    for seed in range(3):
        assert not held(module(operator, seed)), seed


@pytest.mark.parametrize("seed", range(20))
def test_programs(seed):
    assert not held(program(seed))


def test_more_programs():
    for seed in range(100, 400):
        assert not held(program(seed)), seed
