"""Hold reports about random modules against StableHLO: ``python tests/stablehlo/survey_random.py COUNT [OPERATOR] [SEED]``.

COUNT modules of each operator are drawn, or COUNT programs of several operators if OPERATOR is "programs" or "indices"; those that the verifier refuses with dynamic sizes are passed over. Each is
refined at sizes from 0 to 4, at most 40 bindings. Wrong answers are printed with the module.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter, defaultdict
from typing import Any

import symbcast as sb
from stablehlo.scores import Run, compared, counted
from stablehlo.survey import known_leniency
from stablehlo_corpora.children import run_all
from stablehlo_corpora.random_modules import MAKERS, Module, module
from stablehlo_corpora.random_programs import Indices, program
from stablehlo_corpora.refinement import CONTEXT, NoAnswerError, ir, refined

MOST = 40


Binding = tuple[list[tuple[int, ...] | None], dict[int, int]]
"""Shapes of the arguments, and the integers in scalar ones."""


def bindings(asked: Module, seed: object) -> list[Binding]:
    """Return bindings: all with sizes and integers from 0 to 4, or some of them."""
    scalars = [n for n in range(len(asked.arguments)) if f"%arg{n}: tensor<i32>" in asked.text]
    slots = sum(s is None for sizes in asked.arguments for s in sizes) + len(scalars)
    drawing = random.Random(str(seed))
    if 5**slots <= MOST:
        values = list(itertools.product(range(5), repeat=slots))
    else:
        values = [tuple(drawing.randint(0, 4) for _ in range(slots)) for _ in range(MOST // 2)]
        # Equal sizes meet most requirements.
        values += [tuple(drawing.choice(pair) for _ in range(slots)) for pair in drawing.choices(((1, 2), (2, 4), (3, 3), (4, 4), (2, 2), (1, 3)), k=MOST // 2)]
    found = []
    for value in dict.fromkeys(values):
        left = iter(value)
        shapes = [tuple(next(left) if s is None else s for s in sizes) for sizes in asked.arguments]
        found.append((shapes, dict(zip(scalars, left, strict=True))))
    return found


def runs_of(asked: Module) -> list[Run] | None:
    """Return what StableHLO does with a module at small sizes; None if it refuses it with dynamic sizes."""
    with CONTEXT:
        try:
            ir.Module.parse(asked.text)
        except ir.MLIRError:
            return None
    found = []
    for shapes, values in bindings(asked, asked.text):
        try:
            outputs = refined(asked.text, shapes, values)
        except NoAnswerError:
            continue
        found.append(Run(shapes, values, None if isinstance(outputs, str) else outputs))
    return found


def main() -> None:
    count, only = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    seed = sys.argv[3] if len(sys.argv) > 3 else "0"
    asked = [module(o, f"{seed} {n}") for o in MAKERS if only in ("", o) for n in range(count)]
    if only == "programs":
        asked = [program(f"{seed} {n}") for n in range(count)]
    # The refinement knows no arith and no shape dialect: it answers for the same program in StableHLO's operators.
    others = {}
    if only == "indices":
        asked = [program(f"{seed} {n}") for n in range(count)]
        others = {made.text: program(f"{seed} {n}", Indices).text for n, made in enumerate(asked)}
    per: dict[str, Counter[str]] = defaultdict(Counter)
    shown: Counter[str] = Counter()
    for made, (kind, runs) in zip(asked, run_all(runs_of, asked), strict=True):
        if kind != "ok" or runs is None:
            per[made.operator]["refused" if kind == "ok" else f"oracle {kind}"] += 1
            continue
        per[made.operator]["modules"] += 1
        try:
            report: Any = sb.stablehlo.check(others.get(made.text, made.text), min_size=0)
        except Exception as error:
            per[made.operator]["error"] += 1
            print(f"ERROR {type(error).__name__}: {error}\n{made.text}")
            continue
        found = list(compared(report, runs))
        per[made.operator].update(counted(found))
        per[made.operator]["runs"] += sum(run.outputs is not None for run in runs)
        for outcome in found:
            if outcome.kind not in ("agrees", "open") and not known_leniency(made.operator, outcome):
                shown[made.operator] += 1
                if shown[made.operator] <= 3:
                    run = outcome.run
                    print(f"WRONG {made.operator}: {outcome.kind} at {run.shapes} {run.values}, gives {run.outputs}; we say")
                    print(f"    {report.condition}, {[str(s) for s in report.outputs.values()]} {report.unanalysed}\n{others.get(made.text, made.text)}")
                break
    for operator, numbers in per.items():
        print(operator, dict(numbers))
    print(dict(sum(per.values(), Counter())))


if __name__ == "__main__":
    main()
