"""Random small questions, each of their bindings from 0 to 5, and what rules give there, worked out on integers."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

import reference

NAMES = "abc"
SIZES = range(6)
PLAIN = [*NAMES, *NAMES, "0", "1", "2", "3"]
COMPOUND = ["2*a", "b + 1", "a//2", "c % 3", "a + b", "max(a, c)", "b - 1", "a*b", "(c + 1)//2"]
ASSUMED = [[], [], ["a >= 2"], ["b != 1"], ["a == b"], ["c % 2 == 0"], ["a <= b"], ["2 <= b", "b <= 4"], ["a + b == 5"]]


@dataclass
class Rule:
    """A rule with attributes, as it is written, and as the reference has it."""

    name: str
    attributes: dict = field(default_factory=dict)

    def __str__(self):
        given = ", ".join(f"{name}={value!r}" for name, value in self.attributes.items())
        return f"{self.name}({given})" if given else self.name

    def places(self, ranks):
        """Return on which output axis each axis of the two operands lies."""
        first, second = ranks
        if self.name == "explicit":
            return [self.attributes["axes"], range(second)]
        axis = self.attributes.get("axis", None if self.name == "onnx-legacy" else -1)
        if self.name == "pdpd" and axis != -1:
            return [range(first), range(axis, axis + second)]
        if self.name == "onnx-legacy" and self.attributes and axis is not None:
            start = axis if axis >= 0 else axis + first
            return [range(first), range(start, start + second)]
        rank = max(ranks)
        return [range(rank - first, rank), range(rank - second, rank)]

    def output(self, shapes):
        if any(size < 0 for shape in shapes for size in shape):
            return None  # not shapes, so there is nothing to broadcast
        return reference.RULES[self.name](*shapes, **self.attributes)


@dataclass
class Case:
    """Two shapes in text, and what is assumed of their sizes."""

    shapes: list[list[str]]
    assume: list[str]

    @property
    def names(self):
        text = " ".join([*(d for s in self.shapes for d in s), *self.assume])
        return [name for name in NAMES if name in text.replace("max", "")]

    @property
    def bounded(self):
        """The assumptions, and that every size is one of those that are looked at: brute force knows all then."""
        return [*self.assume, *(f"{name} <= {SIZES[-1]}" for name in self.names)]

    @property
    def texts(self):
        return [f"[{', '.join(shape)}]" for shape in self.shapes]

    def bindings(self):
        """Yield each binding that meets the assumptions, with the shapes there."""
        names = self.names
        shapes = [[compile(d, "dim", "eval") for d in s] for s in self.shapes]
        assumed = [compile(a, "assumption", "eval") for a in self.assume]
        for sizes in itertools.product(SIZES, repeat=len(names)):
            scope = dict(zip(names, sizes, strict=True), max=max)
            if all(eval(a, scope) for a in assumed):
                yield dict(zip(names, sizes, strict=True)), [tuple(eval(d, scope) for d in s) for s in shapes]


def case(choose, is_plain):
    dims = PLAIN if is_plain else [*PLAIN, *COMPOUND]
    shapes = [choose.choices(dims, k=choose.randint(0, 3)) for _ in range(2)]
    assume = choose.choice(ASSUMED)
    text = " ".join(d for s in shapes for d in s).replace("max", "")
    if any(name in a and name not in text for a in assume for name in NAMES):
        assume = []
    return Case(shapes, assume)


def rule(choose, first, second):
    """Return a rule that takes shapes of two ranks; it may refuse them."""
    rules = [
        Rule("numpy"),
        Rule("none"),
        Rule("bidirectional"),
        Rule("unidirectional"),
        Rule("paddle", {"min_rank": 1}),
        Rule("onnx-legacy"),
        Rule("onnx-legacy", {"broadcast": 1, "axis": choose.choice([0, 1, -1])}),
        Rule("pdpd", {"axis": choose.randint(-1, first)}),
        Rule("pdpd", {"axis": choose.randint(-1, first), "flavour": "openvino"}),
    ]
    if first <= second:
        rules.append(Rule("explicit", {"axes": tuple(sorted(choose.sample(range(second), first)))}))
    return choose.choice(rules)


def cases(seed, count, is_plain):
    """Yield shapes and two rules, the same ones for a seed."""
    choose = random.Random(seed)
    for _ in range(count):
        made = case(choose, is_plain)
        ranks = [len(s) for s in made.shapes]
        yield made, rule(choose, *ranks), rule(choose, *ranks)
