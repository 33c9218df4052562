"""The conditions of models, programs and traced functions, with their lengths: people have to read them.

``python tests/surveys/readable_conditions.py`` records them in ``data/conditions.json``, and prints those of more than
160 characters. `test_readable_conditions.py` fails if one becomes longer. ``python
tests/surveys/readable_conditions.py long`` records in ``data/long_conditions.json`` which shorter candidates were
tried for those, and the smallest sizes at which each candidate is another condition: without one clause, without one
alternative, and those written by hand in ``data/shorter_candidates.json``.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, any_of, clauses, literals

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from onnx_chains import chain
from paths import numpy_survey
from paths.user_functions import functions
from recorded_programs import recorded_programs

DATA = Path(__file__).parents[1] / "data"
RECORDED = DATA / "conditions.json"
TRIED = DATA / "long_conditions.json"
BY_HAND = DATA / "shorter_candidates.json"
LONG = 160
TRIED_PARTS = 1
"""Of very many clauses, so many are left out at the beginning and as many at the end."""
EVERY = 8
"""One of so many traced functions is recorded."""


def conditions() -> Iterator[tuple[str, Callable[[], sb.Condition]]]:
    """Yield the name of each question, and what computes its condition."""
    for path in sorted((DATA / "onnx" / "models").glob("*.onnx.gz")):
        for runtime in ("spec", "onnxruntime"):
            yield f"{path.name.partition('.')[0]} {runtime}", lambda p=path, r=runtime: _of_model(p, r)
    for path in sorted((DATA / "onnx" / "long_conditions").glob("*.onnx.gz")):
        yield f"{path.name.partition('.')[0]} onnxruntime", lambda p=path: _of_model(p, "onnxruntime")
    for levels in range(1, 5):
        yield f"chain of {levels} reshapes", lambda n=levels: sb.onnx.check(chain(n)).condition
    for name, record in recorded_programs().items():
        yield name, lambda r=record: _of_program(r)
    for name, function in list(functions().items())[::EVERY]:
        yield f"{name}()", lambda f=function: _of_function(f)


def _of_model(path: Path, runtime: str) -> sb.Condition:
    model = onnx.load_model_from_string(gzip.decompress(path.read_bytes()))
    return sb.onnx.check(model, runtime=runtime).condition


def _of_program(record: Callable[[sb.ShapeEnv], object]) -> sb.Condition:
    env = sb.ShapeEnv(on_conflict="record")
    record(env)
    return env.condition


def _of_function(function: Callable[..., object]) -> sb.Condition:
    arguments = [numpy_survey.argument(text) for text in function.__annotations__.values()]
    return sb.trace(function, *arguments, max_paths=40).condition


def candidates(text: str) -> Iterator[str]:
    """Yield shorter conditions: without one clause, and without one alternative of a clause."""
    parts = list(clauses(sb.Condition(text).formula))
    chosen = dict.fromkeys([*range(len(parts))[:TRIED_PARTS], *range(len(parts))[-TRIED_PARTS:]])
    for n in chosen:
        others = [*parts[:n], *parts[n + 1 :]]
        if others:
            yield str(sb.Condition(all_of(others)))
        alternatives = literals(parts[n])
        for position in range(len(alternatives)) if len(alternatives) > 1 else ():
            left = any_of(a for k, a in enumerate(alternatives) if k != position)
            yield str(sb.Condition(all_of([*parts[:n], left, *parts[n + 1 :]])))


def difference(text: str, candidate: str) -> dict[str, int] | str | None:
    """Return the smallest sizes at which just one condition holds; None if there are none.

    "not found" means that effort did not suffice: the candidate is not known to be equivalent.
    """
    given, other = sb.Condition(text), sb.Condition(candidate)
    for holds, fails in ((other, given), (given, other)):
        try:
            if not holds.implies(fails):
                return holds.counterexample(fails)
        except sb.UndecidedError:
            return "not found"
    return None


def reasons(text: str, by_hand: list[str]) -> list[dict[str, object]]:
    """Return the candidates that are tried for a condition, each with sizes at which it is another one."""
    tried = []
    for candidate in dict.fromkeys([*by_hand, *candidates(text)]):
        sizes = difference(text, candidate)
        assert sizes is not None or len(candidate) >= len(text), f"shorter, and equivalent: {candidate}"
        tried.append({"candidate": _cut(candidate), "differs_at": sizes})
    return tried


def _cut(text: str) -> str:
    return text if len(text) <= 2 * LONG else f"{text[:LONG]} ... {text[-LONG:]}"


def record_tried() -> None:
    """Record the candidates for the long conditions."""
    found = json.loads(RECORDED.read_text())
    by_hand = json.loads(BY_HAND.read_text())
    long = {name: text for name, text in found.items() if len(text) > LONG}
    lines = [
        f"{json.dumps(name)}: [\n  " + ",\n  ".join(map(json.dumps, reasons(text, by_hand.get(name, [])))) + "\n]"
        for name, text in long.items()
    ]
    TRIED.write_text("{" + ",\n".join(lines) + "}\n")


def main() -> None:
    """Record the conditions, and print what they are like."""
    if sys.argv[1:] == ["long"]:
        record_tried()
        return
    found = {name: str(compute()) for name, compute in conditions()}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n")
    lengths = sorted(map(len, found.values()))
    print(f"{len(lengths)} conditions, median {statistics.median(lengths)}, longest {lengths[-1]}")
    for name, text in found.items():
        if len(text) > LONG:
            print(f"{len(text):6} {name}: {text[:200]}")


if __name__ == "__main__":
    main()
