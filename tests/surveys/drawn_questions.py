"""Random questions whose operands are joins, products and quotients by sizes, held against integers.

``python tests/surveys/drawn_questions.py cases 20000 1`` draws that many questions of a kind with a seed, and prints
what is wrong, and how many stay open. The kinds are cases, expands, solve, compare and repairs.
`questions/test_drawn_questions.py` holds a sample of each.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import reference
from small_questions import Rule, rule

import symbcast as sb
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import UndefinedError, size_at

NAMES = "NMK"
SIZES = range(6)
ATOMS = [*NAMES * 4, *"0123"]
TERMS = [
    *("2*{0}", "{0} + 1", "{0} - 1", "{0}//2", "({0} + 1)//2", "{0} % 3", "{0}//2*2", "{0}**2"),
    *("{0} + {1}", "{0}*{1}", "{0}//{1}", "{0} % {1}", "3 - {0}", "{0}*{1}//2"),
    *("min({0}, {1})", "max({0}, {1})", "min({0}, 1)", "max({0} - 2, 1)", "min({0}, {1}, {2})"),
    *("broadcast({0}, {1})", "broadcast({0}, {1})", "broadcast({0}, {1}, {2})", "2*broadcast({0}, {1})"),
    *("broadcast(min({0}, 1), {1}**2)", "max(broadcast({0}, {1}), 1)", "broadcast({0}, {1})//2"),
]
ASSUMED = [
    "{0} >= 2",
    "{0} != 1",
    "{0} % 2 == 0",
    "{0} <= 3",
    "{0} == {1}",
    "{0} <= {1}",
    "{0} + {1} == 5",
    "{0} < 2*{1}",
]


class NoSizeError(Exception):
    """A join of sizes that do not broadcast."""


def broadcast(*sizes):
    found = {size for size in sizes if size != 1}
    if len(found) > 1 or min(sizes) < 0:
        raise NoSizeError
    return found.pop() if found else 1


SCOPE = {"__builtins__": {}, "min": min, "max": max, "broadcast": broadcast}


@cache
def code_of(text):
    return compile(text, "dim", "eval")


def value(text, sizes, undefined=-1):
    """Return the size that a text has; ``undefined``, by default -1, which is no size, where it has none."""
    try:
        return eval(code_of(text), SCOPE, sizes)
    except (ZeroDivisionError, NoSizeError):
        return undefined


def names_in(text):
    return [name for name in NAMES if re.search(rf"\b{name}\b", text)]


@dataclass
class Case:
    """Two shapes in text, and what is assumed about their sizes; a case of `small_questions` with other sizes."""

    shapes: list[list[str]]
    assume: list[str]
    more: list[str] = field(default_factory=list)
    """Other sizes of the question, such as those of a wanted output."""

    @property
    def names(self):
        return names_in(" ".join([*(d for s in self.shapes for d in s), *self.assume, *self.more]))

    @property
    def bounded(self):
        return [*self.assume, *(f"{name} <= {SIZES[-1]}" for name in self.names)]

    @property
    def texts(self):
        return [f"[{', '.join(shape)}]" for shape in self.shapes]

    def bindings(self):
        names = self.names
        for sizes in itertools.product(SIZES, repeat=len(names)):
            binding = dict(zip(names, sizes, strict=True))
            if all(eval(code_of(a), SCOPE, binding) for a in self.assume):
                yield binding, [tuple(value(d, binding) for d in shape) for shape in self.shapes]


def dim(choose, depth):
    """Return a size that text may have: of numbers alone, it may have no value."""
    while True:
        found = term(choose, depth)
        try:
            sb.shape(f"[{found}]")
        except sb.ShapeSyntaxError:
            continue
        return found


def term(choose, depth):
    if depth == 0 or choose.random() < 0.4:
        return choose.choice(ATOMS)
    parts = [term(choose, depth - 1) for _ in range(3)]
    return choose.choice(TERMS).format(*(p if p.isalnum() else f"({p})" for p in parts))


def drawn(choose):
    """Return two shapes, the rule that broadcasts them, and another rule."""
    shapes = [[dim(choose, choose.choice([0, 1, 1, 2])) for _ in range(choose.choice([0, 1, 1, 2, 2]))] for _ in "ab"]
    known = names_in(" ".join(d for s in shapes for d in s))
    assume = [choose.choice(ASSUMED).format(*choose.sample(NAMES, 2)) for _ in range(choose.choice([0, 0, 0, 1, 2]))]
    case = Case(shapes, [a for a in assume if set(names_in(a)) <= set(known)])
    ranks = [len(s) for s in shapes]
    numpy = Rule("numpy")
    return case, choose.choice([numpy, numpy, rule(choose, *ranks)]), rule(choose, *ranks)


def asked(case, by, assume):
    """Return the answer about a case by a rule; None if the rule does not take such shapes, or there are no sizes."""
    try:
        return sb.broadcast(*case.texts, rule=by.name, assume=assume, **by.attributes)
    except (sb.RuleArgumentError, sb.AssumptionError, sb.DimensionError):
        return None


# Cases and the axes on which they stretch operands.


def at(shape, sizes):
    try:
        return tuple(size_at(d, sizes) for d in shape.dims)
    except (UndefinedError, ZeroDivisionError):
        return None


def wrong_layout(result, layout, sizes, shapes, places, output):
    """Yield what a case says about a broadcast that is not so at sizes of the case."""
    read = [n for n in range(len(shapes)) if result.rule.operand_name(n) != "target"]
    if at(layout.shape, sizes) != output:
        yield "output", at(layout.shape, sizes), output
    for place, n in enumerate(read):
        if at(layout.operands[place], sizes) != shapes[n]:
            yield "operand", layout.operands[place], shapes[n]
        strides = at(layout.strides[place], sizes)
        lies = {axis: i for i, axis in enumerate(places[n])}
        for axis, stretched in enumerate(layout.stretched[place]):
            size = shapes[n][lies[axis]] if axis in lies else 1
            own = prod(shapes[n][lies[axis] + 1 :]) if axis in lies else 0
            if size != (1 if stretched else output[axis]) or strides[axis] != (0 if stretched else own):
                yield "axis", n, axis, stretched, strides[axis]


def of_cases(choose):
    case, by, _ = drawn(choose)
    result = asked(case, by, case.assume)
    if result is None:
        return
    try:
        cases = result.cases()
    except sb.UndecidedError:
        yield None
        return
    symbols = {name: s for s, name in (plain_answer(result).scope.names if plain_answer(result).scope else {}).items()}
    symbols = symbols or {name: s for s, name in plain_answer(result).shown.items()}
    for binding, shapes in case.bindings():
        output = by.output(shapes)
        found = [c for c in cases if c.has({s: binding[s] for s in binding})]
        if len(found) != (output is not None):
            yield case, str(by), binding, "is in", found
            continue
        for one in found:
            (layout,) = one.layouts
            places = result.rule.places(list(map(len, shapes))).of
            sizes = {symbols[name]: size for name, size in binding.items()}
            for what in wrong_layout(result, layout, sizes, shapes, places, output):
                yield case, str(by), binding, str(one), what


def of_expands(choose):
    """Hold where operands are stretched against integers, in the answer and in a program."""
    from comparison.test_against_integers import wrong_expansions

    case, by, _ = drawn(choose)
    result = asked(case, by, case.bounded)
    if result is None:
        return
    if result.verdict in (sb.Verdict.NEVER, sb.Verdict.UNKNOWN):
        if result.verdict is sb.Verdict.UNKNOWN:
            yield None
        elif any(by.output(shapes) is not None for _, shapes in case.bindings()):
            yield case, str(by), "never"
        return
    yield from wrong_expansions(case, by, result.expands)


# Wanted outputs, rules compared, and repairs.


def of_solve(choose):
    case, by, _ = drawn(choose)
    rank = choose.choice([max(map(len, case.shapes))] * 3 + [1])
    case.more = [dim(choose, choose.choice([0, 1, 2])) for _ in range(rank)]
    out = f"[{', '.join(case.more)}]"
    try:
        found = sb.solve(*case.texts, out=out, rule=by.name, assume=case.bounded, **by.attributes)
    except (sb.RuleArgumentError, sb.AssumptionError, sb.DimensionError):
        return
    guard, met, all_met = found.condition.guard(), [], True
    for binding, shapes in case.bindings():
        output = by.output(shapes)
        hit = output is not None and output == tuple(value(d, binding) for d in case.more)
        met += [binding] * hit
        all_met = all_met and hit
        if guard(binding) != hit:
            yield case, str(by), binding, str(found.condition)
    verdict = sb.Verdict.NEVER if not met else sb.Verdict.ALWAYS if all_met else sb.Verdict.SOMETIMES
    if found.verdict is sb.Verdict.UNKNOWN:
        yield None
    elif found.verdict is not verdict:
        yield case, str(by), found.verdict, verdict
    elif met:
        yield from _wrong_example(case, by, found.witness(), met)


def _wrong_example(case, by, example, met):
    def smallness(sizes):
        return list(sizes.values()).count(0), sum(sizes.values())

    if example is None or example not in met:
        yield case, str(by), "witness", example
    elif min(map(smallness, met)) < smallness(example):
        yield case, str(by), "a smaller witness than", example


def of_compare(choose):
    from comparison.test_against_integers import wrong_of

    case, *rules = drawn(choose)
    try:
        found = sb.compare(*case.texts, rules=list(map(str, rules)), assume=case.assume)
    except (sb.AssumptionError, sb.DimensionError):
        return
    (pair,) = found.pairs
    for what in wrong_of(pair, case, rules):
        yield case, *map(str, rules), *what
    if pair.order is sb.Order.UNKNOWN:
        yield None


def of_repairs(choose):
    case, _, _ = drawn(choose)
    result = asked(case, Rule("numpy"), case.assume)
    if result is None:
        return
    names = {name: s for s, name in plain_answer(result).shown.items()}
    for repair in result.repairs(6):
        guard, assumed = repair.condition.guard(), [sb.Condition(a).guard() for a in repair.assume]
        for binding, _ in case.bindings():
            if not all(g({n: binding[n] for n in g.parameters}) for g in assumed):
                continue
            sizes = {names[n]: size for n, size in binding.items()}
            shapes = [at(s, sizes) for s in repair.operands]
            output = None if None in shapes or any(n < 0 for s in shapes for n in s) else _output(repair, shapes)
            holds = guard({n: binding[n] for n in guard.parameters})
            if repair.verdict is not sb.Verdict.UNKNOWN and holds != (output is not None):
                yield case, repair.text, binding, holds, output
            if output is not None and at(repair.shape, sizes) != output:
                yield case, repair.text, binding, repair.shape, output
            if repair.verdict is sb.Verdict.ALWAYS and output is None:
                yield case, repair.text, binding, "always"


def _output(repair, shapes):
    if repair.kind != "rule":
        return reference.numpy(*shapes)
    attributes = {p.name: getattr(repair.rule, p.name) for p in repair.rule.parameters}
    return reference.RULES[repair.rule.name](*shapes, **attributes)


KINDS = {"cases": of_cases, "expands": of_expands, "solve": of_solve, "compare": of_compare, "repairs": of_repairs}


def examined(kind, count, seed):
    """Return what is wrong in a number of questions of a kind, and how many stay open."""
    wrong, left_open = [], 0
    for number in range(count):
        found = list(KINDS[kind](random.Random(f"{kind} {seed} {number}")))
        left_open += None in found
        wrong += [(number, *what) for what in found if what is not None][:1]
    return wrong, left_open


if __name__ == "__main__":
    wrong, left_open = examined(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    for what in wrong[:40]:
        print("WRONG", *what)
    print(f"{sys.argv[1]}: {len(wrong)} wrong, {left_open} open of {sys.argv[2]}")
