"""Random whole programs, and what brute force says of them: operations on integers, one after another."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cache

import questions
import reference
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.programs.conditions import plain_answer

SIZES = range(7)

WRITTEN_AS = {"none": 0, "pdpd": 0, "onnx-legacy": 0, "unidirectional": 1, "explicit": 1}
"""The operand whose rank the output has; for the other rules it is the greater of the two."""
LONG_FIRST = ("pdpd", "onnx-legacy", "none")

dims = st.one_of(
    questions.dims, questions.pure_dims, st.tuples(questions.names, questions.names).map(lambda p: f"{p[0]}//{p[1]}")
)
relations = st.one_of(questions.about_one, questions.about_two)


@dataclass(frozen=True)
class Part:
    """An axis of the output of an earlier step."""

    step: int
    axis: int


@dataclass
class Step:
    """One operation; an operand is a list of text and parts, or the number of the step whose output it is."""

    kind: str
    operands: list = field(default_factory=list)
    rule: str = "numpy"
    attributes: dict = field(default_factory=dict)
    text: str = ""

    def uses(self):
        """Return the steps whose outputs this one takes."""
        entries = [e for o in self.operands for e in ([o] if isinstance(o, int) else o)]
        return {e.step if isinstance(e, Part) else e for e in entries if not isinstance(e, str)}


class Run:
    """An environment, the steps that were added to it and their outputs, and those that were refused."""

    def __init__(self, program, on_conflict="record", env=None):
        self.program = program
        self.env = sb.ShapeEnv(min_size=program.min_size, on_conflict=on_conflict) if env is None else env
        self.kept = []
        self.outputs = {}
        self.unknowns = {}
        """The symbol that each ``?`` in text became, by step, operand and axis."""

    def branch(self):
        """Return a run that goes on in a fork."""
        made = Run(self.program, env=self.env.fork())
        made.kept, made.outputs, made.unknowns = list(self.kept), dict(self.outputs), dict(self.unknowns)
        return made

    def add_all(self):
        """Add every step that can be added; return the errors of those that were refused, by step."""
        return {n: error for n in range(len(self.program.steps)) if (error := self.add(n)) is not None}

    def add(self, number):
        """Add a step, unless an output that it takes is not there; return the error if it was refused."""
        step = self.program.steps[number]
        if not step.uses() <= self.outputs.keys():
            return None
        try:
            self._perform(step, number)
        except (sb.IncompatibleProgramError, sb.AssumptionError) as error:
            return error
        self.kept.append(number)
        return None

    def _perform(self, step, number):
        name = f"step{number}"
        if step.kind == "assume":
            self.env.assume(step.text)
            return
        if step.kind == "require":
            self.env.require(step.text, origin=name)
            return
        operands = [self._operand(o) for o in step.operands]
        if step.kind == "equal":
            self.outputs[number] = self.env.equal(*operands, origin=name)
        else:
            self.outputs[number] = self.env.broadcast(*operands, rule=step.rule, origin=name, **step.attributes)
        bound = self.env.operations[-1].operands
        for position, operand in enumerate(step.operands):
            for axis, entry in enumerate(operand if isinstance(operand, list) else ()):
                if entry in UNKNOWNS:
                    self.unknowns[number, position, axis] = bound[position].dims[axis]

    def _operand(self, operand):
        if isinstance(operand, int):
            return self.outputs[operand]
        if all(isinstance(e, str) for e in operand):
            return f"[{', '.join(operand)}]"
        return tuple(self.outputs[e.step][e.axis] if isinstance(e, Part) else e for e in operand)

    # Brute force.

    def points(self, sizes=SIZES):
        """Yield sizes for the symbols of the environment, as a dictionary by symbol, in order of appearance."""
        symbols = tuple(plain_answer(self.env).shown)
        for point in itertools.product(*(self.sizes_of(s, sizes) for s in symbols)):
            yield dict(zip(symbols, point, strict=True))

    def sizes_of(self, symbol, sizes=SIZES):
        """Return those sizes that a symbol can be at all."""
        lower, upper = max(sizes.start, self.program.min_size), sizes.stop - 1
        if isinstance(symbol, Unknown):
            if symbol not in self.unknowns.values():
                return (1,)  # it stands for an axis that cannot be: nothing depends on it
            lower, upper = max(lower, symbol.lower), min(upper, upper if symbol.upper is None else symbol.upper)
        return range(lower, upper + 1)

    def outcome(self, point):
        """Return whether the assumptions hold, whether all steps are valid, and the outputs up to where that ends."""
        scope = {name: point[s] for s, name in plain_answer(self.env).shown.items()}
        valid, outputs = True, {}
        for number in self.kept:
            step = self.program.steps[number]
            if step.kind == "assume":
                if not holds(step.text, scope):
                    return False, valid, outputs
            elif valid:
                output = self._result(number, scope, point, outputs)
                valid = output is not None
                if valid:
                    outputs[number] = output
        return True, valid, outputs

    def _result(self, number, scope, point, outputs):
        step = self.program.steps[number]
        if step.kind == "require":
            return () if holds(step.text, scope) else None
        concrete = [
            self._concrete(operand, (number, position), scope, point, outputs)
            for position, operand in enumerate(step.operands)
        ]
        return None if None in concrete else apply(step, concrete)

    def _concrete(self, operand, place, scope, point, outputs):
        if isinstance(operand, int):
            return outputs[operand]
        sizes = []
        for axis, entry in enumerate(operand):
            if isinstance(entry, Part):
                sizes.append(outputs[entry.step][entry.axis])
            elif entry in UNKNOWNS:
                sizes.append(point[self.unknowns[(*place, axis)]])
            else:
                size = value(entry, scope)
                if size is None or size < 0:
                    return None  # not a shape, so there is nothing to broadcast
                sizes.append(size)
        return tuple(sizes)


@dataclass
class Program:
    steps: list
    min_size: int = 0

    def run(self, on_conflict="record"):
        run = Run(self, on_conflict)
        run.add_all()
        return run


UNKNOWNS = ("?", "?u", "2..5")


def apply(step, shapes):
    """Return what one operation makes of integer shapes; None where it refuses."""
    return reference.none(*shapes) if step.kind == "equal" else reference.RULES[step.rule](*shapes, **step.attributes)


@cache
def _code(text):
    return compile(text, "dim", "eval")


def value(text, scope):
    """Return the value of a dimension; None where it has none."""
    try:
        return eval(_code(text), {"max": max, **scope})
    except ZeroDivisionError:
        return None


def holds(text, scope):
    return eval(_code(text), {"max": max, **scope})


@st.composite
def programs(draw, dims=dims, relations=relations, longest=12, assume=True, references=True, unknowns=True):
    """Draw a program; its later steps take texts, and outputs of earlier ones, whole and in part."""
    count = draw(st.integers(3, longest))
    steps, ranks = [], {}
    kinds = ["broadcast"] * 8 + ["equal"] * 2 + ["require"] + ["assume"] * assume
    for number in range(count):
        kind = draw(st.sampled_from(kinds))
        if kind in ("require", "assume"):
            steps.append(Step(kind, text=draw(relations)))
            continue
        operands = [draw(_operand(dims, ranks if references else {})) for _ in range(2)]
        step = draw(_step(kind, operands, ranks))
        ranks[number] = _rank_of_output(step, ranks)
        steps.append(step)
    if unknowns:
        _put_unknown(draw, steps)
    return Program(steps, draw(st.sampled_from([0, 0, 1])))


@st.composite
def _operand(draw, dims, ranks):
    if ranks and draw(st.booleans()):
        step = draw(st.sampled_from(sorted(ranks)))
        if draw(st.booleans()):
            return step
        parts = [Part(step, axis) for axis in range(ranks[step])]
        entry = st.one_of(st.sampled_from(parts), dims) if parts else dims
        return draw(st.lists(entry, min_size=1, max_size=3))
    return draw(st.lists(dims, max_size=3, min_size=draw(st.sampled_from([0, 1, 1, 1]))))


@st.composite
def _step(draw, kind, operands, ranks):
    def rank(operand):
        return ranks[operand] if isinstance(operand, int) else len(operand)

    if kind == "equal":
        return Step("equal", _alike(*operands, ranks))
    rule = draw(st.sampled_from(["numpy"] * 8 + list(reference.RULES)))
    if rule in ("numpy", "bidirectional", "paddle"):
        attributes = {"min_rank": 1} if rule == "paddle" and draw(st.booleans()) else {}
        return Step("broadcast", operands, rule, attributes)
    operands.sort(key=rank, reverse=rule in LONG_FIRST)
    if rule == "none":
        operands = _alike(*operands, ranks)
    attributes = draw(questions.attributes_of(rule, *map(rank, operands)))
    if rule == "unidirectional" and draw(st.booleans()):
        attributes = {"keep": tuple(a for a in range(rank(operands[1])) if draw(st.booleans()))}
    return Step("broadcast", operands, rule, attributes)


def _alike(left, right, ranks):
    """Return two operands cut to one rank, if texts or parts of outputs are what they are."""
    shown = [[Part(o, axis) for axis in range(ranks[o])] if isinstance(o, int) else o for o in (left, right)]
    rank = min(map(len, shown))
    return [o if len(entries) == rank else entries[:rank] for o, entries in zip((left, right), shown, strict=True)]


def _rank_of_output(step, ranks):
    found = [ranks[o] if isinstance(o, int) else len(o) for o in step.operands]
    if step.kind == "equal":
        return found[0]
    return found[WRITTEN_AS[step.rule]] if step.rule in WRITTEN_AS else max(found)


def _put_unknown(draw, steps):
    """Put an unknown in place of a dimension of some text, or the same labelled one twice."""
    written = draw(st.sampled_from([None, None, None, *UNKNOWNS]))
    places = [(o, axis) for s in steps for o in s.operands if isinstance(o, list) for axis in range(len(o))]
    if written is not None and places:
        for _ in range(2 if written == "?u" else 1):
            operand, axis = draw(st.sampled_from(places))
            operand[axis] = written
