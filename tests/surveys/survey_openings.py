"""Thousands of random models, well formed or slightly not, and whether ONNX Runtime opens them.

    python tests/surveys/survey_openings.py 5000

Nothing is run: only the opening is foreseen. Models are drawn by number. Sessions are opened in processes of their own,
as some models end the process; that counts as a model that is not opened.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
BATCH = 250
OPENED, REFUSED, LEFT, ENDED = "opened", "refused", "left open", "ended"


def opened(model: Any) -> str:
    """Return the error of ONNX Runtime where it does not open a model, with the options it has by default."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors have no class in common
        return str(error)
    return ""


def foreseen(model: Any) -> tuple[str, str]:
    """Return what is said of the opening of a model, and why."""
    from symbcast.errors import ModelError
    from symbcast.onnx.protobuf import walkable_nodes
    from symbcast.onnx.reader import load_model
    from symbcast.onnx.session.initialization import session_refusal
    from symbcast.onnx.validation import validated

    try:
        found = validated(*load_model(model), "onnxruntime", walkable_nodes)
    except ModelError as error:
        return REFUSED, str(error)
    refused = session_refusal(found)
    if refused is None:
        return OPENED, ""
    return REFUSED if refused.is_certain else LEFT, f"{refused.node.op_type}: {refused.text}"


def answered(model: Any) -> str:
    """Return what the whole answer says of a model that is not opened."""
    import symbcast as sb

    try:
        report = sb.onnx.check(model, runtime="onnxruntime")
    except sb.ModelError:
        return REFUSED
    if report.verdict is sb.Verdict.NEVER:
        return REFUSED
    return LEFT if report.verdict is sb.Verdict.UNKNOWN or report.unanalysed else OPENED


def survey(numbers: Iterable[int]) -> list[dict[str, Any]]:
    """Return what comes of the models of some numbers; each number is printed first, should the process end with it."""
    from random_models.openings import opening_model

    found = []
    for number in numbers:
        model, kind = opening_model(number)
        said, why = foreseen(model)
        print(json.dumps([number, kind, said, why]), flush=True)
        error = opened(model)
        if error and said == OPENED:
            said = answered(model)
        found.append({"number": number, "kind": kind, "said": said, "why": why, "error": error})
    return found


def _batch(start: int, count: int) -> tuple[list[dict[str, Any]], int]:
    """Survey models in its own process; return what came of them, and the number of the first one left."""
    command = [sys.executable, __file__, str(count), "--start", str(start), "--batch"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode > 0:
        sys.exit(f"the batch from {start} on went wrong")
    lines = ended.stdout.splitlines()
    if ended.returncode == 0:
        return json.loads(lines[-1]), start + count
    number, kind, said, why = json.loads(lines[-1])
    before = _batch(start, number - start)[0] if number > start else []
    return [*before, {"number": number, "kind": kind, "said": said, "why": why, "error": ENDED}], number + 1


def main() -> None:
    """Survey as many models as asked for, and print where the answers differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, help="how many models")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--batch", action="store_true", help="survey in this process, and print the outcome as JSON")
    options = parser.parse_args()
    end = options.start + options.count
    if options.batch:
        print(json.dumps(survey(range(options.start, end))))
        return
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    start = options.start
    while start < end:
        found, start = _batch(start, min(BATCH, end - start))
        for item in found:
            real = REFUSED if item["error"] else OPENED
            counts[f"{item['said']}, {ENDED if item['error'] == ENDED else real}"] += 1
            kinds[f"{item['kind']}: {real}"] += 1
            if item["said"] not in (real, LEFT):
                print(f"{item['number']} {item['kind']}: said {item['said']} {item['why'][:150]!r}, ", end="")
                print(f"{real} {item['error'][:250]!r}")
        print(f"{start - options.start} models: {dict(counts)}", flush=True)
    print(dict(sorted(kinds.items())))


if __name__ == "__main__":
    main()
