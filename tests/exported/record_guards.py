"""Records torch's guards of the models in ``exported_models.py`` and more, and what it says of a `Dim`.

``PYTHONPATH=tests:tests/support python tests/exported/record_guards.py [NAME ...]`` writes
``tests/data/torch/guards.json``, by torch 2.13.0; models that are not named stay as they are recorded.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from pathlib import Path

import torch

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from exported_models import CASES
from exported_others import OTHERS

from symbcast.torch.guards.guards import guards_of
from symbcast.torch.inputs import read_program_inputs

TARGET = Path(__file__).parent.parent / "data" / "torch" / "guards.json"


def recorded(program):
    """Return the sizes of a program, its guards with what they are read as, and the ranges."""
    inputs = read_program_inputs(program)
    return {
        "sizes": {a.source: str(a.size) for a in inputs.axes if a.is_dynamic},
        "guards": list(program._guards_code),
        "ranges": [g.text for g in guards_of(program, inputs, (), 1).all[len(program._guards_code) :]],
        "clauses": [c.text for c in guards_of(program, inputs, (), 1).clauses],
    }


def main(names):
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    found = json.loads(TARGET.read_text("utf-8")) if TARGET.exists() else {}
    for name in names or [*CASES, "segmenter", "spectrum", "blocks"]:
        case = {**CASES, **OTHERS}[name]()
        program = torch.export.export(case.module, case.args, case.kwargs, dynamic_shapes=case.auto())
        found[name] = {**recorded(program), "error": ""}
        try:
            torch.export.export(case.module, case.args, case.kwargs, dynamic_shapes=case.named())
        except torch._dynamo.exc.UserError as error:
            found[name]["error"] = str(error)
        except AssertionError:
            pass  # of torch's own, as it works out what to say
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
