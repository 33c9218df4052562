"""Hold reports against what StableHLO says: ``python tests/stablehlo/survey.py testdata|verifier|functions [PART]``.

Prints every wrong answer, what is left open, and the figures. PART limits the survey to rows with these words in their
names.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from stablehlo.scores import Outcome, Run, compared, counted, rows

import symbcast as sb

Row = dict[str, Any]


def testdata_runs(row: Row) -> Iterator[Run]:
    for found in row["bindings"]:
        outputs = found["outputs"]
        values = {int(n): value for n, value in found["values"].items()}
        yield Run(found["shapes"], values, None if isinstance(outputs, str) else outputs)


def verifier_runs(row: Row) -> Iterator[Run]:
    for numbers, outputs in row["runs"]:
        left = iter(numbers)
        yield Run([None if rank is None else [next(left) for _ in range(rank)] for rank in row["ranks"]], {}, outputs)


def function_runs(row: Row) -> Iterator[Run]:
    """Yield the runs of an exported module with its assertions."""
    for shapes, _, outputs, asserted in row["runs"]:
        yield Run(shapes, {}, outputs if asserted and not isinstance(outputs, str) else None)


RUNS: dict[str, Callable[[Row], Iterator[Run]]] = {
    "testdata": testdata_runs,
    "verifier": verifier_runs,
    "functions": function_runs,
}
"""How the rows of each file are read."""


GROUPS = "reduce_scatter: the size need not be a multiple of the groups', nor the result's the quotient"
NOTHING = "its verifier checks no sizes"
CLASHES = "chlo.broadcast_*: static sizes may clash"
LENIENT = {
    **dict.fromkeys((f"ops_stablehlo {n}" for n in (20, 21, 22, 40, 41, 44, 45)), GROUPS),
    **dict.fromkeys(("torch_index_select", "ops_stablehlo 522", "ops_stablehlo 523"), NOTHING),
    **dict.fromkeys(("infer_chlo 1", "chlo_add"), CLASHES),
}
"""Modules that StableHLO's verifier takes at sizes that its specification forbids."""
TYPES = ("ops_stablehlo 42",)
"""Tests of element types that the verifier looks at only where shapes are static."""


def known_leniency(name: str, outcome: Outcome) -> bool:
    """Return whether an outcome is the verifier's fault and not ours."""
    short = name.removesuffix(" open").removesuffix(" results")
    return short in TYPES or (outcome.kind == "refused, but runs" and short in LENIENT)


def outcomes(kind: str, row: Row) -> tuple[Any, list[Outcome]]:
    """Return the report about a row's module, and how it compares with the runs."""
    report = sb.stablehlo.check(row["text"], min_size=0 if kind == "verifier" else 1)
    return report, list(compared(report, list(RUNS[kind](row))))


def main() -> None:
    kind, part = sys.argv[1], " ".join(sys.argv[2:])
    total: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for row in rows(f"{kind}.jsonl.gz"):
        if part not in row["name"]:
            continue
        before = time.perf_counter()
        try:
            report, found = outcomes(kind, row)
        except Exception as error:
            modules["error"] += 1
            print(f"ERROR {row['name']}: {type(error).__name__}: {str(error)[:300]}")
            continue
        total += counted(found)
        took = time.perf_counter() - before
        unknown.update({f"{u.op_type if hasattr(u, 'op_type') else u}"[:100] for u in report.unanalysed})
        worst = next(
            (o for o in found if o.kind not in ("agrees", "open") and not known_leniency(row["name"], o)), None
        )
        kinds = {o.kind for o in found}
        modules["wrong" if worst else "open" if "open" in kinds else "whole"] += 1
        if worst is not None:
            run = worst.run
            print(f"WRONG {row['name']}: {worst.kind} at {run.shapes} {run.values or ''}, gives {run.outputs}; we say")
            print(f"    {report.condition}, {[str(s) for s in report.outputs.values()]}; {dict(counted(found))}")
        elif "open" in kinds:
            unknown_parts = [str(u)[:150] for u in report.unanalysed][:3]
            print(f"OPEN {row['name']}: {unknown_parts} {[str(s) for s in report.outputs.values()]}")
        if took > 2:
            print(f"SLOW {row['name']}: {took:.1f} s")
    print(dict(modules), dict(total), dict(unknown.most_common(20)))


if __name__ == "__main__":
    main()
