"""Writes the suite: the cases of `cases.py`, with what each runtime does at all sizes from 0 to 4.

The runs are in a process of their own: a runtime may end it. Weights and images are 0, and so are ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from datetime import date
from importlib.metadata import version
from multiprocessing import get_context
from typing import Any

import numpy as np
from conformance.cases import BROADCASTS, MODELS, OPERATORS
from conformance.models import broadcast_entry, entry_of, model_of
from conformance.runner import SUITE, Case, NotAsked, Sizes, case_of

Run = Callable[[Case, Sizes], list[tuple[int, ...]]]
PACKAGES = ("numpy", "onnxruntime", "torch", "jax", "tinygrad")


def entries() -> Iterator[dict[str, Any]]:
    """Return the cases without runs."""
    for name, shapes in BROADCASTS.items():
        yield broadcast_entry(name, shapes)
    for kind, graphs in (("operator", OPERATORS), ("model", MODELS)):
        for name, text in graphs.items():
            yield entry_of(name, kind, text)


def runtime(package: str, case: Case) -> Run:
    """Return how a package runs a case."""
    if package == "numpy":
        return _by_numpy
    if package == "onnxruntime":
        return _by_onnxruntime(case)
    if package == "torch":
        from conformance.engines.torch_engine import Torch

        return Torch().run
    if package == "tinygrad":
        from conformance.engines.tinygrad_engine import Tinygrad

        return Tinygrad().run
    from conformance.engines.jax_engine import Jax

    return Jax().run


def _by_numpy(case: Case, sizes: Sizes) -> list[tuple[int, ...]]:
    if case.kind != "broadcast":
        raise NotAsked
    first, *others = (np.zeros(shape) for shape in case.shapes(sizes).values())
    return [np.shape(sum(others, first))]


def _by_onnxruntime(case: Case) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    model = model_of(case).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(case: Case, sizes: Sizes) -> list[tuple[int, ...]]:
        feeds = {name: np.zeros(shape, case.inputs[name][0]) for name, shape in case.shapes(sizes).items()}
        return [value.shape for value in session.run(list(case.outputs), feeds)]

    return run


def runs_of(package: str, entry: dict[str, Any], points: Sequence[Sizes]) -> list[Any] | None:
    """Return what a package does at some sizes: shapes, or None where it fails; None if it has no such operator."""
    case = case_of({**entry, "runs": {}, "shapes": []})
    try:
        run = runtime(package, case)
    except NotAsked:
        return None
    except Exception:  # it does not even load the case
        return [None for _ in points]
    found: list[Any] = []
    for sizes in points:
        try:
            found.append([list(shape) for shape in run(case, sizes)])
        except NotAsked:
            return None
        except Exception:  # the runtimes' errors have no class in common
            found.append(None)
    return found


class Processes:
    """Runs packages in a process, and in another one after a package has ended it."""

    def __init__(self) -> None:
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    def runs(self, package: str, entry: dict[str, Any]) -> list[Any] | None:
        """Return what a package does at all sizes; sizes at which it ends the process are failures."""
        points = list(case_of({**entry, "runs": {}, "shapes": []}).points())
        try:
            return self._pool.submit(runs_of, package, entry, points).result()
        except BrokenProcessPool:
            self._pool = self._new()
        found: list[Any] = []
        for sizes in points:
            try:
                found += self._pool.submit(runs_of, package, entry, [sizes]).result() or ()
            except BrokenProcessPool:
                self._pool = self._new()
                found.append(None)
        return found

    def close(self) -> None:
        self._pool.shutdown()


def recorded(entry: dict[str, Any], found: dict[str, list[Any]]) -> dict[str, Any]:
    """Return a case with its runs; shapes that occur often are written once, runs that are equal by reference."""
    shapes: list[Any] = []
    runs: dict[str, Any] = {}
    for package, ran in found.items():
        shapes += [s for n, s in enumerate(ran) if s is not None and s not in shapes and s not in ran[:n]]
        places = [None if shape is None else shapes.index(shape) for shape in ran]
        runs[package] = next((name for name, same in runs.items() if same == places), places)
    return {**entry, "shapes": shapes, "runs": runs}


def record(packages: Sequence[str]) -> None:
    """Run all cases in some packages, and write the suite; runs in others stay."""
    kept = json.loads(SUITE.read_text("utf-8")) if SUITE.exists() else {"runtimes": {}, "cases": []}
    before = {case["name"]: case_of(case).runs for case in kept["cases"]}
    cases = []
    with closing(Processes()) as processes:
        for entry in entries():
            found: dict[str, Any] = dict(before.get(entry["name"], {}))
            for package in packages:
                found[package] = processes.runs(package, entry)
            ran = {package: found[package] for package in PACKAGES if found.get(package) is not None}
            cases.append(json.dumps(recorded(entry, ran)))
            print(entry["kind"], entry["name"], flush=True)
    runtimes = {**kept["runtimes"], **{name: version(name) for name in packages}}
    head = {"$schema": "suite.schema.json", "recorded": date.today().isoformat(), "runtimes": runtimes, "largest": 4}
    body = ",\n  ".join(cases)
    SUITE.write_text(f'{json.dumps(head)[:-1]}, "cases": [\n  {body}\n]}}\n', "utf-8")
