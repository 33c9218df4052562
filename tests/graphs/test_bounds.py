"""Sizes and bytes of every value of a model, and the most bytes alive at once, held against walks at single sizes."""

from __future__ import annotations

import itertools
import json
import pickle

import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")

WEIGHTS = ", ".join(["0"] * 36)
TEXT = f"""<ir_version: 9, opset_import: ["" : 18]>
g (float16[N, 3, H] x, int64[K] i) => (float16[n, c, h] y)
<float16[4, 3, 3] w = {{{WEIGHTS}}}, int64[1] one = {{1}}, float[3] two = {{1, 1, 2}}> {{
  a = Conv<kernel_shape = [3], pads = [1, 1], strides = [2]>(x, w)
  b = Relu(a)
  pool = MaxPool<kernel_shape = [2], strides = [2]>(b)
  up = Resize<mode = "nearest">(pool, , two)
  mask = Greater(up, b)
  y = Where(mask, up, b)
  top, where = TopK(i, one)
}}
"""
ASSUME = ["N <= 2", "H <= 13", "K <= 3"]
BITS = {"float16": 16, "int64": 64, "bool": 8}


def model():
    read = onnx.parser.parse_model(TEXT)
    onnx.checker.check_model(read)
    return read


def alive(read, sizes):
    """Return the most bytes alive at once, of values with these sizes: the oracle, by the definition."""
    nodes = read.graph.node
    outputs = [each.name for each in read.graph.output]
    most = 0
    for place in range(len(nodes)):
        before = [each.name for each in read.graph.input] + [name for node in nodes[:place] for name in node.output]
        later = [name for node in nodes[place:] for name in node.input] + outputs
        kept = {*(name for name in before if name in later), *nodes[place].output}
        most = max(most, sum(sizes[name] for name in kept))
    return most


def test_bounds_of_a_model_are_those_of_all_its_sizes():
    read = model()
    found = sb.onnx.check(read, assume=ASSUME).bounds()
    seen: dict[str, set[int]] = {}
    most = {}
    for n, h, k in itertools.product(range(1, 3), range(1, 14), range(1, 4)):
        at = sb.onnx.check(read, bind={"N": n, "H": h, "K": k})
        if at.verdict is not sb.Verdict.ALWAYS:
            continue
        sizes = {}
        for name, value in found.values.items():
            shape = [int(size) for size in at.shapes[name]]
            elements = 1
            for size, axis in zip(shape, value.axes, strict=True):
                elements *= size
                seen.setdefault(f"{name} {value.axes.index(axis)}", set()).add(size)
            sizes[name] = elements * BITS[value.element_type] // 8
            seen.setdefault(name, set()).add(sizes[name])
        most[n, h, k] = alive(read, sizes)
    assert found.values.keys() == {"x", "i", "a", "b", "pool", "up", "mask", "y", "top", "where"}
    for name, value in found.values.items():
        assert (value.bytes.least, value.bytes.greatest) == (min(seen[name]), max(seen[name])), name
        for axis in value.axes:
            values = seen[f"{name} {value.axes.index(axis)}"]
            assert (axis.least, axis.greatest) == (min(values), max(values)), name
    assert found.alive.value == max(most.values())
    assert most[tuple(found.alive.at.get(name, 1) for name in "NHK")] == found.alive.value
    assert found.largest.bytes.greatest == max(v.bytes.greatest for v in found.values.values())


def test_forms_of_model_bounds():
    report = sb.onnx.check(model(), assume=ASSUME)
    found = report.bounds()
    assert json.loads(json.dumps(found.to_dict()))["largest"] == found.largest.name
    text = found.explain()
    assert f"{found.alive.value} bytes alive at once" in text and "mask" in text and "bool" in text
    assert found.largest.name in found._repr_html_() and "10 values" in repr(found)
    assert pickle.loads(pickle.dumps(found)).alive == found.alive
    assert report.bounds("N*H").greatest == 2 * 12
    with pytest.raises(sb.BindingError, match="no size here is named 'M'"):
        report.bounds("M")


def test_bytes_without_an_end_and_open_models_say_so():
    found = sb.onnx.check(model(), assume=["N <= 3"]).bounds()
    assert found.largest is None and found.alive.value is None and found.alive.grows_with == ("H",)
    assert "no greatest number of bytes: it grows with" in found.explain()
    read = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 18, "own" : 1]> g (float[N] x) => (float[N] y) '
        "{ y = Relu(x) z = own.Unheard(x) }"
    )
    report = sb.onnx.check(read, assume="N <= 5")
    assert report.verdict is sb.Verdict.UNKNOWN
    found = report.bounds().values["y"].bytes
    assert (found.greatest, found.at_most, report.bounds("N").greatest) == (None, 20, None)
    assert "1 node" in found.reason
