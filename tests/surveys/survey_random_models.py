"""Thousands of random models held against ONNX Runtime, and what came of them.

    python tests/surveys/survey_random_models.py 10000
    python tests/surveys/survey_random_models.py 2000 --contents

Models are drawn by number, so that one of them can be drawn again. They are asked about in batches, each in a process
of its own: memory is freed, and a model that ends ONNX Runtime's process ends that batch alone.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
BATCH = 500
_FAULTS = ("wrong", "refused", "missed", "always")


def survey(numbers: Iterable[int], of_contents: bool = False) -> dict[str, Any]:
    """Return what comes of the models of some numbers; each number is told first, should the process end with it.

    ``of_contents`` draws models in which sizes alone decide the integers: none that fails may be said to run always.
    """
    from random_models.models import FAMILIES, random_contents, random_model

    counts: dict[str, Counter[str]] = {"outcomes": Counter(), "operators": Counter(), "open": Counter()}
    faults = []
    for number in numbers:
        print(number, flush=True)
        random = Random(number)
        model = random_contents(random) if of_contents else random_model(random, random.choice(list(FAMILIES)))
        counts["operators"].update(_operators(model.proto))
        faults += _held(number, model, counts, of_contents)
    return {**counts, "faults": faults}


def _operators(model: Any) -> list[str]:
    bodies = [model.graph, *model.functions]
    for body in bodies:
        bodies += [a.g for n in body.node for a in n.attribute if a.g.node]
    return [f"{node.domain}:{node.op_type}".removeprefix(":") for body in bodies for node in body.node]


def _held(number: int, model: Any, counts: dict[str, Counter[str]], of_contents: bool) -> list[str]:
    """Hold the report of a model against the runtime; count its outcomes, and return what is wrong."""
    from running import verdicts

    import symbcast as sb

    faults: dict[str, str] = {}
    try:
        report = sb.onnx.check(model.proto, min_size=model.min_size, runtime="onnxruntime")
        for verdict in verdicts(model.proto, report, model.points()):
            counts["outcomes"][verdict.outcome] += 1
            if verdict.outcome in ("early", "noted"):
                counts["open"][f"{verdict.outcome}: {_class(verdict.node, verdict.detail)}"] += 1
            is_always = of_contents and verdict.outcome == "noted" and report.verdict is sb.Verdict.ALWAYS
            if verdict.outcome in _FAULTS or is_always:
                faults.setdefault(
                    "always" if is_always else verdict.outcome,
                    f"{verdict.sizes}: {verdict.detail[:300]} | {report.condition}",
                )
        for node in report.unanalysed:
            if "could not be analysed" in node.reason:
                faults["unfollowed"] = str(node)
    except Exception as error:  # whatever it is, it is the model's finding, and the others go on
        faults["error"] = repr(error)
    return [f"{number} {outcome} {text}" for outcome, text in faults.items()]


def _class(node: str, text: str) -> str:
    """Return the class of a failure: the operator, and what the runtime says without its numbers."""
    found = re.search(r"Op \((\w+)\)|running (\w+) node", text)
    operator = next((g for g in found.groups() if g), "") if found else re.sub(r"_\d+$", "", node)
    said = re.sub(r"^.*(Status Message:|Error\])|/\S+|[\d{}\[\],'=-]+", " ", text)
    return f"{operator}: {' '.join(said.split())[:80]}"


def main() -> None:
    """Survey as many models as are asked for, and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, help="how many models")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--contents", action="store_true", help="integers in the models are for sizes alone to decide")
    parser.add_argument("--batch", action="store_true", help="survey in this process, and print the outcome as JSON")
    options = parser.parse_args()
    end = options.start + options.count
    if options.batch:
        print(json.dumps(survey(range(options.start, end), options.contents)))
        return
    counts: dict[str, Counter[str]] = {"outcomes": Counter(), "operators": Counter(), "open": Counter()}
    faults, ended, start = [], [], options.start
    while start < end:
        last, found = _batch(start, min(BATCH, end - start), options.contents)
        if found is None:
            ended.append(last)
        else:
            for name, counter in counts.items():
                counter.update(found[name])
            faults += found["faults"]
            for fault in found["faults"]:
                print(fault, flush=True)
        # A batch that a model ended is asked about again without it, in two.
        start = (
            last + 1 if found is not None or last == start else _before((start, last), counts, faults, options.contents)
        )
        print(f"{start - options.start} models: {dict(counts['outcomes'])}", flush=True)
    print(f"{len(counts['operators'])} operators: {dict(counts['operators'].most_common())}")
    for name, count in counts["open"].most_common():
        print(f"{count:7d} {name}")
    print(f"{len(faults)} faults; models that ended the runtime: {ended}")


def _before(span: tuple[int, int], counts: dict[str, Counter[str]], faults: list[str], of_contents: bool) -> int:
    """Ask about the models before the one that ended a batch; return the number of the one after it."""
    start, last = span
    _, found = _batch(start, last - start, of_contents)
    if found is not None:
        for name, counter in counts.items():
            counter.update(found[name])
        faults += found["faults"]
    return last + 1


def _batch(start: int, count: int, of_contents: bool) -> tuple[int, dict[str, Any] | None]:
    """Survey models in its own process; return the last one that it came to, and the outcome if it ended well."""
    command = [sys.executable, __file__, str(count), "--start", str(start), "--batch"]
    command += ["--contents"] if of_contents else []
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode > 0:
        sys.exit(f"the batch from {start} on went wrong")
    said = ended.stdout.splitlines()
    return (int(said[-1]), None) if ended.returncode else (start + count - 1, json.loads(said[-1]))


if __name__ == "__main__":
    main()
