"""Contracts of answers in which data decide too: sizes that work whatever the data are, or what data must meet."""

from pathlib import Path

import numpy as np
import pytest

import symbcast as sb

V = sb.Verdict
MODELS = Path(__file__).parents[1] / "data/onnx/models"


def test_sizes_that_fail_for_some_data_are_left_out():
    """Silero's sampling rate is data: at 16000 a sequence of 96 fails, at 8000 it runs."""
    pytest.importorskip("onnx")
    report = sb.onnx.check(str(MODELS / "silero_vad.onnx.gz"), runtime="onnxruntime")
    assert str(report.data_condition) == "sr != 16000 or sequence >= 192"
    contract = report.contract(sequence="1..2000", batch="1..4")
    assert contract.verdict is V.ALWAYS
    assert contract.boxes == ({"batch": range(1, 5), "sequence": range(192, 2001)},)
    assert contract.check(sequence="100..150").verdict is not V.ALWAYS


def test_sizes_that_only_suitable_data_make_work_are_said_to():
    report = sb.trace(lambda x: x[np.flatnonzero(x)].reshape(-1, 3), "N")
    assert report.data_condition.formula is not True
    contract = report.contract(N="1..64")
    assert contract.verdict is V.SOMETIMES
    assert contract.reason.startswith("data must meet ")
    assert "with suitable data" in contract.explain()
    assert contract.check(N="1..8").verdict is V.SOMETIMES
    assert contract.to("json")


def test_one_alternative_about_sizes_is_enough():
    """Of ``count == M or count == 1 or M == 1`` only the last is about inputs."""
    contract = sb.trace(lambda x, y: x[x > 0] + y, "N", "M").contract(N="1..8", M="1..8")
    assert contract.verdict is V.ALWAYS
    assert contract.boxes == ({"N": range(1, 9), "M": range(1, 2)},)


def test_indices_that_grow_with_a_size_limit_it():
    """RoBERTa counts tokens that are no padding: positions are data, at most ``N``, and 40 have embeddings."""
    onnx = pytest.importorskip("onnx")
    text = """
    <ir_version: 9, opset_import: ["" : 18]> g (int64[N] ids) => (float[N, 8] y)
    {
        one = Constant <value_int = 1> ()
        zero = Constant <value_int = 0> ()
        lengths = Constant <value_ints = [40, 8]> ()
        places = ConstantOfShape <value = float[1] {0.5}> (lengths)
        same = Equal (ids, one)
        used = Not (same)
        counted = Cast <to = 7> (used)
        position = CumSum (counted, zero)
        y = Gather <axis = 0> (places, position)
    }
    """
    contract = sb.onnx.check(onnx.parser.parse_model(text)).contract(N="1..64")
    assert contract.boxes == ({"N": range(1, 40)},)
    assert contract.verdict is V.ALWAYS
    words = text.replace("(places, position)", "(places, ids)")
    free = sb.onnx.check(onnx.parser.parse_model(words)).contract(N="1..64")
    assert free.boxes == ({"N": range(1, 65)},)
    assert "data         not checked: the indices in ids" in free.explain()


def test_a_contract_of_an_open_answer_has_proved_sizes_only():
    """Rows are followed for lengths that were tried; the sizes beyond are open, and are named."""
    report = sb.trace(lambda x: {n: row.sum() for n, row in enumerate(x)}, "N, D")
    assert not report.complete
    inside, across, beyond = (report.contract(N=sizes, D="1..4") for sizes in ("1..8", "5..20", "15..20"))
    assert (inside.verdict, inside.size, inside.is_largest, inside.reason) == (V.ALWAYS, 32, True, "")
    assert across.verdict is V.ALWAYS
    assert max(across.boxes[0]["N"]) < 15
    assert not across.is_largest
    assert across.reason.startswith("open at N=")
    assert (beyond.verdict, beyond.boxes) == (V.UNKNOWN, ())
    with pytest.raises(sb.UndecidedError):
        beyond.to("openvino", inputs={"x": "N, D"})
    assert beyond.reason.startswith("open at N=15")
    assert across.check(N="5..20").verdict is V.UNKNOWN
    for made in (inside, across, beyond):
        assert sb.Contract.from_json(made.to("json")).to_dict() == made.to_dict()
