"""How time and memory grow to 100,000 operations, names and nodes, and 10,000 axes, each length in its own process.

``PYTHONPATH=tests python -m benchmarks.growth`` prints a table; words limit it to the rows that contain one of them. An
exponent is that of the CPU time between the two longest lengths. Memory is what a length adds, from Python's own count.
"""

from __future__ import annotations

import json
import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

from benchmarks.processes import python

LONGEST = 100_000
FEWER = 10_000
"""For axes, whose condition takes minutes beyond, and programs that are dropped, which are new each time."""


def operations(count: int) -> object:
    """A chain of broadcasts over eight names."""
    import symbcast as sb

    env = sb.ShapeEnv()
    for n in range(count):
        env.broadcast(f"n{n % 8}, 3", f"n{(n + 1) % 8}, 1")
    return env, env.condition


def names(count: int) -> object:
    """Broadcasts of two new names each."""
    import symbcast as sb

    env = sb.ShapeEnv()
    for n in range(0, count, 2):
        env.broadcast(f"n{n}, 3", f"n{n + 1}, 1")
    return env, env.condition


def axes(count: int) -> object:
    """One broadcast of two shapes with so many axes, a name each."""
    import symbcast as sb

    left, right = (sb.Shape(tuple(sb.shape(f"{side}{n}")[0] for n in range(count))) for side in "ab")
    result = sb.broadcast(left, right)
    return result, result.condition


def nodes(count: int) -> object:
    """An ONNX model of repeated layers."""
    import symbcast as sb
    from benchmarks.test_layers import transformer

    report = sb.onnx.check(transformer(max(1, count // 24)), runtime="onnxruntime")
    return report, report.condition


def programs(count: int) -> object:
    """Programs of ten operations over new names, one after another: none of them is kept."""
    import symbcast as sb

    for n in range(count // 10):
        env = sb.ShapeEnv()
        for k in range(10):
            env.broadcast(f"n{n}_{k}, 3", f"m{n}_{k}, 1")
        str(env.condition)
    return None


CASES: dict[str, Callable[[int], object]] = {
    "operations over 8 names": operations,
    "names": names,
    "axes of two shapes": axes,
    "nodes of a transformer": nodes,
    "operations of programs that are dropped": programs,
}


def measure(case: str, count: int) -> tuple[float, int]:
    """Return the CPU seconds of a length and the bytes that remain allocated, each measured in a run of its own."""
    make = CASES[case]
    make(10)
    start = time.process_time()
    kept = make(count)
    seconds = time.process_time() - start
    del kept
    tracemalloc.start()
    kept = make(count)
    held = tracemalloc.get_traced_memory()[0]
    assert kept is not None or case == "operations of programs that are dropped"
    return seconds, held


def rows(words: list[str]) -> Iterator[str]:
    """Yield the table, line by line."""
    yield "| what grows | to | a hundredth of it | a tenth of it | all | exponent | bytes each |"
    yield f"|{'---|' * 7}"
    for case, make in CASES.items():
        if words and not any(word in case for word in words):
            continue
        longest = FEWER if make in (axes, programs) else LONGEST
        lengths = [str(longest // part) for part in (100, 10, 1)]
        found = [json.loads(python("-m", "benchmarks.growth", "--one", case, count)) for count in lengths]
        times = [f"{seconds:.3g} s" for seconds, _ in found]
        exponent = math.log10(found[-1][0] / found[-2][0])
        yield f"| {case} | {longest:,} | {' | '.join(times)} | {exponent:.2f} | {found[-1][1] / longest:.0f} |"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        print(json.dumps(measure(arguments[1], int(arguments[2]))))
        return
    for line in rows(arguments):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
