"""Hold reports about random modules against StableHLO: ``survey_random.py COUNT [OPERATOR] [SEED]``.

COUNT modules of each operator are drawn, or COUNT programs of several operators if OPERATOR is "programs" or "indices".
Those that the verifier refuses with dynamic sizes are passed over. Each is refined at sizes from 0 to 4, at most 40
bindings. Wrong answers are printed with the module.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from stablehlo.scores import Outcome, Run, compared, counted
from stablehlo.survey import known_leniency

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from stablehlo_corpora.children import run_all
from stablehlo_corpora.random_modules import MAKERS, module
from stablehlo_corpora.random_programs import program
from stablehlo_corpora.refinement import CONTEXT, NoAnswerError, ir, refined
from stablehlo_corpora.spellings import Indices
from stablehlo_corpora.writer import Module

import symbcast as sb

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
        values += [
            tuple(drawing.choice(pair) for _ in range(slots))
            for pair in drawing.choices(((1, 2), (2, 4), (3, 3), (4, 4), (2, 2), (1, 3)), k=MOST // 2)
        ]
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


def drawn(count: int, only: str, seed: str) -> list[tuple[Module, str]]:
    """Return modules for StableHLO, and the text for us: another spelling of the same program for "indices".

    The refinement knows neither arith nor shape: it answers for the same program in StableHLO's operators.
    """
    if only == "indices":
        return [(program(f"{seed} {n}"), program(f"{seed} {n}", Indices).text) for n in range(count)]
    if only == "programs":
        found = [program(f"{seed} {n}") for n in range(count)]
    else:
        found = [module(o, f"{seed} {n}") for o in ([only] if only else MAKERS) for n in range(count)]
    return [(made, made.text) for made in found]


def score(made: Module, text: str, runs: list[Run]) -> tuple[Counter[str], str]:
    """Return the counts of outcomes, and the first wrong one in words."""
    try:
        report: Any = sb.stablehlo.check(text, min_size=0)
    except sb.SymbcastError as error:
        return Counter(error=1), f"ERROR {type(error).__name__}: {error}\n{text}"
    found = list(compared(report, runs))
    counts = counted(found) + Counter(modules=1, runs=sum(run.outputs is not None for run in runs))
    for kind, run in found:
        if kind not in ("agrees", "open") and not known_leniency(made.operator, Outcome(kind, run)):
            told = f"{report.condition}, {[str(s) for s in report.outputs.values()]} {report.unanalysed}"
            where = f"{run.shapes} {run.values}, gives {run.outputs}"
            return counts, f"WRONG {made.operator}: {kind} at {where}; we say\n    {told}\n{text}"
    return counts, ""


def main() -> None:
    count, only, seed = int(sys.argv[1]), *(sys.argv[2:] + ["", "0"][len(sys.argv[2:]) :])
    asked = drawn(count, only, seed)
    per: dict[str, Counter[str]] = defaultdict(Counter)
    for (made, text), (kind, runs) in zip(asked, run_all(runs_of, [m for m, _ in asked]), strict=True):
        if kind != "ok" or runs is None:
            per[made.operator]["refused" if kind == "ok" else f"StableHLO: {kind}"] += 1
            continue
        counts, wrong = score(made, text, runs)
        per[made.operator] += counts
        if wrong:
            print(wrong)
    for operator, numbers in per.items():
        print(operator, dict(numbers))
    print(dict(sum(per.values(), Counter())))


if __name__ == "__main__":
    main()
