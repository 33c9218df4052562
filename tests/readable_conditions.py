"""The conditions of models, programs and traced functions, with their lengths: people have to read them.

``python tests/readable_conditions.py`` records them in ``data/conditions.json``, and prints those of more than 160
characters. `test_readable_conditions.py` fails if one becomes longer.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx

import symbcast as sb

sys.path.insert(0, str(Path(__file__).parent))

from onnx_chains import chain
from paths import numpy_survey
from paths.user_functions import functions
from solver import ledger_questions

DATA = Path(__file__).parent / "data"
RECORDED = DATA / "conditions.json"
LONG = 160
EVERY = 8
"""One of so many traced functions is recorded."""


def conditions() -> Iterator[tuple[str, Callable[[], sb.Condition]]]:
    """Yield the name of each question, and what computes its condition."""
    for path in sorted((DATA / "onnx" / "models").glob("*.onnx.gz")):
        for runtime in ("spec", "onnxruntime"):
            yield f"{path.name.partition('.')[0]} {runtime}", lambda p=path, r=runtime: _of_model(p, r)
    for levels in range(1, 5):
        yield f"chain of {levels} reshapes", lambda n=levels: sb.onnx.check(chain(n)).condition
    for name, record in ledger_questions.recorded_programs().items():
        yield name, lambda r=record: _of_program(r)
    for name, function in list(functions().items())[::EVERY]:
        yield f"{name}()", lambda f=function: _of_function(f)


def _of_model(path: Path, runtime: str) -> sb.Condition:
    model = onnx.load_model_from_string(gzip.decompress(path.read_bytes()))
    return sb.onnx.check(model, runtime=runtime).condition


def _of_program(record: Callable[[sb.ShapeEnv], object]) -> sb.Condition:
    env = sb.ShapeEnv(on_conflict="record")
    record(env)
    return env.condition


def _of_function(function: Callable[..., object]) -> sb.Condition:
    arguments = [numpy_survey.argument(text) for text in function.__annotations__.values()]
    return sb.trace(function, *arguments, max_paths=40).condition


def main() -> None:
    """Record the conditions, and print what they are like."""
    found = {name: str(compute()) for name, compute in conditions()}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n")
    lengths = sorted(map(len, found.values()))
    print(f"{len(lengths)} conditions, median {statistics.median(lengths)}, longest {lengths[-1]}")
    for name, text in found.items():
        if len(text) > LONG:
            print(f"{len(text):6} {name}: {text[:200]}")


if __name__ == "__main__":
    main()
