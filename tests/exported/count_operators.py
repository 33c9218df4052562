"""Counts the operators that exported programs have, by how they are analysed.

``PYTHONPATH=tests:tests/support python tests/exported/count_operators.py [FILE]`` exports the models of
``exported_models.py``, ``exported_others.py`` and ``training_graphs.py``, the last ones also with their gradients.
FILE has rows of ``survey_models.py``, whose operators are added.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from exported.survey_models import operators_of
from exported_models import CASES
from exported_others import OTHERS
from operator_calls import operator_of
from surveyed_models import allow_imports
from torch.export.experimental import _export_forward_backward
from training_graphs import TRAINING

from symbcast.torch.calls import OPERATORS
from symbcast.torch.eager.runs import TRUSTED
from symbcast.torch.operators.elementwise import by_tag


def exported() -> Iterator[str]:
    """Yield the operators of the tests' own models; models that torch does not export have none."""
    for name, make in {**CASES, **OTHERS, **TRAINING}.items():
        try:
            case = make()
            program = torch.export.export(case.module, case.args, case.kwargs, dynamic_shapes=case.auto())
            yield from operators_of(program.graph_module)
            if name in TRAINING:
                yield from operators_of(_export_forward_backward(program).graph_module)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:150].replace("\n", " "))


def kind_of(name: str) -> str:
    """Return how an overload of torch's operators is analysed."""
    packet = name.partition(".")[0]
    if OPERATORS.get(("", f"aten.{packet}")) is not None or by_tag(operator_of(name)) is not None:
        return "with a rule"
    return "by decomposition" if packet in TRUSTED else "unknown"


def is_overload(name: str) -> bool:
    packet, _, overload = name.partition(".")
    return hasattr(getattr(torch.ops.aten, packet, None), overload)


def main(files: list[str]) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    allow_imports()
    found = set(exported())
    for file in files:
        found |= {n for row in Path(file).read_text("utf-8").splitlines() for n in json.loads(row).get("operators", ())}
    overloads = sorted(filter(is_overload, found))
    print(f"{len(overloads)} overloads of {len({n.partition('.')[0] for n in overloads})} operators")
    for kind in ("with a rule", "by decomposition", "unknown"):
        names = [n for n in overloads if kind_of(n) == kind]
        print(f"{kind}: {len(names)}" + (f": {', '.join(names)}" if kind != "with a rule" else ""))
    core = [f"{o._schema.name.removeprefix('aten::')}.{o._overloadname}" for o in _core()]
    print(f"core: {len(core)}, unknown: {', '.join(n for n in core if kind_of(n) == 'unknown') or 'none'}")


def _core() -> Iterator[torch._ops.OpOverload]:
    """Yield the overloads that torch tags as core."""
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            if torch.Tag.core in getattr(packet, overload).tags:
                yield getattr(packet, overload)


if __name__ == "__main__":
    main(sys.argv[1:])
