"""Random programs of reshapes, windows, slices and joins, held against the same steps on integers.

``python tests/surveys/sized_programs.py 500`` asks about the programs of that many numbers at all sizes from 0 to 40,
and prints which answers are wrong, unknown or long. ``python tests/surveys/sized_programs.py parts 500`` asks in
parts: for sizes from some bounds on, and for smaller sizes as exceptions. `operators/test_sized_programs.py` holds a
sample.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import symbcast as sb
from symbcast.core.algebra.formulas import at_most
from symbcast.core.programs.answer_parts import PartQuestion, small_sizes
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import holds_at, value_function
from symbcast.core.verdicts import Verdict

LARGEST = 40
LONG = 160
SLOW = 2
POINTS = 1700
"""The most points at which a program is run: of three sizes, a sample."""
_NAMES = ("H", "W", "N")


class RefusedError(Exception):
    """A step does not work at some sizes."""


class Numbers:
    """The operations on shapes of integers, as NumPy and ONNX Runtime define them."""

    def reshape(self, data, target, zero_copies=False):
        """Return the target, with a -1 inferred; with ``zero_copies``, a written 0 is the data's size there."""
        if zero_copies:
            target = [data[n] if size == 0 and n < len(data) else size for n, size in enumerate(target)]
        given = [size for size in target if size != -1]
        if len(given) == len(target):
            require(prod(data) == prod(given))
            return tuple(target)
        require(prod(given) != 0 and prod(data) % prod(given) == 0)
        return tuple(prod(data) // prod(given) if size == -1 else size for size in target)

    def pool(self, data, kernel, strides, padding, dilations, ceil_mode):
        """Return the number of positions of a window on each of the last axes."""
        ahead = len(data) - len(kernel)
        return (
            *data[:ahead],
            *(
                positions(n, k, strides, padding, dilations, ceil_mode)
                for n, k in zip(data[ahead:], kernel, strict=True)
            ),
        )

    def slice(self, data, start, stop, axis, step):
        """Return the data's shape with one axis cut as Python cuts it."""
        return tuple(len(range(n)[start:stop:step]) if a == axis else n for a, n in enumerate(data))

    def broadcast(self, left, right):
        """Return the joins of right-aligned sizes."""
        rank = max(len(left), len(right))
        pairs = zip((1,) * (rank - len(left)) + tuple(left), (1,) * (rank - len(right)) + tuple(right), strict=True)
        return tuple(joined(a, b) for a, b in pairs)

    def concat(self, left, right, axis):
        """Return the shape of two parts side by side."""
        require(all(a == b for n, (a, b) in enumerate(zip(left, right, strict=True)) if n != axis))
        return tuple(a + b if n == axis else a for n, (a, b) in enumerate(zip(left, right, strict=True)))


def require(holds):
    """Raise `RefusedError` unless something holds."""
    if not holds:
        raise RefusedError


def joined(a, b):
    """Return the join of two sizes."""
    require(a == b or 1 in (a, b))
    return b if a == 1 else a


def positions(size, kernel, stride, padding, dilation, ceil_mode):
    """Return the number of positions of a window by moving it, one step at a time.

    With ``ceil_mode`` a position may reach less than one stride beyond the end, but begins before the padding there.
    """
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = start = 0
    while start < min(size + padding, room + stride) if ceil_mode else start <= room:
        count, start = count + 1, start + stride
    require(count)
    return count


class Recorded:
    """The same operations, recorded in a program."""

    def __init__(self):
        self.env = sb.ShapeEnv(on_conflict="raise")

    def reshape(self, data, target, zero_copies=False):
        return self.env.reshape(data, target, zero_copies=zero_copies)

    def pool(self, data, kernel, strides, padding, dilations, ceil_mode):
        ahead = len(data) - len(kernel)
        image = (1, 1, *data[ahead:])
        windows = self.env.pool(
            image, kernel, strides=strides, padding=padding, dilations=dilations, ceil_mode=ceil_mode
        )
        return (*data[:ahead], *windows[2:])

    def slice(self, data, start, stop, axis, step):
        return self.env.slice(data, start, stop, axis, step)

    def broadcast(self, left, right):
        return self.env.broadcast(left, right)

    def concat(self, left, right, axis):
        return self.env.concat((left, right), axis)


class Program:
    """A random program: ``run`` does its steps on shapes of any kind, from the sizes in ``names``."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.names = _NAMES[: self.random.choice((1, 2, 2, 2, 3))]
        self.start = self._start()
        self.steps = [self._step() for _ in range(self.random.randint(1, 4))]

    def _start(self):
        """Return the first shape: names and integers."""
        others = [self.random.choice((1, 2, 3, 4, 8)) for _ in range(self.random.randint(0, 1))]
        shape = [*self.names, *others]
        self.random.shuffle(shape)
        return shape

    def _step(self):
        choose = self.random.choice
        kind = choose(("fold", "fold", "merge", "window", "window", "cut", "cut", "join", "beside", "infer"))
        numbers = {name: choose((1, 2, 3, 4, 5, 7, 8, 16)) for name in ("k", "s", "d")}
        return kind, self.random.randint(0, 5), self.random.randint(0, 5), numbers, self.random.random()

    def run(self, operations, sizes):
        """Return the last shape, if each step works; the steps choose axes by the rank alone."""
        shape = tuple(sizes.get(d, d) for d in self.start)
        seen = [shape]
        for step in self.steps:
            shape = tuple(_step(operations, shape, seen, *step))
            seen.append(shape)
        return shape


def _step(operations, shape, seen, kind, first, second, numbers, chance):
    rank, k = len(shape), numbers["k"]
    axis = first % rank
    if kind == "fold":  # an axis into blocks of k
        folded = (*shape[:axis], shape[axis] // k, k, *shape[axis + 1 :])
        return operations.reshape(shape, folded[:6]) if rank < 5 else shape
    if kind == "merge":
        if rank < 2:
            return operations.reshape(shape, (-1, k))
        axis = first % (rank - 1)
        merged = shape[axis] * shape[axis + 1]
        return operations.reshape(shape, (*shape[:axis], merged, *shape[axis + 2 :]))
    if kind == "infer":
        return operations.reshape(shape, (shape[axis] // k if chance < 0.4 else k, -1))
    if kind == "window":
        few = 1 + second % min(2, rank)
        padding = (numbers["s"] % 3) % ((k + 1) // 2 + 1) if k > 1 else 0
        return operations.pool(shape, (k,) * few, numbers["s"], padding, 1 + numbers["d"] % 2, chance < 0.3)
    if kind == "cut":
        ends = (None, k, -k, shape[axis] // 2, numbers["d"])
        return operations.slice(
            shape, (0, 1, -numbers["s"], k, None)[first % 5], ends[second % 5], axis, (1, 1, 2, 3)[numbers["s"] % 4]
        )
    other = seen[second % len(seen)]
    if kind == "join":
        return operations.broadcast(shape, other)
    if len(other) != rank:
        other = shape
    return operations.concat(shape, other, axis)


def held(number):
    """Return what is wrong with the answer about a program, and its condition and verdict."""
    program, recorded = Program(number), Recorded()
    env = recorded.env
    try:
        output = sb.shape(program.run(recorded, {name: env.symbol(name) for name in program.names})).dims
        guard, verdict = env.guard(), env.verdict.value
    except (sb.IncompatibleProgramError, sb.OperatorError):  # no sizes allow an operation
        output, guard, verdict = (), None, "never"
    names = plain_answer(env).shown
    lengths = [d if isinstance(d, int) else value_function(d, tuple(names)) for d in output]
    faults, works = [], Counter()
    for point in points(number, len(program.names)):
        at = dict(zip(program.names, point, strict=True))
        expected = _result(program, at)
        works[expected is not None] += 1
        accepted = guard is not None and guard(**{name: at[name] for name in guard.parameters})
        if accepted != (expected is not None):
            faults.append(f"at {at} the condition is {accepted}, and the program gives {expected}")
        elif expected is not None:
            sizes = [at[name] for name in names.values()]
            found = tuple(d if isinstance(d, int) else d(*sizes) for d in lengths)
            if found != expected:
                faults.append(f"at {at} the output is {expected} instead of {found}")
    if works[{"always": False, "never": True}.get(verdict)]:
        faults.append(f"{verdict}, but of {works}")
    return Held(faults, verdict, "False" if guard is None else str(env.condition), env)


class Held(NamedTuple):
    """What is wrong with the answer about a program, its verdict and condition, and the program."""

    faults: list
    verdict: str
    condition: str
    env: sb.ShapeEnv


def held_in_parts(number):
    """Return what is wrong with the answer in parts about a program, and how many regions were not analysed."""
    program, recorded = Program(number), Recorded()
    try:
        program.run(recorded, {name: recorded.env.symbol(name) for name in program.names})
    except (sb.IncompatibleProgramError, sb.OperatorError):
        return [], 0
    asked = plain_answer(recorded.env)
    sizes = {name: size for size, name in asked.shown.items()}
    least = {sizes[n]: program.random.choice((1, 2, 3, 5, 8, 13, 16)) for n in program.names if n in sizes}
    subject = PartQuestion(asked.clauses, tuple(asked.shown), asked.assumptions, asked.min_size)
    found, faults = small_sizes(subject, least), []
    generic = subject.decided([at_most(low, size) for size, low in least.items()])
    for point in points(number, len(program.names)):
        at = dict(zip(program.names, point, strict=True))
        works = _result(program, at) is not None
        at = {sizes[name]: size for name, size in at.items() if name in sizes}
        if all(at[size] >= low for size, low in least.items()):
            answers = [(generic.verdict, generic.clauses)]
        else:
            answers = [(c.verdict, c.clauses) for c in found.cases if holds_at(c.where, at)]
            answers += [(None, ()) for where in found.unanalysed if holds_at(where, at)]
        if len(answers) != 1:
            faults.append(f"at {at} there are {len(answers)} answers")
            continue
        [(verdict, clauses)] = answers
        expected = {None: works, Verdict.ALWAYS: True, Verdict.NEVER: False}.get(
            verdict, all(holds_at(clause, at) for clause in clauses)
        )
        if works != expected:
            faults.append(f"at {at} the answer is {expected}, and the program {works}")
    for case in found.cases:
        evidence = {
            case.witness: case.verdict is not Verdict.NEVER,
            case.counterexample: case.verdict is not Verdict.ALWAYS,
        }
        for ask, exists in evidence.items():
            if (ask() is not None) != exists and not case.decisions[0].evidence_reason:
                faults.append(f"{case.verdict} for {case.where}, and its evidence is {ask()}")
    return faults, len(found.unanalysed)


def _result(program, sizes):
    try:
        return program.run(Numbers(), sizes)
    except RefusedError:
        return None


def points(number, count):
    """Return the sizes at which a program is run: all of one or two names, and some of three."""
    if count < 3:
        return list(product(range(LARGEST + 1), repeat=count))
    few = random.Random(number)
    small = list(product(range(6), repeat=count))
    return small + [tuple(few.randint(0, LARGEST) for _ in range(count)) for _ in range(POINTS - len(small))]


def main():
    """Hold the programs of some numbers, and print what came of them."""
    in_parts = sys.argv[1] == "parts"
    first, count = (int(a) for a in ["0", *sys.argv[1 + in_parts :]][-2:])
    if in_parts:
        parts(first, count)
        return
    outcomes, lengths = Counter(), []
    for number in range(first, first + count):
        started = time.process_time()
        found = held(number)
        took = time.process_time() - started
        outcomes.update({found.verdict: 1, "wrong": bool(found.faults), "unproven": bool(found.env.unproven)})
        lengths.append(len(found.condition))
        if found.faults or found.verdict == "unknown" or found.env.unproven or lengths[-1] > LONG or took > SLOW:
            print(number, found.verdict, lengths[-1], f"{took:.1f} s", *found.faults[:2], found.condition, flush=True)
    lengths.sort()
    print(dict(outcomes), f"median length {lengths[count // 2]}, longest {lengths[-1]}")


def parts(first, count):
    """Hold the answers in parts, and print which are wrong or incomplete."""
    outcomes = Counter()
    for number in range(first, first + count):
        started = time.process_time()
        faults, unanalysed = held_in_parts(number)
        took = time.process_time() - started
        outcomes.update({"wrong": bool(faults), "incomplete": bool(unanalysed), "complete": not unanalysed})
        if faults or unanalysed or took > 2 * SLOW:
            print(number, f"{unanalysed} not analysed, {took:.1f} s", *faults[:2], flush=True)
    print(dict(outcomes))


if __name__ == "__main__":
    main()
