"""Random conditions whose terms have no value at some sizes, and what they mean there, on integers.

A comparison, or a join, with a term that has no value is false; ``not`` is the complement. ``python
tests/support/undefined_terms.py 500 [first]`` holds the conditions of that many numbers against integers, and prints
what is wrong; `properties/test_undefined_terms.py` holds a sample.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import product
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import symbcast as sb

NAMES = "NMK"
SIZES = range(7)
COMPARED = {"==": eq, "!=": ne, "<=": le, "<": lt, ">=": ge, ">": gt}


class Drawn:
    """A random condition of some number: its text, and whether it holds at sizes."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.names = NAMES[: self.random.choice((2, 2, 3))]
        self.tree = self._formula(self.random.choice((1, 2, 2, 3)))
        self.text = text(self.tree)

    def holds(self, sizes):
        return holds(self.tree, sizes)

    def points(self):
        for sizes in product(SIZES, repeat=len(self.names)):
            yield dict(zip(self.names, sizes, strict=True))

    def _formula(self, depth):
        choose = self.random.choice
        kind = (
            choose(("and", "or", "and", "or", "not")) if depth else choose(("==", "==", "!=", "<=", "<", ">=", "join"))
        )
        if kind == "not":
            return kind, self._formula(depth - 1)
        if kind in ("and", "or"):
            return kind, *(self._formula(choose((0, depth - 1))) for _ in range(choose((2, 2, 3))))
        if kind == "join":
            return "compatible", *(self._term(1) for _ in range(choose((2, 2, 3))))
        return kind, self._term(2), self._term(choose((0, 0, 1)))

    def _term(self, depth):
        choose = self.random.choice
        kind = (
            choose(("name", "number"))
            if not depth
            else choose(("//", "//", "%", "broadcast", "+", "-", "*", "max", "min", "name"))
        )
        if kind == "name":
            return choose(self.names)
        if kind == "number":
            return choose((0, 1, 1, 2, 3, 4))
        if kind in ("+", "-", "*"):
            return kind, self._term(depth - 1), choose((1, 2, 3, *self.names))
        if kind in ("//", "%"):
            divisor = choose((*self.names, *self.names, 2, 3, self._term(depth - 1)))
            return kind, self._term(depth - 1), choose(self.names) if value(divisor, {}) == 0 else divisor
        return kind, self._term(depth - 1), choose((*self.names, self._term(depth - 1)))


def text(tree):
    """Return a condition or a term as text."""
    if not isinstance(tree, tuple):
        return str(tree)
    kind, *parts = tree
    said = [text(part) for part in parts]
    if kind == "not":
        return f"not ({said[0]})"
    if kind in ("and", "or"):
        return "(" + f" {kind} ".join(said) + ")"
    if kind in ("compatible", "broadcast", "min", "max"):
        return f"{kind}({', '.join(said)})"
    if kind in COMPARED:
        return f" {kind} ".join(said)
    return "(" + f" {kind} ".join(said) + ")"


def holds(tree, sizes):
    """Return whether a condition holds; a part with a term that has no value does not hold."""
    kind, *parts = tree
    if kind == "not":
        return not holds(parts[0], sizes)
    if kind in ("and", "or"):
        return (all if kind == "and" else any)(holds(part, sizes) for part in parts)
    values = [value(part, sizes) for part in parts]
    if None in values:
        return False
    if kind == "compatible":
        return len({v for v in values if v != 1}) < 2
    return COMPARED[kind](*values)


def value(tree, sizes):
    """Return the value of a term, None where it has none: it divides by 0, or joins what is not equal or 1."""
    if not isinstance(tree, tuple):
        return sizes.get(tree, None if isinstance(tree, str) else tree)
    kind, *parts = tree
    a, b = (value(part, sizes) for part in parts)
    if a is None or b is None:
        return None
    if kind in ("//", "%"):
        return None if b == 0 else a // b if kind == "//" else a % b
    if kind == "broadcast":
        return None if min(a, b) < 0 or (a != b and 1 not in (a, b)) else b if a == 1 else a
    return {"+": a + b, "-": a - b, "*": a * b, "max": max(a, b), "min": min(a, b)}[kind]


