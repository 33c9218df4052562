"""Real models: every shape and the condition, against what ONNX Runtime did with them at many sizes."""

import gzip
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import onnx
import pytest

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import UndefinedError, size_at

FOLDER = Path(__file__).parents[1] / "data" / "onnx" / "models"
RUNS = json.loads(gzip.decompress((FOLDER / "runs.json.gz").read_bytes()))
DATA_DECIDE = {"detect": 0.7}
"""Models in which data decide some sizes, and the share of values whose shape does not depend on these."""


@cache
def model(name: str) -> onnx.ModelProto:
    return onnx.load_model_from_string(gzip.decompress((FOLDER / f"{name}.onnx.gz").read_bytes()))


@cache
def report(name: str, runtime: str = "onnxruntime") -> sb.onnx.ModelReport:
    return sb.onnx.check(model(name), runtime=runtime)


def condition_holds(name: str, sizes: Mapping[str, int]) -> bool:
    condition = report(name).condition
    known = {s.name for s in condition.symbols}
    return condition.guard()({n: size for n, size in sizes.items() if n in known})


def sizes_of(shape: sb.Shape, sizes: Mapping[str, int]) -> tuple[int | None, ...]:
    """Return a shape at some sizes; None for what data decide."""
    bound = {symbol(name): size for name, size in sizes.items()}

    def value(dim):
        try:
            return size_at(dim, bound)
        except (KeyError, UndefinedError):
            return None

    return tuple(map(value, shape.dims))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_condition_holds_exactly_where_the_runtime_ran(name):
    runs = RUNS[name]
    assert [condition_holds(name, r["sizes"]) for r in runs] == [r["shapes"] is not None for r in runs]


@pytest.mark.parametrize("name", sorted(RUNS))
def test_every_shape_is_what_the_runtime_gave(name):
    shapes = report(name).shapes
    for run in RUNS[name]:
        for value, real in (run["shapes"] or {}).items():
            if shapes[value] is not None:
                found = sizes_of(shapes[value], run["sizes"])
                assert len(found) == len(real)
                assert all(d in (None, size) for d, size in zip(found, real, strict=True)), (value, run["sizes"])


@pytest.mark.parametrize("name", sorted(RUNS))
def test_every_shape_is_known(name):
    shapes, names = report(name).shapes, {n for r in RUNS[name] for n in r["shapes"] or ()}
    sizes = {sb.symbol(n) for n in RUNS[name][0]["sizes"]}
    closed = [v for v in names if shapes[v] is not None and set(shapes[v].symbols) <= sizes]
    assert len(closed) >= DATA_DECIDE.get(name, 1) * len(names)


def test_a_sequence_that_is_declared_dynamic_is_not():
    assert str(report("bilstm").condition) == "s70 == 7"


def test_a_size_baked_into_a_reshape_fixes_the_batch():
    found = report("resnet50")
    assert str(found.condition) == "N == 1"
    (finding,) = found.findings
    assert finding.op_type == "Reshape"
    assert finding.counterexample == {"N": 2}


PPOCR_ACCEPTS = {1, 2, 3, 4} | {n for n in range(1, 200) if n % 32 in (29, 30, 31, 0)}


def test_a_detector_takes_images_of_some_heights_only():
    accepted = {n for n in range(1, 200) if condition_holds("ppocr_v4_det", {"N": 1, "H": n, "W": n})}
    assert accepted == PPOCR_ACCEPTS  # brute-forced with ONNX Runtime 1.31


def test_its_condition_can_be_read():
    assert len(str(report("ppocr_v4_det").condition)) < 200


ELSEWHERE = os.environ.get("SYMBCAST_MODELS")


@pytest.mark.skipif(not ELSEWHERE, reason="SYMBCAST_MODELS names no folder with more models")
def test_more_models():
    for path in sorted(Path(ELSEWHERE or "").rglob("*.onnx.gz")):
        found = sb.onnx.check(onnx.load_model_from_string(gzip.decompress(path.read_bytes())))
        assert found.verdict is not None, path
        assert not [u for u in found.unanalysed if "could not be analysed" in u.reason], path
