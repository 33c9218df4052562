"""How time and memory grow to 100,000 operations, names, axes and nodes, each length in its own process.

What is dropped after each turn, such as programs, questions and models, must not grow: its memory is that of the
caches, whose share of each vanishes as the number rises.

`benchmarks.speeds` prints the table. An exponent is that of the CPU time between the two longest lengths: of making the
program with the text of its condition, and of each other question to it. Memory is what a length adds, by Python's own
count.
"""

from __future__ import annotations

import json
import math
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from benchmarks.processes import python

LONGEST = 100_000
NOTHING = 0.01
"""Seconds below which the time of a question is not shown: it has been found before, or is the same at any length."""


def operations(count: int) -> object:
    """A chain of broadcasts over eight names."""
    import symbcast as sb

    env = sb.ShapeEnv()
    for n in range(count):
        env.broadcast(f"n{n % 8}, 3", f"n{(n + 1) % 8}, 1")
    return env


def names(count: int) -> object:
    """Broadcasts of two new names each."""
    import symbcast as sb

    env = sb.ShapeEnv()
    for n in range(0, count, 2):
        env.broadcast(f"n{n}, 3", f"n{n + 1}, 1")
    return env


def scattered(count: int) -> object:
    """Broadcasts of two names each, any of so many: nearly all of them are connected."""
    import symbcast as sb

    env = sb.ShapeEnv()
    for n in range(count):
        env.broadcast(f"n{n}, 3", f"n{n * 7919 % count}, 1")
    return env


def joined(count: int) -> object:
    """One axis to which an operation adds a name each."""
    import symbcast as sb

    env = sb.ShapeEnv()
    output: object = "x, 3"
    for n in range(count):
        output = env.broadcast(output, f"n{n}, 1")
    return env


def axes(count: int) -> object:
    """One broadcast of two shapes with so many axes, a name each."""
    import symbcast as sb

    return sb.broadcast(*(tuple([f"{side}{n}" for n in range(count)]) for side in "ab"))


def nodes(count: int) -> object:
    """An ONNX model of repeated layers."""
    import symbcast as sb
    from benchmarks.layers import transformer

    return sb.onnx.check(transformer(max(1, count // 24)), runtime="onnxruntime")


def programs(count: int) -> object:
    """Programs of ten operations over new names, one after another: none of them is kept."""
    import symbcast as sb

    for n in range(count // 10):
        env = sb.ShapeEnv()
        for k in range(10):
            env.broadcast(f"n{n}_{k}, 3", f"m{n}_{k}, 1")
        str(env.condition)
    return None


def conditions(count: int) -> object:
    """Conditions that are asked of one program in turn, each a new one."""
    import symbcast as sb

    env = sb.ShapeEnv()
    env.broadcast("N, 3", "M, 1")
    env.broadcast("M, 4", "K, 1")
    for n in range(count):
        env.implies(f"N != {n + 2} or M == {n + 2}")
    return None


def models(count: int) -> object:
    """ONNX models that are checked in one process, each with its own names: none of them is kept."""
    import onnx.parser

    import symbcast as sb

    for n in range(count):
        model = onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 20]>
            g{n} (float[N{n}, K{n}] x, float[M{n}, {n + 2}] w, float[L{n}, 1] b) => (float y)
            {{ a = MatMul(x, w)  c = Add(a, b)  y = Relu(c) }}""")
        str(sb.onnx.check(model, runtime="onnxruntime"))
    return None


CASES: dict[str, Callable[[int], object]] = {
    "operations over 8 names": operations,
    "names in pairs": names,
    "names in scattered pairs": scattered,
    "names on one axis": joined,
    "axes of two shapes": axes,
    "nodes of a transformer": nodes,
    "operations of programs that are dropped": programs,
    "conditions asked of one program in turn": conditions,
    "models checked in one process": models,
}
LONGEST_OF: dict[Callable[[int], object], int] = {programs: 10_000, conditions: 10_000, models: 1_000}
"""How often what is new each time and not kept is done."""


QUESTIONS: dict[str, Callable[[Any], object]] = {
    "": lambda answer: str(answer.condition),
    "verdict": lambda answer: answer.verdict,
    "shape": lambda answer: str(getattr(answer, "shape", "")),
    "sympy": lambda answer: answer.condition.sympy,
    "witness": lambda answer: answer.witness(),
    "counterexample": lambda answer: answer.counterexample(),
    "guard": lambda answer: answer.to_python(),
}


def measure(case: str, count: int) -> tuple[dict[str, float], int]:
    """Return the CPU seconds of each question about a length and the bytes that remain allocated by a second run."""
    make, seconds = CASES[case], {}
    for question in QUESTIONS.values():
        ask(make(10), question)
    start = time.process_time()
    kept = make(count)
    for name, question in QUESTIONS.items():
        ask(kept, question)
        seconds[name] = time.process_time() - start
        start = time.process_time()
    del kept
    tracemalloc.start()
    kept = make(count)
    ask(kept, QUESTIONS[""])
    return seconds, tracemalloc.get_traced_memory()[0]


def ask(answer: object, question: Callable[[Any], object]) -> None:
    """Ask a question about what a case made, if it keeps anything."""
    if answer is not None:
        question(answer)


HEADS = ("to", "a hundredth of it", "a tenth of it", "all", "exponent", "bytes each", "then, s (exponent)")


def row(case: str) -> tuple[str, ...]:
    """Return the columns of a case."""
    longest = LONGEST_OF.get(CASES[case], LONGEST)
    lengths = [str(longest // part) for part in (100, 10, 1)]
    found = [json.loads(python("-m", "benchmarks.growth", case, count)) for count in lengths]
    tenth, every = found[-2][0], found[-1][0]
    exponents = {name: math.log10(every[name] / tenth[name]) for name in QUESTIONS}
    others = [
        f"{name} {every[name]:.2g} ({exponents[name]:.2f})" for name in filter(None, QUESTIONS) if every[name] > NOTHING
    ]
    times = [f"{seconds['']:.3g} s" for seconds, _ in found]
    return f"{longest:,}", *times, f"{exponents['']:.2f}", f"{found[-1][1] / longest:.0f}", ", ".join(others)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
