"""Run a model in ONNX Runtime in a separate process, because sizes at which it fails may crash the process.

``python -m symbcast.onnx.runtime_process REQUEST.json`` reads a model and its inputs, and writes a line of
JSON for each run: the shapes of the outputs, or the error. A first line says whether the model could be loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from symbcast.core.structs import NamedTuple

# The element types that inputs can be filled with: real numbers, integers, truth values and text.
FILLABLE = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
# Seconds that one process may take.
TIME_LIMIT = 120.0


class Feed(NamedTuple):
    """The contents of an input: ``values`` in order or, if that is None, by its element type.

    Real numbers are random ones from 0 up to 1, from a fixed seed; integers and truth values are ``number``.
    """

    name: str
    dtype: int
    shape: tuple[int, ...]
    values: tuple[int, ...] | None = None
    number: int = 1
    skipped: int = 0
    """How many rows of a larger input come before: random numbers go on where those end."""
    pads: tuple[int, ...] = ()
    """How many rows are added at the end of each axis, as ``mode`` of `numpy.pad` says."""
    mode: str = "constant"


class RunResult(NamedTuple):
    """The result of a run: the shapes of the outputs, or the error."""

    shapes: dict[str, list[int] | None] | None
    error: str = ""
    is_loaded: bool = True
    is_known: bool = True
    """Whether it was run at all, or ended by itself."""
    digests: dict[str, str] | None = None
    """A hash of the bytes of each output."""


def run_all(
    model: Path, feeds: Sequence[Sequence[Feed]], folder: Path | None = None, kept: Path | None = None
) -> list[RunResult]:
    """Run a model on each of some inputs; a run that crashes the process does not stop the others.

    ``folder`` has the files of the model's external data, if that is not the folder of the model. The outputs of each
    run are written to ``kept``, as arrays by name in ``0.npz`` and so on; only where no process crashed.
    """
    results: list[RunResult] = []
    while len(results) < len(feeds):
        answers, ending = _process(model, feeds[len(results) :], folder, kept)
        results += answers
        if len(results) < len(feeds):
            results.append(RunResult(None, ending, is_known=False))
    return results


def _process(
    model: Path, feeds: Sequence[Sequence[Feed]], data: Path | None, kept: Path | None
) -> tuple[list[RunResult], str]:
    """Return the answers of one process, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        request = Path(folder, "request.json")
        data, kept = (path and path.absolute() for path in (data, kept))
        task = {"model": str(model.absolute()), "feeds": feeds, "data": data and str(data), "kept": kept and str(kept)}
        request.write_text(json.dumps(task), "utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "symbcast.onnx.runtime_process", str(request)],
                capture_output=True,
                timeout=TIME_LIMIT,
                # The child finds symbcast where this process found it.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p or os.curdir for p in sys.path)},
                check=False,
            )
            lines, ending = done.stdout, f"the process ended with status {done.returncode}"
        except subprocess.TimeoutExpired as error:
            lines, ending = error.stdout or b"", f"it took more than {TIME_LIMIT:g} seconds"
    answers = [json.loads(line) for line in lines.decode("utf-8", "replace").splitlines() if line.endswith("}")]
    if answers and "load_error" in answers[0]:
        return [RunResult(None, answers[0]["load_error"], is_loaded=False)] * len(feeds), ending
    return [RunResult(**a) for a in answers], ending


def main(request: Path) -> None:
    """Run a model as requested, and print the result."""
    import onnxruntime

    task = json.loads(request.read_text("utf-8"))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Optimisations are off so that errors name the model's own nodes.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = task["model"]
    if task["data"] is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", task["data"])
        model = Path(model).read_bytes()
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        _answer({"load_error": str(error)})
        return
    names = [o.name for o in session.get_outputs()]
    for position, feeds in enumerate(task["feeds"]):
        try:
            outputs = session.run(names, {name: _longer(_filled(*rest[:-2]), *rest[-2:]) for name, *rest in feeds})
            if task["kept"] is not None:
                _keep(Path(task["kept"], f"{position}.npz"), dict(zip(names, outputs, strict=True)))
            shapes = {n: list(o.shape) if hasattr(o, "shape") else None for n, o in zip(names, outputs, strict=True)}
            digests = {n: _digest(o) for n, o in zip(names, outputs, strict=True)}
            _answer({"shapes": shapes, "digests": digests})
        except Exception as error:
            _answer({"shapes": None, "error": str(error)})


def _keep(path: Path, outputs: dict[str, Any]) -> None:
    import numpy as np

    # Only arrays of numbers: others would be pickled.
    np.savez(path, **{n: o for n, o in outputs.items() if hasattr(o, "dtype") and o.dtype.kind in "fiub"})


def _answer(data: dict[str, Any]) -> None:
    print(json.dumps(data), flush=True)


def _digest(output: Any) -> str:
    """Return a hash of an output: its type, shape and bytes; of sequences and maps, their text."""
    is_plain = hasattr(output, "dtype") and output.dtype != object
    data = f"{output.dtype} {output.shape}".encode() + output.tobytes() if is_plain else repr(output).encode()
    return sha256(data).hexdigest()


def _filled(dtype: int, shape: Sequence[int], values: Sequence[int] | None, number: int, skipped: int = 0) -> Any:
    import numpy as np
    from onnx import TensorProto, helper

    if dtype == TensorProto.STRING:
        return np.full(shape, "", dtype=object)
    kind = np.dtype(helper.tensor_dtype_to_np_dtype(dtype))
    if values is not None:
        return np.asarray(values).astype(kind).reshape(shape)
    if kind.kind == "f":
        rows = [shape[0] + skipped, *shape[1:]] if shape else shape
        filled = np.random.default_rng(0).random(rows).astype(kind)
        return filled[skipped:] if shape else filled
    return np.full(shape, number, dtype=kind)


def _longer(filled: Any, pads: Sequence[int], mode: Any) -> Any:
    import numpy as np

    return np.pad(filled, [(0, pad) for pad in pads], mode) if any(pads) else filled


if __name__ == "__main__":
    main(Path(sys.argv[1]))
