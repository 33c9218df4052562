"""Records what torch's operators do at small sizes, by the calls in ``operator_cases.py``.

``PYTHONPATH=tests:tests/support python tests/exported/record_operators.py [OPERATOR ...]`` writes
``tests/data/torch/operators.jsonl.gz`` by torch 2.13.0 on the CPU; operators that are not named stay as recorded.
Each call runs in a fork of its own. A run that ends the process is recorded as a crash.
"""

from __future__ import annotations

import gzip
import json
import sys
import warnings
from itertools import groupby
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from forks import forked
from operator_calls import operator_of, points, sizes_in, with_sizes
from operator_cases import CASES, DEFAULTS

TARGET = Path(__file__).parent.parent / "data" / "torch" / "operators.jsonl.gz"
FAILED, CRASHED, NOTHING = "-", "!", "[]"


def completed(name, args):
    """Return the arguments with those that have no default, and without those that the operator does not have."""
    found = {}
    for argument in operator_of(name)._schema.arguments:
        if argument.name in args:
            found[argument.name] = args[argument.name]
        elif argument.name == "shape" and "size" in args:
            found["shape"] = args["size"]
        elif not argument.has_default_value():
            found[argument.name] = DEFAULTS[argument.name]
    return found


def run(name, args):
    """Return the shapes of the outputs of a call, as text; `FAILED` where it fails."""
    import torch

    def made(shape, dtype):
        if dtype == "int":
            return torch.zeros(shape, dtype=torch.int64)
        named = {"": torch.float32, "complex": torch.complex64}
        return torch.ones(shape, dtype=named.get(dtype) or getattr(torch, dtype))

    try:
        with torch.no_grad():
            found = operator_of(name)(**with_sizes(args, made))
    except Exception:
        return FAILED
    outputs = found if isinstance(found, (list, tuple)) else [found]
    if not outputs:
        return NOTHING
    return ";".join(",".join(map(str, o.shape)) if isinstance(o, torch.Tensor) else f"={o}" for o in outputs)


def recorded(name, calls):
    """Yield the outcomes of calls at all of their points: in one fork, and if that ends, in a fork for each point."""
    left = [_at_points(args) for args in calls]
    while left:
        lines = forked("|".join(run(name, args) for args in call) for call in left)
        yield from (line.split("|") for line in lines)
        left = left[len(lines) :]
        if left:
            alone = [forked(run(name, args) for args in (point,)) for point in left.pop(0)]
            yield [lines[0] if lines else CRASHED for lines in alone]


def _at_points(args):
    letters = sizes_in(args)
    return [with_sizes(args, None, dict(zip(letters, point, strict=True))) for point in points(letters)]


def packed(runs):
    """Return outcomes as text, a run of equal ones as ``<count>*<outcome>``."""
    counted = ((outcome, len(list(group))) for outcome, group in groupby(runs))
    return "|".join(outcome if count == 1 else f"{count}*{outcome}" for outcome, count in counted)


def main(names):
    import torch

    torch.set_num_threads(2)  # with one thread, some convolutions run in another backend
    warnings.simplefilter("ignore")
    lines = gzip.decompress(TARGET.read_bytes()).decode().splitlines() if TARGET.exists() else []
    known = [json.loads(line) for line in lines]
    wanted = {name: [completed(name, args) for args in calls] for name, calls in CASES.items()}
    found = {
        name: [row for row in known if row["op"] == name and row["args"] in calls] for name, calls in wanted.items()
    }
    for name, calls in wanted.items():
        if names and name.partition(".")[0] not in names:
            continue
        made = list(zip(calls, recorded(name, calls), strict=True))
        found[name] = [{"op": name, "args": args, "runs": packed(runs)} for args, runs in made]
        write(row for rows in found.values() for row in rows)
        runs = [outcome for _, outcomes in made for outcome in outcomes]
        print(name, len(made), len(runs), runs.count(CRASHED), flush=True)


def write(rows):
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
