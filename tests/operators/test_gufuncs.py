"""Signatures of universal functions, held against NumPy's own at all recorded sizes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sympy import sympify

import symbcast as sb
from symbcast.operators.products import read_signature

ROWS = json.loads((Path(__file__).parents[1] / "data" / "gufuncs.json").read_text("utf-8"))


def by_sizes(row, choices):
    """Return the outputs at each choice of sizes, as one answer about the shapes with names gives them."""
    env = sb.ShapeEnv(on_conflict="record")
    try:
        outputs = env.gufunc(row["signature"], *map(tuple, row["shapes"]))
    except sb.OperatorError:
        return [None] * len(choices)
    shapes = [outputs] if isinstance(outputs, sb.Shape) else outputs
    written = sorted({d for shape in row["shapes"] for d in shape if isinstance(d, str)})
    names, guard = {s.name: s for s in env.symbols}, env.guard()
    found = []
    for sizes in choices:
        known = {name: size for name, size in zip(written, sizes, strict=True) if name in names}
        values = {names[name]: size for name, size in known.items()}
        works = guard(**known)
        found.append([[int(sympify(d).subs(values)) for d in shape] for shape in shapes] if works else None)
    return found


def test_what_numpy_did():
    assert len(ROWS) > 250
    assert sum(out is not None for row in ROWS for _, out in row["at"] or ()) > 500
    for row in ROWS:
        choices = [sizes for sizes, _ in row["at"] or ()]
        assert by_sizes(row, choices) == [out for _, out in row["at"] or ()], row["signature"]


def test_what_numpy_does_not_read():
    refused = [row["signature"] for row in ROWS if row["at"] is None]
    assert len(refused) > 5
    for signature in refused:
        with pytest.raises(sb.OperatorError):
            read_signature(signature)


@pytest.mark.parametrize("function", [np.matmul, np.vecdot, np.matvec, np.vecmat], ids=lambda f: f.__name__)
def test_numpys_own_functions(function):
    shapes = [(3, 2, 4), (4,), (2, 4), (4, 3), (1, 4, 3), (2,)]
    for left in shapes:
        for right in shapes:
            try:
                expected = function(np.zeros(left), np.zeros(right)).shape
            except ValueError:
                expected = None
            try:
                found = sb.ShapeEnv().gufunc(function.signature, left, right)
            except sb.SymbcastError:
                found = None
            assert found == expected, (left, right)


def test_unknown_ranks():
    env = sb.ShapeEnv()
    assert env.gufunc("(m,n),(n,p)->(m,p)", "*b, N, K", "L, 4") == sb.shape("*b, N, 4")
    assert str(env.condition) == "K == L"
    with pytest.raises(sb.OperatorError, match="must be known"):
        env.gufunc(np.matmul.signature, "*b, K", "K, 4")


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("(n)->(p)", "size p that no operand has"),
        ("n->n", "is not a signature"),
        ("(n?),(n)->()", "n must have a '\\?' everywhere or nowhere"),
        ("(0)->()", "at least 1"),
        ("(n),(n)->()", "has 2 operands, not 1"),
        ("(m,n)->()", "operand 0 must have rank 2 or more"),
    ],
)
def test_wrong_calls(signature, words):
    with pytest.raises(sb.OperatorError, match=words):
        sb.ShapeEnv().gufunc(signature, "N")
    with pytest.raises(sb.OperatorError, match="the signature comes first"):
        sb.ShapeEnv().gufunc(("N",), "(n)->()")
