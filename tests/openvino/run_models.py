"""Holds the answers about whole models of OpenVINO against OpenVINO itself, and prints a table.

    python tests/openvino/run_models.py FOLDER [--only GLOB] [--bindings N] [--json FILE] [-v]

FOLDER holds models: ``.xml`` of OpenVINO, or ``.onnx`` and ``.onnx.gz``, which are converted first. Each is run at up
to N bindings of its sizes: around the smallest at which it is said to run, where it is said to fail, and small ones. It
is compiled once for dynamic shapes, and inferred on the CPU at each binding; ``Model.reshape`` gives the shapes of what
is within. It is said to run where both do: the inference alone runs also where the compiler took out a node that would
have failed, and ``reshape`` alone takes what some operators refuse. A model has its own process, for one that
crashes.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import product
from math import prod
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from openvino_answers import accepts, differs, shape_at

FILLED_WITH = (1, 0)
"""What integers are, first the one and then, where the model fails with that, the other."""
MOST_ELEMENTS = 1 << 24
TIME_LIMIT = 600
HEADS = ("model", "nodes", "ms", "runs", "refused", "fails", "foreseen", "shapes", "wrong", "not known")
HEADS += ("only inference fails", "only reshape fails")


def load(path):
    """Read a model, or convert it."""
    import openvino as ov

    if path.suffix == ".xml":
        return ov.Core().read_model(path)
    if path.suffix == ".gz":
        with tempfile.TemporaryDirectory() as folder:
            unpacked = Path(folder, path.stem)
            unpacked.write_bytes(gzip.decompress(path.read_bytes()))
            return ov.convert_model(unpacked)
    return ov.convert_model(path)


def bindings(report, symbols, most):
    """Choose sizes for all symbols: where it is to run, where it is to fail, and around the first."""
    witness = report.witness() or {}
    base = {s: witness.get(s, 1) for s in symbols}
    chosen = [base]
    failing = (f.counterexample for f in report.findings if f.counterexample is not None and not f.is_about_data)
    chosen += [{**base, **{s: n for s, n in sizes.items() if s in base}} for sizes in failing]
    for s in symbols:
        chosen += [{**base, s: n} for n in (base[s] - 1, base[s] + 1, base[s] + 2, 2 * base[s]) if n > 0]
    picked = random.Random(0)
    if 3 ** len(symbols) <= most:
        chosen += [dict(zip(symbols, sizes, strict=True)) for sizes in product((1, 2, 3), repeat=len(symbols))]
    while len(chosen) < most and symbols:
        near = {s: max(1, base[s] + picked.choice((-1, 0, 0, 1, 2, 7))) for s in symbols}
        chosen.append(near if picked.random() < 0.7 else {s: picked.randint(1, 4) for s in symbols})
    return list({json.dumps(b, sort_keys=True): b for b in chosen}.values())[:most]


def worker(path, most, skip):
    """Answer for one model, and run it from binding number ``skip`` on; print a line of JSON for each."""
    import symbcast.openvino

    model = load(path)
    started = time.perf_counter()
    report = symbcast.openvino.check(model)
    spent = time.perf_counter() - started
    symbols = list(dict.fromkeys(s.name for s in report._checked.inputs.symbols))
    count = sum(1 for op in model.get_ops() if op.get_type_info().name != "Constant")
    head = {
        "nodes": count,
        "ms": round(1000 * spent),
        "unknown": sum(s is None for s in report.shapes.values()),
        "unanalysed": len([u for u in report.unanalysed if not u.is_about_data]),
        "verdict": report.verdict.value,
        "condition": str(report.condition),
    }
    print(json.dumps(head), flush=True)
    runner = Runner(model)
    for sizes in bindings(report, symbols, most)[skip:]:
        found = {"bind": sizes, "accepted": accepts(report, sizes), **run(report, runner, sizes)}
        print(json.dumps(found), flush=True)


class Runner:
    """A model that is inferred again and again.

    With 2026.4 an inference that fails leaves shapes in the compiled model, which the next one may take for its own: so
    it is compiled again. (With ``INFERENCE_NUM_THREADS=1`` the error itself is lost.)
    """

    def __init__(self, model):
        self.model = model
        # Of a branch that is not taken an inference asks nothing, but ``reshape`` does.
        self.has_branches = any(op.get_type_info().name == "If" for op in model.get_ops())
        self._compiled = None

    def infer(self, feeds):
        """Return the shapes of the outputs."""
        import openvino as ov

        if self._compiled is None:
            self._compiled = ov.Core().compile_model(self.model, "CPU")
        request = self._compiled.create_infer_request()
        try:
            request.infer(feeds)
        except RuntimeError:
            self._compiled = None
            raise
        return [list(request.get_output_tensor(n).shape) for n in range(len(self.model.outputs))]


def run(report, runner, sizes):
    """Infer a model at some sizes, and compare the shapes."""
    model = runner.model
    shapes = [shape_at(s, sizes) for s in report.inputs.values()]
    if any(prod(s) > MOST_ELEMENTS for s in shapes):
        return {"ok": None, "error": "too large"}
    found = {"infers": False}
    for number in FILLED_WITH:
        try:
            real = runner.infer([filled(i, s, number) for i, s in zip(model.inputs, shapes, strict=True)])
        except RuntimeError as error:
            found["error"] = " ".join(str(error).split())[-300:]
            continue
        found["infers"] = True
        told = [(n, None if s is None else shape_at(s, sizes)) for n, s in report.outputs.items()]
        graph = report._checked.model.graph
        by_name = dict(told)
        pairs = [(o.name, by_name.get(o.name), r) for o, r in zip(graph.output, real, strict=True)]
        found["wrong"] = [[n, t, r] for n, t, r in pairs if differs(t, r)]
        break
    found.update(reshaped(report, model, shapes, sizes))
    found["ok"] = found["infers"] and (found["reshapes"] or runner.has_branches)
    return found


def filled(port, shape, number):
    import numpy as np

    kind = port.get_element_type().to_dtype()
    if np.dtype(kind).kind == "f":
        return np.random.default_rng(0).random(shape).astype(kind)
    return np.full(shape, number, kind)


def reshaped(report, model, shapes, sizes):
    """Compare the shapes of everything within with what `Model.reshape` gives."""
    from symbcast.graphs.graph import Graph

    copy = model.clone()
    try:
        copy.reshape(dict(enumerate(shapes)))
    except RuntimeError as error:
        return {"reshapes": False, "reshape_error": " ".join(str(error).split())[-300:]}
    graph = Graph(copy)
    wrong, compared = [], 0
    for node in graph.node:
        for n, name in enumerate(node.output):
            real = node.op.get_output_partial_shape(n)
            told = report.shapes.get(name)
            if node.op_type == "Constant" or told is None or told.rank is None or real.rank.is_dynamic:
                continue
            compared += 1
            dims = [d.get_length() if d.is_static else None for d in real]
            mine = shape_at(told, sizes)
            if len(dims) != len(mine) or any(
                a is not None and b is not None and a != b for a, b in zip(mine, dims, strict=True)
            ):
                wrong.append([name, node.op_type, mine, dims])
    return {"reshapes": True, "compared": compared, "within": wrong[:5]}


def answers(path, most):
    """Run one model in processes of its own, a further one for what comes after a crash."""
    head, runs = None, []
    while True:
        command = [sys.executable, __file__, str(path), "--worker", str(len(runs)), "--bindings", str(most)]
        paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=TIME_LIMIT, check=False, env={**os.environ, "PYTHONPATH": paths}
            )
            out, status = done.stdout, done.returncode
            problem = done.stderr.decode("utf-8", "replace")[-400:]
        except subprocess.TimeoutExpired as error:
            out, status, problem = error.stdout or b"", 0, "time out"
        lines = [json.loads(line) for line in out.decode().splitlines() if line.startswith("{")]
        if not lines:
            return {"problem": problem}, runs
        head = lines[0]
        runs += lines[1:]
        if status >= 0:
            return {**head, **({"problem": problem} if status else {})}, runs
        runs.append({"bind": {}, "ok": None, "error": f"the process ended with status {status}", "accepted": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--bindings", type=int, default=24)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", type=int)
    parser.add_argument("-v", action="store_true")
    asked = parser.parse_args()
    if asked.worker is not None:
        worker(asked.path, asked.bindings, asked.worker)
        return
    files = sorted(
        f
        for f in asked.path.iterdir()
        if f.name.endswith((".xml", ".onnx", ".onnx.gz")) and fnmatch.fnmatch(f.name, asked.only)
    )
    kept = {}
    print(f"| {' | '.join(HEADS)} |")
    print(f"|---{'|--:' * (len(HEADS) - 1)}|")
    for path in sorted(files, key=lambda f: f.stat().st_size):
        head, runs = answers(path, asked.bindings)
        kept[path.name] = [head, runs]
        name = path.name.split(".")[0]
        if "nodes" not in head:
            print(f"| {name} | {' '.join(head['problem'].split())[-120:]} |", flush=True)
            continue
        works = [r for r in runs if r["ok"]]
        fails = [r for r in runs if r["ok"] is False]
        wrong = [w for r in works if r["accepted"] for w in (*r.get("wrong", ()), *r.get("within", ()))]
        row = [
            head["nodes"], head["ms"], len(works), sum(not r["accepted"] for r in works), len(fails),
            sum(not r["accepted"] for r in fails), sum(r.get("compared", 0) for r in works if r["accepted"]),
            len(wrong), head["unknown"], sum(r["reshapes"] for r in fails), sum(r["infers"] for r in fails),
        ]  # fmt: skip
        print(f"| {name} | {' | '.join(map(str, row))} |", flush=True)
        if asked.v:
            print("   ", head["verdict"], head["condition"][:200], head.get("problem", ""))
            for r in [r for r in works if not r["accepted"]][:2]:
                print("    refused at", r["bind"])
            for r in [r for r in fails if r["accepted"]][:2]:
                print("    not foreseen at", r["bind"], r.get("error") or r.get("reshape_error"))
            for r in [r for r in runs if r["ok"] is None][:2]:
                print("    not run", r["bind"], r["error"])
            for w in wrong[:3]:
                print("    wrong", w)
    if asked.json:
        asked.json.write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