def held(number):
    """Return what is wrong with the answers about the condition of a number, and its verdict."""
    drawn = Drawn(number)
    condition = sb.Condition(drawn.text)
    negated, inverse = sb.Condition(f"not ({drawn.text})"), ~condition
    faults = [] if negated.equivalent(inverse) else [f"not ({drawn.text}) is {negated}, and ~ is {inverse}"]
    truth = {tuple(p.values()): drawn.holds(p) for p in drawn.points()}
    asked = {"condition": (condition, True), "not": (negated, False), "~": (inverse, False)}
    asked["~~"] = (~inverse, True)
    for name, (each, wanted) in list(asked.items()):
        asked[f"{name} simplified"] = (each.simplified(), wanted)
        asked[f"{name} read again"] = (sb.Condition(str(each)), wanted)
    for name, (each, wanted) in asked.items():
        faults += wrong_points(f"{name} {each}", each, drawn, truth, wanted)
    faults += wrong_evidence(drawn, condition, truth)
    faults += wrong_program(drawn)
    return faults, condition.verdict.value


def wrong_points(name, condition, drawn, truth, wanted):
    """Return the sizes at which a guard of a condition says something else than the condition means."""
    guard = condition.guard()
    for point in drawn.points():
        found = guard(**{n: point[n] for n in guard.parameters if n in point})
        if found is not (truth[tuple(point.values())] is wanted):
            return [f"{name}: {found} at {point}"]
    return []


def wrong_evidence(drawn, condition, truth):
    """Return what is wrong with the verdict, the witness and the counterexample of a condition."""
    found = set(truth.values())
    try:
        answers = {True: condition.witness(), False: condition.counterexample()}
    except sb.UndecidedError:
        return []
    faults = []
    for wanted, sizes in answers.items():
        if sizes is None and wanted in found:
            faults.append(f"no sizes at which {drawn.text} is {wanted}")
        elif sizes is not None and drawn.holds({**dict.fromkeys(drawn.names, 1), **sizes}) is not wanted:
            faults.append(f"{drawn.text} is not {wanted} at {sizes}")
    verdict = {(True, True): "sometimes", (True, False): "always", (False, True): "never"}
    told = verdict[answers[True] is not None, answers[False] is not None]
    if condition.verdict.value not in (told, "unknown"):
        faults.append(f"{drawn.text} is {condition.verdict.value}, but {answers}")
    return faults


def wrong_program(drawn):
    """Return what is wrong where the condition, its negation and another one are required of a program."""
    faults = []
    other = Drawn(drawn.random.randint(0, 10**6))
    for text_, wanted in ((drawn.text, True), (f"not ({drawn.text})", False)):
        env = sb.ShapeEnv()
        try:
            env.require(text_)
            env.require(other.text)
        except sb.IncompatibleProgramError:
            guard = None
        else:
            guard = env.guard()
        for point in drawn.points():
            sizes = {**dict.fromkeys(NAMES, 2), **point}
            expected = drawn.holds(sizes) is wanted and other.holds(sizes)
            found = guard is not None and guard(**{n: sizes[n] for n in guard.parameters})
            if found is not expected:
                faults.append(f"{text_} and {other.text}: {found} at {sizes}, {env.condition}")
                break
    first, second = sb.Condition(drawn.text), sb.Condition(other.text)
    try:
        implied = first.implies(second)
    except sb.UndecidedError:
        return faults
    fails = [
        p
        for p in product(SIZES, repeat=3)
        if (s := dict(zip(NAMES, p, strict=True))) and drawn.holds(s) and not other.holds(s)
    ]
    if implied and fails:
        faults.append(f"{drawn.text} does not imply {other.text} at {fails[0]}")
    if not implied:
        sizes = {**dict.fromkeys(NAMES, 1), **first.counterexample(second)}
        if not drawn.holds(sizes) or other.holds(sizes):
            faults.append(f"{sizes} is no counterexample of {drawn.text} and {other.text}")
    return faults


def main():
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    outcomes = Counter()
    for number in range(first, first + count):
        try:
            faults, verdict = held(number)
        except sb.ShapeSyntaxError:
            faults, verdict = [], "not a condition"  # it joins or divides integers that cannot be
        except Exception as error:
            faults, verdict = [f"{type(error).__name__}: {error}"], "error"
        outcomes.update({verdict: 1, "wrong": bool(faults)})
        for fault in faults[:2]:
            print(number, fault, flush=True)
    print(dict(outcomes))


if __name__ == "__main__":
    main()
