"""Runs nodes of every operator with a rule in ONNX Runtime at sizes from 0 to 3, and keeps what came of them.

    python tests/onnx/record_small_sizes.py

The nodes are drawn around ones that run (`single_nodes`): their sizes, constants, attributes, optional inputs and
versions change, so constants lie around the sizes of buffers, and indices are constants in some and data in others.
"""

from __future__ import annotations

import gzip
import json
import sys
from itertools import product
from pathlib import Path
from random import Random

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from recorded_nodes import DATA
from single_nodes import drawn_of, outcomes, packed, ran, templates

TARGET = DATA / "small_sizes.jsonl.gz"
EACH, TRIES = 2, 4
"""How many nodes of each operator are kept, of how many that are drawn: those come first that run at some sizes."""


def rows():
    """Yield nodes of every operator with what came of them."""
    for key in sorted(templates()):
        kept, others = [], []
        for number in range(TRIES):
            row = drawn_of(Random(f"{key} {number}"), key)
            if not row["symbols"]:
                continue
            row["sizes"] = list(map(list, product(range(4), repeat=len(row["symbols"]))))
            row["outcomes"] = outcomes(row)
            (kept if any(map(ran, row["outcomes"])) else others).append(row)
            if len(kept) == EACH:
                break
        yield from (kept + others[:1])[:EACH]


if __name__ == "__main__":
    with gzip.GzipFile(TARGET, "wb", mtime=0) as file:
        for row in rows():
            del row["sizes"]
            row["outcomes"] = packed(row["outcomes"])
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
