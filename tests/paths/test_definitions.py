"""Conditions with definitions: a size that must equal a join, and occurs nowhere else, is set aside and put back."""

from itertools import product
from random import Random

import numpy as np
import pytest

import symbcast as sb

STEPS = {
    "matmul": lambda x, w: x @ w,
    "add": lambda x, w: x + w,
    "residual": lambda x, w: np.maximum(x @ w, 0) + x,
    "square": lambda x, w: (x + w) @ w,
}


def layers(kinds):
    def run(x, *weights):
        for kind, w in zip(kinds, weights, strict=True):
            x = STEPS[kind](x, w)
        return x

    return run


def works(function, shapes):
    try:
        function(*map(np.ones, shapes))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("kinds", list(product(STEPS, repeat=2)), ids=" ".join)
def test_the_condition_is_where_numpy_runs(kinds):
    function = layers(kinds)
    holds = sb.trace(function, "A, B", "C, D", "E, F").condition.guard()
    for sizes in Random(0).sample(list(product((1, 2, 3), repeat=6)), 60):
        a, b, c, d, e, f = sizes
        assert holds(dict(zip("ABCDEF", sizes, strict=True))) == works(function, [(a, b), (c, d), (e, f)]), sizes


@pytest.mark.parametrize(
    ("count", "condition"),
    [
        (1, "C0 == A1 and (C0 == C1 or C0 == 1 or C1 == 1)"),
        (2, "C0 == A1 and compatible(C0, C1, C2) and broadcast(C0, C1) == A2"),
        (3, "C0 == A1 and compatible(C0, C1, C2, C3) and broadcast(C0, C1) == A2 and broadcast(C0, C1, C2) == A3"),
    ],
)
def test_residual_layers_have_one_join(count, condition):
    found = sb.trace(layers(["residual"] * count), *(f"A{n}, C{n}" for n in range(count + 1)))
    assert str(found.condition) == condition
