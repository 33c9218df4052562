"""Whole models: symbcast beside onnx's own shape inference and onnx-shape-inference, on the same models in one run.

python -m pytest tests/benchmarks/test_models.py --benchmark-enable

Each is timed and judged: of how many values the shape is known (each size a number or in terms of the inputs' sizes),
how many of those that are known are wrong at some recorded run, and how many failing runs were foreseen.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import onnx
import pytest
import sympy

import symbcast as sb
from symbcast.core.algebra.sympy_conversion import from_sympy
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.solver.evaluation import UndefinedError, size_at

FOLDER = Path(__file__).parents[1] / "data" / "onnx" / "models"
RUNS = json.loads(gzip.decompress((FOLDER / "runs.json.gz").read_bytes()))
MODELS = {n: onnx.load_model_from_string(gzip.decompress((FOLDER / f"{n}.onnx.gz").read_bytes())) for n in sorted(RUNS)}


def by_symbcast(model):
    report = sb.onnx.check(model, runtime="onnxruntime")
    return dict(report.shapes), report.condition


def by_onnx(model):
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    return _declared(inferred.graph), None


def by_onnx_shape_inference(model):
    ir = pytest.importorskip("onnx_ir")
    peer = pytest.importorskip("onnx_shape_inference")
    inferred = ir.serde.serialize_model(peer.infer_symbolic_shapes(ir.serde.deserialize_model(model)))
    return _declared(inferred.graph), None


def _declared(graph):
    """Return the shapes in a graph's declarations; None for a size that is no number and no name or expression."""
    found = {}
    for value in [*graph.value_info, *graph.output]:
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            found[value.name] = tuple(d.dim_value if d.HasField("dim_value") else _read(d.dim_param) for d in dims)
    return found


def _read(text):
    try:
        (dim,) = sb.shape(text) if text else (None,)
    except sb.SymbcastError:
        return sb.symbol(text)
    return dim


def judge(name, shapes, condition):
    """Return how many values are known, how many of these wrong, of how many; and how many failing runs are caught."""
    sizes = set(RUNS[name][0]["sizes"])
    names = {n for run in RUNS[name] for n in run["shapes"] or ()}
    known = {n for n in names if shapes.get(n) is not None and all(_is_over(d, sizes) for d in shapes[n])}
    accepts = [condition is None or _holds(condition, run["sizes"]) for run in RUNS[name]]
    ran = [run for run, accepted in zip(RUNS[name], accepts, strict=True) if run["shapes"] and accepted]
    wrong = {n for n in known for run in ran if n in run["shapes"] and _at(shapes[n], run["sizes"]) != run["shapes"][n]}
    failed = [accepted for run, accepted in zip(RUNS[name], accepts, strict=True) if not run["shapes"]]
    return len(known), len(wrong), len(names), failed.count(False), len(failed)


def _is_over(dim, sizes):
    return isinstance(dim, int) or (isinstance(dim, sympy.Basic) and {s.name for s in dim.free_symbols} <= sizes)


def _at(shape, sizes):
    try:
        dims = [from_sympy(d) for d in shape]
        return [size_at(d, {s: sizes[s.name] for s in symbols_of([d])}) for d in dims]
    except (UndefinedError, ZeroDivisionError):
        return None


def _holds(condition, sizes):
    read = sb.Condition(condition)
    return read.guard()({n: size for n, size in sizes.items() if n in {s.name for s in read.symbols}})


ASKED = {"symbcast": by_symbcast, "onnx": by_onnx, "onnx-shape-inference": by_onnx_shape_inference}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", MODELS)
def test_models(name, asked, benchmark):
    if asked != "symbcast" and not benchmark.enabled:
        pytest.skip("others are asked with --benchmark-enable")
    benchmark.group = name
    ASKED[asked](MODELS[name])
    shapes, condition = benchmark(ASKED[asked], MODELS[name])
    known, wrong, values, caught, failing = judge(name, shapes, condition)
    benchmark.extra_info.update(known=known, values=values, wrong=wrong, caught=caught, failing=failing)
    if asked == "symbcast":
        assert wrong == 0
        assert caught == failing
