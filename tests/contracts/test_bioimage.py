"""Inputs for bioimage.io, as its own library read them, and held against the condition at sizes inside and outside."""

from __future__ import annotations

import json
import random

import bioimage_inputs
import pytest

import symbcast as sb

ROWS = json.loads(bioimage_inputs.PATH.read_text("utf-8"))
WRITTEN = [row for row in ROWS if row["text"] is not None]


def accepts(described, dims):
    """Return whether the description takes inputs of these sizes."""
    sizes = {
        (tensor["id"], axis.get("id", "batch")): size
        for tensor, own in zip(described, dims, strict=True)
        for axis, size in zip(tensor["axes"], own, strict=True)
    }
    for tensor in described:
        for axis in tensor["axes"]:
            size, told = sizes[tensor["id"], axis.get("id", "batch")], axis.get("size")
            if axis["type"] == "batch":
                fits = size == told if told else size >= 1
            elif axis["type"] == "channel":
                fits = size == len(axis["channel_names"])
            elif isinstance(told, int):
                fits = size == told
            elif "min" in told:
                fits = size >= told["min"] and (size - told["min"]) % told["step"] == 0
            else:
                fits = size == sizes[told["tensor_id"], told["axis_id"]] + told["offset"]
            if not fits:
                return False
    return True


def test_the_record():
    assert len(ROWS) == 120
    assert len(WRITTEN) > 90
    assert len(WRITTEN) < len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['inputs']}, {row['condition']}")
def test_what_is_written(row):
    text, contract = bioimage_inputs.written(row["condition"], row["ranges"], row["inputs"], row["form"])
    assert text == row["text"]  # and the library has read it
    if text is None:
        return
    described, (box,) = json.loads(text), contract.boxes
    assert [[axis["type"] for axis in t["axes"]] for t in described] == [[a[0] for a in t] for t in row["read"]]
    shapes = [shape.split(", ") for shape in row["inputs"].values()]
    used = [name for name in box if any(name in part for shape in shapes for part in shape)]
    choose = random.Random(str(row))
    for _ in range(400):
        inside = {name: choose.choice(sizes) for name, sizes in box.items() if name not in contract.derived}
        inside |= {name: eval(text, {}, dict(inside)) for name, text in contract.derived.items()}
        dims = [[eval(d, {}, inside) for d in shape] for shape in shapes]
        assert accepts(described, dims), inside
        anywhere = {**inside, **{name: choose.randrange(100) for name in used if choose.random() < 0.6}}
        anywhere |= {n: eval(text, {}, dict(anywhere)) for n, text in contract.derived.items() if n not in used}
        dims = [[eval(d, {}, anywhere) for d in shape] for shape in shapes]
        if accepts(described, dims):
            assert eval(row["condition"], {}, anywhere), anywhere


def refusal(condition, inputs, form="box", **ranges):
    with pytest.raises(sb.TargetError) as error:
        sb.Condition(condition).contract(ranges, form=form).to("bioimage-io", inputs=inputs)
    return str(error.value)


def test_what_the_format_cannot_say():
    greater = refusal("H <= 1000", {"x": "1, 3, H, 4"}, H="64..900")
    assert "an axis has no greatest size, and at H=1001 it fails" in greater
    assert '"size": 900' in greater
    assert "2*H follows H" in refusal("H >= 1", {"x": "H", "y": "2*H"}, H="3..9")
    assert "grows with one size, and M + N of x does not" in refusal("N + M >= 1", {"x": "N + M"}, N="1..4", M="1..4")
    assert "N of x can be 0" in refusal("N >= 0", {"x": "N"}, N="0..9")
    assert "x has none" in refusal("N >= 0", {"x": ()}, N="1..9")
    assert "a batch cannot follow another axis" in refusal("N >= 1", {"x": "5, N", "y": "N, 3"}, N="1..9")


def test_a_model(tmp_path):
    onnx = pytest.importorskip("onnx")
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[N,3,H,W] Image) => (float[N,3,H,W] y) { y = Relu(Image) }'
    contract = sb.onnx.check(onnx.parser.parse_model(text)).contract({"N": "1..4", "H": "8..64", "W": "8..64"})
    (described,) = json.loads(contract.to("bioimage-io"))
    assert (described["id"], described["data"]) == ("image", {"type": "float32"})
    assert [axis["type"] for axis in described["axes"]] == ["batch", "channel", "space", "space"]
