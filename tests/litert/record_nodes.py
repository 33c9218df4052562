"""Runs every operator of `litert_nodes` in LiteRT, and keeps the models and the shapes of their outputs.

    python tests/litert/record_nodes.py [OPERATOR]

Needs ai-edge-litert. At each of its sizes a model is resized, allocated and invoked in a child process. With an
operator, or "all", nothing is kept, and what symbcast says differently is printed.
"""

from __future__ import annotations

import gzip
import json
import sys
from base64 import b64encode
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support"))

from litert_nodes import model, names, rows, runs, shapes_at
from litert_oracle import Oracle, outcome

DATA = Path(__file__).parents[1] / "data" / "litert" / "nodes.jsonl.gz"


def recorded(row, oracle):
    own = (oracle(model(row), shapes_at(row, s), row["feed"]) for s in reversed(runs(row)))
    told = next((shapes for step, shapes in own if step == "ok"), None)
    # XNNPACK leaves out operators whose outputs have another rank in the file.
    content = model({**row, "ranks": [len(s) for s in told]} if told else row)
    found = [[list(s), outcome(content, s, shapes_at(row, s), row["feed"], oracle)] for s in runs(row)]
    return {"op": row["op"], "model": b64encode(content).decode(), "names": names(row), "runs": found}


def main(only):
    oracle = Oracle()
    if not only:
        lines = [json.dumps(recorded(row, oracle), separators=(",", ":")) for row in rows()]
        DATA.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
        print(len(lines), "rows,", sum(len(json.loads(line)["runs"]) for line in lines), "runs")
        return
    from test_nodes import faults

    for row in (r for r in rows() if r["op"] in only or only == ["all"]):
        kept = recorded(row, oracle)
        wrong = list(faults(kept))
        works = sum(shapes is not None for _, shapes in kept["runs"])
        print(row["op"], row["inputs"], row["attributes"], f"{works}/{len(kept['runs'])}")
        print(*(f"    {w}" for w in wrong[:6]), sep="\n", end="\n" if wrong else "")


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parent))
    main(sys.argv[1:])
