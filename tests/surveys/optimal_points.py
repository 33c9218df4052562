"""Random conditions and programs held against brute force and plain z3: truth, verdict, and the least witness.

``python tests/surveys/optimal_points.py conditions 1000 [first]`` and ``... programs 500 [first]`` print what is wrong.
z3 gets what was drawn, without symbcast; `z3.Optimize` finds the least sizes in the order that `witness` promises:
fewest zeros, then the least sum, then first in the order of the answer's sizes. `solver/test_optimal_points.py` holds
a sample.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import undefined_terms
import z3
from undefined_terms import COMPARED, NAMES, Drawn

import symbcast as sb

MILLISECONDS = 500
NOT_DRAWN = (sb.ShapeSyntaxError, sb.DimensionError)
"""It joins or divides integers that cannot be."""


class DrawnProgram(Drawn):
    """A requirement, and a broadcast whose output is broadcast again; ``tree`` says when all of it works."""

    def __init__(self, number):
        super().__init__(number)
        first, second, third = (self._term(2) for _ in "abc")
        joined = "broadcast", first, second
        self.required, self.operands = self.text, [undefined_terms.text(t) for t in (first, second, third)]
        self.tree = "and", self.tree, (">=", joined, 0), (">=", ("broadcast", joined, third), 0)
        self.text = " ; ".join([self.required, *self.operands])

    def answer(self):
        env = sb.ShapeEnv()
        env.require(self.required)
        output = env.broadcast(*(f"[{t}]" for t in self.operands[:2]))
        env.broadcast(output, f"[{self.operands[2]}]")
        return env


class DrawnCondition(Drawn):
    def answer(self):
        return sb.Condition(self.text)


KINDS = {"conditions": DrawnCondition, "programs": DrawnProgram}


def formula(tree):
    """Return a drawn condition as z3's expression: a part with a term that has no value does not hold."""
    kind, *parts = tree
    if kind == "not":
        return z3.Not(formula(parts[0]))
    if kind in ("and", "or"):
        return (z3.And if kind == "and" else z3.Or)([formula(part) for part in parts])
    values, needs = zip(*map(term, parts), strict=True)
    if kind != "compatible":
        return z3.And(*needs, COMPARED[kind](*values))
    pairs = [z3.Or(a == b, a == 1, b == 1) for n, a in enumerate(values) for b in values[:n]]
    return z3.And(*needs, *pairs)


def term(tree):
    """Return a drawn term as z3's expression, and where it has a value."""
    if not isinstance(tree, tuple):
        return (z3.Int(tree) if isinstance(tree, str) else z3.IntVal(tree)), z3.BoolVal(True)
    kind, *parts = tree
    (a, first), (b, second) = map(term, parts)
    if kind in ("//", "%"):
        quotient = z3.If(b > 0, a / b, -a / -b)  # z3's rounds down for positive divisors
        return (quotient if kind == "//" else a - b * quotient), z3.And(first, second, b != 0)
    if kind == "broadcast":
        return z3.If(a == 1, b, a), z3.And(first, second, a >= 0, b >= 0, z3.Or(a == b, a == 1, b == 1))
    if kind in ("min", "max"):
        return z3.If((a <= b) if kind == "min" else (a >= b), a, b), z3.And(first, second)
    return {"+": a + b, "-": a - b, "*": a * b}[kind], z3.And(first, second)


def optimum(wanted, names):
    """Return the least sizes by z3, None if there are none, and whether z3 solved it."""
    optimize = z3.Optimize()
    optimize.set("timeout", MILLISECONDS)
    sizes = [z3.Int(name) for name in names]
    optimize.add(wanted, *(size >= 0 for size in sizes))
    for goal in (z3.Sum([z3.If(size == 0, 1, 0) for size in sizes]), z3.Sum(sizes), *sizes):
        optimize.minimize(goal)
    answer = optimize.check()
    if answer != z3.sat:
        return None, answer == z3.unsat
    model = optimize.model()
    return [model.eval(size, model_completion=True).as_long() for size in sizes], True


def cost(sizes):
    """Return the order of evidence: fewest zeros, least sum, first in order; none comes last."""
    return (1, 0, 0, []) if sizes is None else (0, sizes.count(0), sum(sizes), sizes)


def held(kind, number):
    """Return what is wrong with the answers about what is drawn by a number, and how z3 and we did."""
    drawn = KINDS[kind](number)
    try:
        answer = drawn.answer()
    except NOT_DRAWN:
        return [], ["not drawn"]
    except sb.IncompatibleProgramError:
        least, _ = optimum(formula(drawn.tree), NAMES)
        works = any(map(drawn.holds, drawn.points())) or least is not None
        return [f"{drawn.text}: refused, but it works"] if works else [], ["never"]
    names = list(answer.guard(open=True).parameters)
    faults = wrong_points(drawn, answer, names)
    outcomes = [answer.verdict.value]
    asked = formula(drawn.tree)
    for word, wanted, method in (
        ("witness", asked, answer.witness),
        ("counterexample", z3.Not(asked), answer.counterexample),
    ):
        try:
            sizes = method()
        except sb.UndecidedError:
            outcomes.append(f"{word} open")
            continue
        ours = None if sizes is None else [{**dict.fromkeys(names, 1), **sizes}[name] for name in names]
        least, is_solved = optimum(wanted, names)
        outcomes.append(f"{word} {'solved' if is_solved else 'not solved by z3'}")
        if ours is not None and drawn.holds(dict(zip(names, ours, strict=True))) is not (word == "witness"):
            faults.append(f"{drawn.text}: {ours} for {names} is no {word}")
        # Where sizes are multiplied, what z3 returns as the optimum may not be one.
        elif is_solved and cost(least) < cost(ours) and answer.verdict is not sb.Verdict.UNKNOWN:
            faults.append(f"{drawn.text}: the {word} is {ours} for {names}, and z3 has {least}")
    return faults, outcomes


def wrong_points(drawn, answer, names):
    """Return the sizes at which a guard says something else than what was drawn means."""
    try:
        guard = answer.guard()
    except sb.UndecidedError:
        return []
    for point in drawn.points():
        found = guard({n: point.get(n, 1) for n in guard.parameters})
        if found is not drawn.holds({**dict.fromkeys(names, 1), **point}):
            return [f"{drawn.text}: {found} at {point}"]
    return []


def main():
    kind, count, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    outcomes = Counter()
    for number in range(first, first + count):
        try:
            faults, each = held(kind, number)
        except Exception as error:
            faults, each = [f"{type(error).__name__}: {error}"], ["error"]
        outcomes.update([*each, *(["wrong"] if faults else [])])
        for fault in faults[:2]:
            print(number, fault, flush=True)
    print(dict(outcomes))


if __name__ == "__main__":
    main()
