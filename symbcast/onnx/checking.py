"""The check of a model: its inputs become sizes, its nodes are walked, and what they ask is put together."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from symbcast.env import ShapeEnv
from symbcast.formulas import at_most
from symbcast.onnx.asking import Asker, Runtime
from symbcast.onnx.condition import Conditions
from symbcast.onnx.inputs import read_inputs
from symbcast.onnx.loading import load
from symbcast.onnx.report import Checked, ModelReport
from symbcast.onnx.sizes import Bounds
from symbcast.onnx.walk import Walk


def check(model: Any, assume: Any = (), min_size: int = 1, *, runtime: Runtime = "spec") -> ModelReport:
    """Say for which sizes of its inputs a model runs, and what every shape in it is."""
    source, proto = load(model)
    env = ShapeEnv(assume, on_conflict="record")
    assumptions = tuple(a.text for a in env.assumptions)
    asker = Asker(env, runtime, Bounds({}))
    walk = Walk(proto, asker)
    inputs = read_inputs(proto.graph, env)
    for symbol in dict.fromkeys(inputs.symbols):
        asker.bounds.learn(symbol, min_size)
        if min_size:
            asker.assume(at_most(min_size, symbol))
    asker.origins.update(inputs.held)
    walk.top.values.update(inputs.values)
    walk.graph(proto.graph, walk.top)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    conditions = Conditions(env, asker)
    return ModelReport(Checked(source, path, proto, env, conditions, asker, walk, inputs, assumptions, min_size))
