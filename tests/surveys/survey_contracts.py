"""Contracts of real models, tried in ONNX Runtime: `python tests/surveys/survey_contracts.py MODEL...`.

For each model it prints the CPU time for the box and the steps of sizes up to 160 (8,000 for samples), and how many of
the contracts' corners and inner points fail in the runtime; contracts that hold with suitable data only are not run. It
also looks for sizes at which the model fails, though it runs at the least and at the greatest sizes that work, and
compares the node that the check names with the runtime's. Each model runs in a process of its own.
"""

import gzip
import itertools
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import symbcast as sb

INNER = 20
CORNERS = 16
SECONDS = 500


def wanted(report):
    """Return ranges that a machine can run: small batches, images and sequences up to 160, samples up to 8,000."""
    found = {}
    for number, name in enumerate(report.contract().wanted):
        is_batch = number == 0 or name.lower().startswith(("b", "n", "tb", "ib", "eb", "lb", "mb"))
        is_audio = name in {"samples", "sequence"} or "input_dim_1" in name
        found[name] = "1..4" if is_batch else "1..8000" if is_audio else "1..160"
    return found


def points_of(contract, chance):
    """Return corners and inner points of a contract's boxes."""
    found = []
    for box in contract.boxes:
        corners = list(itertools.product(*({sizes[0]: 0, sizes[-1]: 0} for sizes in box.values())))
        chance.shuffle(corners)
        found += [dict(zip(box, corner, strict=True)) for corner in corners[:CORNERS]]
        found += [{name: chance.choice(sizes) for name, sizes in box.items()} for _ in range(INNER)]
    return found


def outcomes(path, points):
    """Return what the runtime says at each point: "ok", or its error."""
    lines = "\n".join(map(json.dumps, points))
    command = [sys.executable, __file__, "--run", path]
    try:
        done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ["not run in time"] * len(points)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return found + ["the process died"] * (len(points) - len(found))


def run(path):
    """Run a model at points from standard input: ones, or zeros for indices."""
    import numpy as np
    import onnx
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    data = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    types = {v.name: v.type.tensor_type.elem_type for v in onnx.load_model_from_string(data).graph.input}
    shapes = sb.onnx.check(path, runtime="onnxruntime").inputs
    for line in sys.stdin:
        point = json.loads(line)
        feed = {}
        for value in session.get_inputs():
            shape = shapes[value.name]
            dims = [d if isinstance(d, int) else int(d.subs({s: point[str(s)] for s in d.free_symbols})) for d in shape]
            kind = onnx.helper.tensor_dtype_to_np_dtype(types[value.name])
            feed[value.name] = np.full(dims, 16000 if value.name == "sr" else kind != np.int64, kind)
        try:
            session.run(None, feed)
        except Exception as error:  # the runtime's errors have no class in common
            print(json.dumps(str(error)[:400]), flush=True)
        else:
            print(json.dumps("ok"), flush=True)


def survey(path):
    """Print a line about a model; return whether it has failures, and whether a range fails between its ends."""
    report = sb.onnx.check(path, runtime="onnxruntime")
    _ = report.condition
    ranges, chance, points, seconds = wanted(report), random.Random(1), [], 0.0
    contracts = {}
    for form in ("box", "steps"):
        start = time.process_time()
        contracts[form] = report.contract(ranges, form=form)
        seconds = max(seconds, time.process_time() - start)
        if contracts[form].verdict is sb.Verdict.ALWAYS:
            points += points_of(contracts[form], chance)
    points = [json.loads(text) for text in dict.fromkeys(map(json.dumps, points))]
    data = "; ".join({c.reason for c in contracts.values() if c.verdict is sb.Verdict.SOMETIMES})
    said = outcomes(path, points)
    failing = [p for p, text in zip(points, said, strict=True) if text != "ok" and not lacks_memory(text)]
    unrun = sum(map(lacks_memory, said))
    told = between(path, report, ranges)
    name = Path(path).name[:44]
    print(
        f"{name:44} {seconds:5.2f} s, {len(points)} points, {len(failing)} fail {failing[:1]} "
        f"{f'{unrun} lack memory ' if unrun else ''}{told}{data}",
        flush=True,
    )
    return bool(failing), bool(told)


def lacks_memory(said):
    """Return whether a run ended for want of memory, which says nothing about sizes."""
    return "bfc_arena" in said or "bad_alloc" in said or "Failed to allocate memory" in said


def between(path, report, ranges):
    """Return sizes between the ends of a naive range at which the runtime fails though it runs at the ends."""
    greatest = report.contract(ranges, form="list", most=1)
    if not greatest.boxes:
        return ""
    least = report.witness()
    ends = {name: sorted((least.get(name, 1), sizes[0])) for name, sizes in greatest.boxes[0].items()}
    naive = {name: range(low, high + 1) for name, (low, high) in ends.items()}
    check = greatest.check(naive)
    if not check.ends_work or check.counterexample is None:
        return ""
    corners = [{name: sizes[end] for name, sizes in naive.items()} for end in (0, -1)]
    said = outcomes(path, [*corners, check.counterexample])
    if said[:2] != ["ok", "ok"] or said[2] == "ok":
        return ""
    named = next(f.node for f in check.failures if f.sizes == check.counterexample)
    told = re.search(r"Name:'([^']+)'", said[2])
    agrees = "an unnamed node" if told is None else "as named" if told[1] == named else f"not {told[1]}"
    return f"between the ends: {check.counterexample}, at {named} ({agrees})"


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run(sys.argv[2])
    else:
        found = [survey(path) for path in sys.argv[1:]]
        failing, uneven = (sum(flags) for flags in zip(*found, strict=True))
        print(f"{len(found)} models, {failing} with failures, {uneven} fail between the ends of a range")
