"""Random modules and programs, held against StableHLO's refinement in this run."""

from __future__ import annotations

import pytest

pytest.importorskip("jaxlib")

from stablehlo.scores import compared
from stablehlo.survey import known_leniency
from stablehlo.survey_contents import held as held_contents
from stablehlo.survey_contents import values
from stablehlo.survey_random import runs_of
from stablehlo_corpora.random_contents import contents
from stablehlo_corpora.random_modules import MAKERS, module
from stablehlo_corpora.random_programs import program
from stablehlo_corpora.spellings import Indices

import symbcast as sb


def held(made, text):
    """Return what is wrong in the report about a text, held against StableHLO's answers about a module.

    Returns None if StableHLO refuses the module with dynamic sizes.
    """
    runs = runs_of(made)
    if runs is None:
        return None
    report = sb.stablehlo.check(text, min_size=0)
    found = compared(report, runs)
    return [o for o in found if o.kind not in ("agrees", "open") and not known_leniency(made.operator, o)]


@pytest.mark.parametrize("operator", MAKERS)
def test_operators(operator):
    for seed in range(3):
        made = module(operator, seed)
        assert not held(made, made.text), seed


@pytest.mark.parametrize("seed", range(20))
def test_programs(seed):
    made = program(seed)
    assert not held(made, made.text)


@pytest.mark.parametrize("seed", range(20))
def test_programs_with_indices(seed):
    assert not held(program(seed), program(seed, Indices).text)


def test_more_programs():
    for seed in range(100, 400):
        made = program(seed)
        assert not held(made, made.text), seed


@pytest.mark.parametrize("seed", range(20))
def test_contents(seed):
    texts = contents(seed)
    found = held_contents(texts[0], values(texts))
    assert [o for o in found if o.kind not in ("agrees", "open")] == []
