"""Records where torch's kernels on CUDA do otherwise than those on the CPU, by the calls in ``operator_cases.py``.

``PYTHONPATH=tests:tests/support python tests/exported/record_cuda.py [OPERATOR ...]`` writes
``tests/data/torch/cuda_differences.json`` where torch has a GPU; operators that are not named stay as recorded.
The calls are those of ``operators.jsonl.gz``. An index out of range would end CUDA's context: calls with integer
tensors are left out where the CPU refuses them.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from operator_calls import operator_of, points, sizes_in, with_sizes
from test_rules import ROWS

TARGET = Path(__file__).parents[1] / "data" / "torch" / "cuda_differences.json"
EXAMPLES = 6
KINDS = {(True, False): "CPU runs, CUDA fails", (False, True): "CPU fails, CUDA runs", (True, True): "other shapes"}


def run(name, args, device):
    """Return the shapes of the outputs of a call on a device as text, ``-`` where it fails, and the error."""
    import torch

    def made(shape, dtype):
        if dtype == "int":
            return torch.zeros(shape, dtype=torch.int64, device=device)
        kinds = {"": torch.float32, "complex": torch.complex64}
        return torch.ones(shape, dtype=kinds.get(dtype) or getattr(torch, dtype), device=device)

    try:
        with torch.no_grad():
            found = operator_of(name)(**with_sizes(args, made))
        torch.cuda.synchronize()
    except Exception as error:
        return "-", f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    outputs = found if isinstance(found, (list, tuple)) else [found]
    return ";".join(",".join(map(str, o.shape)) if isinstance(o, torch.Tensor) else f"={o}" for o in outputs), ""


def differences(rows):
    """Yield the points of one operator at which its kernels differ."""
    for row in rows:
        letters = sizes_in(row["args"])
        has_index = ":int" in json.dumps(row["args"])
        for point in points(letters):
            args = with_sizes(row["args"], None, dict(zip(letters, point, strict=True)))
            cpu, problem = run(row["op"], args, "cpu")
            if has_index and cpu == "-":
                continue
            cuda, error = run(row["op"], args, "cuda")
            if cpu != cuda:
                yield {"args": args, "cpu": cpu, "cuda": cuda, "error": error or problem}


def main(names):
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("this needs a GPU")
    about = json.loads(TARGET.read_text("utf-8"))
    kept = [d for d in about["differences"] if names and d["operator"].partition(".")[0] not in names]
    for name, rows in groupby(ROWS, lambda row: row["op"]):
        if names and name.partition(".")[0] not in names:
            continue
        by_kind = {}
        for found in differences(rows):
            by_kind.setdefault(KINDS[found["cpu"] != "-", found["cuda"] != "-"], []).append(found)
        step = {kind: max(1, len(found) // EXAMPLES) for kind, found in by_kind.items()}
        kept += [
            {"operator": name, "kind": kind, "points": len(found), "examples": found[:: step[kind]][:EXAMPLES]}
            for kind, found in by_kind.items()
        ]
        print(name, {kind: len(found) for kind, found in by_kind.items()}, flush=True)
    about["about"] = (
        f"Calls of tests/support/operator_cases.py: torch {torch.__version__}, CPU and {torch.cuda.get_device_name()}."
    )
    about["differences"] = sorted(kept, key=lambda d: (d["operator"], d["kind"]))
    TARGET.write_text(json.dumps(about, indent=1), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
