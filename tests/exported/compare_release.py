"""Records what another release of torch says and does other than the modelled one.

``PYTHONPATH=tests:tests/support python tests/exported/compare_release.py``, in an environment with the other release,
writes ``tests/data/torch/newest.json``: runs of the calls in ``operator_cases.py`` that differ from the recorded ones,
messages of ``error_cases.py`` in other words with the lines of `read_error` about them, and guards of small models
that differ.

Torch 2.15.0 is on PyPI only as a build for CUDA. It was imported on a machine without CUDA, with empty libraries
that have the names of CUDA's: all calls here run on the CPU.
"""

from __future__ import annotations

import gzip
import json
import logging
import sys
import warnings
from pathlib import Path

import torch

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from error_cases import ALL, text_of
from exported import record_errors, record_guards
from exported.record_operators import TARGET, recorded
from exported_models import CASES
from exported_others import OTHERS
from operator_calls import points, sizes_in
from operator_rules import unpacked

OWN = ("unet", "fpn", "cached_attention", "tcn", "segmenter", "spectrum", "blocks")
"""The models that need no package besides torch."""


def operators():
    """Return for each operator that differs how many runs do, and the first of them."""
    rows = [json.loads(line) for line in gzip.decompress(TARGET.read_bytes()).decode().splitlines()]
    found = {}
    for row in rows:
        before = unpacked(row["runs"])
        (now,) = recorded(row["op"], [row["args"]])
        letters = sizes_in(row["args"])
        for at, old, new in zip(points(letters), before, now, strict=True):
            if old != new:
                sizes = dict(zip(letters, at, strict=True))
                first = {"args": row["args"], "sizes": sizes, "before": old, "now": new}
                found.setdefault(row["op"], {"differ": 0, "first": first})["differ"] += 1
    return found


def messages():
    """Return the messages whose words differ, each with the lines of `read_error`."""
    known = json.loads(record_errors.TARGET.read_text("utf-8"))
    found = {}
    for name in ALL:
        text = text_of(name)
        text = "" if text is None else record_errors.plain(text)
        if text != known[name]["text"]:
            found[name] = {"text": text, "says": record_errors.heads(text)}
    return found


def guards():
    """Return the models whose clauses differ, each with its clauses."""
    known = json.loads(record_guards.TARGET.read_text("utf-8"))
    found = {}
    for name in OWN:
        case = {**CASES, **OTHERS}[name]()
        program = torch.export.export(case.module, case.args, case.kwargs, dynamic_shapes=case.auto())
        clauses = record_guards.recorded(program)["clauses"]
        if sorted(clauses) != sorted(known[name]["clauses"]):
            found[name] = clauses
    return found


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(2)
    found = {"release": torch.__version__.partition("+")[0], "operators": operators()}
    logging.disable(logging.NOTSET)  # some messages are logs
    found |= {"messages": messages(), "guards": guards()}
    (TARGET.parent / "newest.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print({key: value if key == "release" else len(value) for key, value in found.items()})


if __name__ == "__main__":
    main()
