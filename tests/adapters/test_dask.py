"""Dask's arrays in and out: as recorded of Dask itself, which need not be installed."""

from __future__ import annotations

import json
from math import isnan, nan
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.adapters import dask as adapter

ROWS = json.loads((Path(__file__).parents[1] / "data" / "dask.json").read_text("utf-8"))


class Array(SimpleNamespace):
    """What Dask says of an array; its module is Dask's, by which `symbcast.shape` recognises it."""

    __module__ = "dask.array.core"


def arrays_of(row):
    def sizes(recorded):
        return tuple(nan if size is None else size for size in recorded)

    return [
        Array(name=a["name"], shape=sizes(a["shape"]), chunks=tuple(map(sizes, a["chunks"]))) for a in row["arrays"]
    ]


def test_the_record_has_all_kinds():
    assert len(ROWS) == 300
    assert sum(row["ran"] is None for row in ROWS) > 60
    assert sum(row["ran"] is not None and None in row["built"] for row in ROWS) > 60


def test_unknown_sizes_and_their_bounds():
    for row in ROWS:
        for array, recorded in zip(arrays_of(row), row["arrays"], strict=True):
            shape = adapter.read(array)
            assert [d is None for d in recorded["shape"]] == [not isinstance(d, int) for d in shape]
            assert shape == sb.shape(array) == sb.shape(array.shape)
            real = {d: sum(blocks) for d, blocks in zip(shape, recorded["blocks"], strict=True)}
            assert all(bool(fact.subs(real)) for fact in adapter.assumptions(array))


def test_equal_names_are_equal_sizes():
    alike = [row for row in ROWS if row["arrays"][0]["name"] == row["arrays"][1]["name"]]
    assert len(alike) > 20
    for row in alike:
        assert sb.broadcast(*arrays_of(row)).verdict is sb.Verdict.ALWAYS
        assert row["ran"] == [sum(blocks) for blocks in row["arrays"][0]["blocks"]]
    first, second = Array(name="a", shape=(nan, 3), chunks=()), Array(name="b", shape=(nan, 3), chunks=())
    assert sb.broadcast(first, second).verdict is sb.Verdict.SOMETIMES


def test_what_dask_did():
    """Sums of known sizes run as NumPy's rule says, and those of unknown ones where the blocks are equal."""
    as_answered = otherwise = 0
    for row in ROWS:
        arrays, real = arrays_of(row), [[sum(blocks) for blocks in a["blocks"]] for a in row["arrays"]]
        output = at_real_sizes(sb.broadcast(*arrays), real)
        if all(None not in a["shape"] for a in row["arrays"]):
            assert row["ran"] == output
        elif row["ran"] is not None:
            first, second = (a["blocks"][::-1] for a in row["arrays"])
            are_equal = all(a == b or [1] in (a, b) for a, b in zip(first, second, strict=False))
            assert row["ran"] == output or not are_equal
            as_answered += are_equal
            otherwise += row["ran"] != output
    assert as_answered > 100
    assert otherwise > 5


def at_real_sizes(result, real):
    """Return the output at the sizes of the computed arrays, None if the rule refuses them."""
    sizes = {}
    for shape, found in zip(result.operands, real, strict=True):
        sizes.update({str(d): size for d, size in zip(shape, found, strict=True) if not isinstance(d, int)})
    try:
        return list(result.evaluate(sizes))
    except sb.IncompatibleShapesError:
        return None


@given(st.lists(st.one_of(st.integers(0, 9), st.just("?")), max_size=4))
def test_shapes_are_read_back(dims):
    shape = sb.shape(tuple(dims))
    written = adapter.write(shape)
    assert adapter.read(written) == shape
    assert [isnan(size) for size in written] == [dim == "?" for dim in dims]


@pytest.mark.parametrize("text", ["N, 3", "?0, ?0", "2.., 3", "N + 1", "2*?"])
def test_what_dask_cannot_express(text):
    with pytest.raises(sb.DimensionError, match="Dask"):
        adapter.write(text)


def test_sizes_that_are_assumed_are_written():
    assert adapter.write("N, 3", assume="N == 2") == (2, 3)


def test_nan_is_an_unknown_size():
    assert sb.shape((nan, 3)) == sb.shape("nan, 3") == sb.shape("?, 3")
    first, second = sb.shape("nan, nan").symbols
    assert first != second
    assert str(sb.shape("'nan', 3")) == "('nan', 3)"
    with pytest.raises(sb.DimensionError, match="not a float"):
        sb.shape((float("inf"), 3))
