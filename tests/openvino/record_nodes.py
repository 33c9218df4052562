"""Runs every node of `openvino_nodes` in OpenVINO, and keeps the shapes of its outputs.

    python tests/openvino/record_nodes.py

At each of its sizes a node is inferred on the CPU by a model that was compiled for dynamic shapes, and by
``Model.reshape``. Both are kept, None for what fails: the inference is what the answers are held against.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from openvino_nodes import model, rows, shapes_at

DATA = Path(__file__).parents[1] / "data" / "openvino"


def inferred(made, compiled, shapes):
    """Return the shapes of the outputs, None where the inference fails, and whether the model may be used again."""
    import numpy as np

    request = compiled.create_infer_request()
    feeds = [np.zeros(s, i.get_element_type().to_dtype()) for i, s in zip(made.inputs, shapes, strict=True)]
    try:
        request.infer(feeds)
    except RuntimeError:
        return None
    return [list(request.get_output_tensor(n).shape) for n in range(len(made.outputs))]


def reshaped(made, shapes):
    copy = made.clone()
    try:
        copy.reshape(dict(enumerate(shapes)))
    except RuntimeError:
        return None
    found = [o.get_partial_shape() for o in copy.outputs]
    return [[d.get_length() if d.is_static else None for d in s] if s.rank.is_static else None for s in found]


def outcomes(row, queue):
    """Put what becomes of a row at each of its sizes into a queue; a crash ends this process only."""
    import openvino as ov

    made = model(row)
    compiled = None
    for sizes in row["runs"]:
        # An inference that fails leaves shapes behind, which the next one may take for its own.
        compiled = compiled or ov.Core().compile_model(made, "CPU")
        found = inferred(made, compiled, shapes_at(row, sizes))
        compiled = compiled if found is not None else None
        queue.put([sizes, found, reshaped(made, shapes_at(row, sizes))])


def recorded(row):
    """Return a row with what became of it."""
    fork = multiprocessing.get_context("fork")
    done = []
    while len(done) < len(row["runs"]):
        queue = fork.SimpleQueue()
        process = fork.Process(target=outcomes, args=({**row, "runs": row["runs"][len(done) :]}, queue))
        process.start()
        process.join()
        before = len(done)
        while not queue.empty():
            done.append(queue.get())
        if process.exitcode:
            print(row["op"], row["attributes"], "ends with status", process.exitcode, "after", len(done))
            if len(done) == before and process.exitcode > 0:
                return None
            done.append([row["runs"][len(done)], None, None])
    return {**row, "runs": done}


if __name__ == "__main__":
    import openvino

    DATA.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(DATA / "nodes.jsonl.gz", "wb", mtime=0) as file:
        file.write(json.dumps({"openvino": openvino.__version__}).encode() + b"\n")
        for row in rows():
            found = recorded(row)
            if found is not None:
                file.write(json.dumps(found, separators=(",", ":")).encode() + b"\n")
