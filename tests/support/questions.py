"""Random questions, and what brute force says of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import reference
from hypothesis import strategies as st

import symbcast as sb

NAMES = "abc"
SIZES = range(7)

names = st.sampled_from(NAMES)
compound = st.one_of(
    names.map("2*{}".format),
    names.map("{}+1".format),
    names.map("{}//2".format),
    names.map("{}%3".format),
    names.map("({}+1)//2".format),
    names.map("{}//2*2".format),
    st.tuples(names, names).map(lambda p: f"{p[0]}+{p[1]}"),
    st.tuples(names, names).map(lambda p: f"{p[0]}*{p[1]}"),
    st.tuples(names, names).map(lambda p: f"max({p[0]}, {p[1]})"),
    names.map("{}-1".format),
)
pure_dims = st.one_of(st.integers(0, 4).map(str), names)
dims = st.one_of(st.integers(0, 4).map(str), names, compound)

about_one = st.one_of(
    st.tuples(names, st.sampled_from(["{} >= 2", "{} != 1", "{} % 2 == 0", "1 <= {} <= 4", "{} % 3 == 1", "{} <= 3"]))
).map(lambda p: p[1].format(p[0]))
about_two = st.tuples(
    names,
    names,
    st.sampled_from(
        ["{} == {}", "2*{} <= {}", "{} < {}", "{} + {} == 5", "{} != {}", "{} == 2*{}", "{} == 1 or {} == 2"]
    ),
).map(lambda p: p[2].format(p[0], p[1]))
equalities = st.tuples(names, names).map(lambda p: f"{p[0]} == {p[1]}")
pure_assumptions = st.lists(st.one_of(about_one, equalities), max_size=2)
assumptions = st.lists(st.one_of(about_one, about_two), max_size=2)


def names_in(*texts):
    """Return the names in texts, in order."""
    text = " ".join(texts).replace("max", "")
    return [name for name in NAMES if name in text]


@dataclass
class Question:
    """A call of `symbcast.broadcast`, in text."""

    rule: str
    shapes: list[list[str]]
    attributes: dict = field(default_factory=dict)
    assume: list[str] = field(default_factory=list)
    min_size: int = 0

    def ask(self):
        texts = [f"[{', '.join(shape)}]" for shape in self.shapes]
        # Text must speak of sizes that the shapes have; a condition may know of others.
        is_text = {*names_in(*self.assume)} <= {*names_in(*texts)}
        assume = self.assume if is_text else [sb.Condition(a) for a in self.assume]
        return sb.broadcast(*texts, rule=self.rule, assume=assume, min_size=self.min_size, **self.attributes)

    def symbols(self):
        return names_in(*(d for s in self.shapes for d in s), *self.assume)

    def outcomes(self):
        """Yield each binding over 0..6 that meets the assumptions, with the output shape, None where refused."""
        shapes = [[compile(d, "dim", "eval") for d in s] for s in self.shapes]
        assumed = [compile(a, "assumption", "eval") for a in self.assume]
        symbols = self.symbols()
        for sizes in itertools.product(range(self.min_size, SIZES.stop), repeat=len(symbols)):
            scope = dict(zip(symbols, sizes, strict=True), max=max)
            if all(eval(a, scope) for a in assumed):
                concrete = [tuple(eval(d, scope) for d in s) for s in shapes]
                yield dict(zip(symbols, sizes, strict=True)), self.reference(concrete)

    def reference(self, concrete):
        if any(size < 0 for shape in concrete for size in shape):
            return None  # not a shape, so there is nothing to broadcast
        return reference.RULES[self.rule](*concrete, **self.attributes)


@st.composite
def questions(draw, dims=dims, assumptions=assumptions):
    """Draw a question about any rule."""
    shape = st.lists(dims, max_size=3)
    rule = draw(st.sampled_from(["numpy", "numpy", *reference.RULES]))
    if rule in ("numpy", "paddle"):
        shapes = draw(st.lists(shape, min_size=1, max_size=3))
        attributes = {"min_rank": 1} if rule == "paddle" and draw(st.booleans()) else {}
    else:
        long, short = sorted((draw(shape), draw(shape)), key=len, reverse=True)
        if rule == "none" and draw(st.booleans()):
            long = long[: len(short)]
        shapes = [long, short] if rule in ("pdpd", "onnx-legacy", "none") else [short, long]
        attributes = draw(attributes_of(rule, len(shapes[0]), len(shapes[1])))
        if rule == "unidirectional" and draw(st.integers(0, 9)) == 0:
            shapes.reverse()
    return Question(rule, shapes, attributes, draw(assumptions), draw(st.sampled_from([0, 0, 1])))


@st.composite
def attributes_of(draw, rule, first, second):
    """Draw attributes that fit the ranks of two operands."""
    if rule == "pdpd":
        axis = draw(st.integers(-1, first))
        return {"axis": axis, "flavour": draw(st.sampled_from(["document", "openvino"]))}
    if rule == "explicit":
        return {"axes": tuple(sorted(draw(st.permutations(range(second)))[:first]))}
    if rule == "onnx-legacy":
        return {"broadcast": draw(st.integers(0, 1)), "axis": draw(st.sampled_from([None, 0, 1, -1]))}
    return {}
