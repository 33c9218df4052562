"""How much CPU time whole programs take in a process of their own, where no cache holds anything yet: medians of three.

PYTHONPATH=tests:tests/support python -m benchmarks.programs_cold
"""

from __future__ import annotations

import json
import sys
from statistics import median
from time import process_time

from benchmarks.processes import python

PROGRAMS = ["chain 1000", "chain 10000", "chain 100000", "axis 1000", "layers 500", "blocks 500", "dependent 10000"]
ROUNDS = 3


def times(kind: str, length: int) -> dict[str, float]:
    """Return the CPU seconds of each question about a program, one after another, in this process."""
    import symbcast  # noqa: F401 - its start is another question
    from benchmarks import workloads

    if kind in ("chain", "axis"):
        shapes = getattr(workloads, kind)(length)
        build = lambda: workloads.add_all(shapes)  # noqa: E731
    else:
        build = lambda: getattr(workloads, f"add_{kind}")(length)  # noqa: E731
    start = process_time()
    env = build()
    found = {"operations": process_time() - start}
    questions = {
        "verdict": lambda: env.verdict,
        "condition": lambda: env.condition,
        "printed": lambda: str(env.condition),
        "witness": env.witness,
    }
    for name, ask in questions.items():
        start = process_time()
        ask()
        found[name] = process_time() - start
    return found


def in_a_process(program: str) -> dict[str, float]:
    return json.loads(python("-m", "benchmarks.programs_cold", *program.split()))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(times(sys.argv[1], int(sys.argv[2]))))
    else:
        for program in PROGRAMS:
            rounds = [in_a_process(program) for _ in range(ROUNDS)]
            middle = {name: median(r[name] for r in rounds) for name in rounds[0]}
            print(f"{program:16}", *(f"{name} {seconds * 1000:.1f} ms" for name, seconds in middle.items()), sep="  ")
