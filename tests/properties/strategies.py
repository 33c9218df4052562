"""Random questions and programs in text, and what integers say of them: nothing here asks symbcast for a meaning.

A dimension is text that Python evaluates as well, with `broadcast` for the join. A literal that has no value at some
sizes, since it divides by 0 or joins sizes that do not broadcast, is false there, and so is its negation.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import CodeType
from typing import Any

import reference
from hypothesis import strategies as st

import symbcast as sb

LETTERS = "abcdefgh"
LARGE = (2**31, 2**53 + 1, 2**62)
UNKNOWNS = ("?u", "?v:2..5")
MOST_POINTS = 400

Sizes = Mapping[str, int]


class UndefinedError(ArithmeticError):
    """A join of sizes that do not broadcast, or of what is no size."""


def broadcast(*sizes: int) -> int:
    others = {size for size in sizes if size != 1}
    if len(others) > 1 or min(sizes) < 0:
        raise UndefinedError
    return others.pop() if others else 1


GLOBALS = {"__builtins__": {}, "min": min, "max": max, "broadcast": broadcast}


@cache
def _code(text: str) -> CodeType:
    """Return text as Python, every unknown by its label alone."""
    return compile(re.sub(r"\?(\w+)(:\d*\.\.\d*)?", r"_\1", text), "dim", "eval")


def scope_of(sizes: Sizes) -> dict[str, int]:
    return {name.replace("?", "_"): size for name, size in sizes.items()}


def value(text: str, scope: Sizes) -> Any:
    """Return the value of a dimension or a shape; raise `ArithmeticError` where it has none."""
    return eval(_code(text), GLOBALS, scope)


# Dimensions.


@dataclass(frozen=True)
class Dim:
    """A dimension in text, and whether it multiplies and divides by numbers alone."""

    text: str
    is_linear: bool = True

    def __repr__(self) -> str:
        return self.text


def _sum(parts: list[tuple[int, Dim]], constant: int) -> Dim:
    text = " + ".join(f"{coefficient}*{dim.text}" for coefficient, dim in parts)
    return Dim(f"({text} + {constant})", all(dim.is_linear for _, dim in parts))


def _call(function: str, members: list[Dim]) -> Dim:
    return Dim(f"{function}({', '.join(m.text for m in members)})", all(m.is_linear for m in members))


def _by_number(operator: str, dim: Dim, number: int) -> Dim:
    return Dim(f"({dim.text} {operator} {number})", dim.is_linear)


def _of_two(operator: str, left: Dim, right: Dim) -> Dim:
    return Dim(f"({left.text} {operator} {right.text})", False)


coefficients = st.sampled_from([-3, -2, -1, 1, 1, 2, 3, 5])
constants = st.one_of(st.integers(-6, 6), st.integers(-6, 6), st.integers(-6, 6), st.sampled_from([-(2**40), *LARGE]))


@cache
def compounds(names: str, depth: int = 2, is_linear: bool = True) -> st.SearchStrategy[Dim]:
    """Return a strategy for dimensions that are more than a name or an integer."""
    letters = st.sampled_from(names).map(Dim)
    leaves = st.one_of(letters, letters, st.integers(0, 6).map(str).map(Dim))
    inner = st.one_of(leaves, compounds(names, depth - 1, is_linear)) if depth > 1 else leaves
    operators = st.sampled_from(["//", "%"])
    fewest = min(2, len(names))
    several = st.lists(st.tuples(coefficients, letters), min_size=fewest, max_size=3, unique_by=lambda p: p[1].text)
    kinds = [
        st.builds(_sum, st.tuples(coefficients, letters).map(lambda p: [p]), constants),
        st.builds(_sum, several, constants),
        st.builds(_by_number, operators, inner, st.sampled_from([2, 3, 4, 5, 7])),
        st.builds(_call, st.sampled_from(["min", "max", "broadcast"]), st.lists(inner, min_size=2, max_size=3)),
    ]
    if not is_linear:
        kinds += [st.builds(_of_two, st.just("*"), letters, leaves), st.builds(_of_two, operators, inner, letters)]
    return st.one_of(kinds)


# Relations.


@dataclass(frozen=True)
class Relation:
    """A literal, or several relations joined by ``and`` or ``or``."""

    text: str
    is_linear: bool
    word: str = ""
    parts: tuple[Relation, ...] = ()

    def holds(self, scope: Sizes) -> bool:
        if self.parts:
            return (all if self.word == "and" else any)(part.holds(scope) for part in self.parts)
        try:
            return bool(value(self.text, scope))
        except ArithmeticError:
            return False

    def __repr__(self) -> str:
        return self.text


def _compared(is_negated: bool, left: Dim, operator: str, right: Dim) -> Relation:
    text = f"{left.text} {operator} {right.text}"
    return Relation(f"not ({text})" if is_negated else text, left.is_linear and right.is_linear)


def _joined(word: str, parts: list[Relation]) -> Relation:
    if len(parts) == 1:
        return parts[0]
    return Relation(f" {word} ".join(f"({p.text})" for p in parts), all(p.is_linear for p in parts), word, tuple(parts))


@cache
def relations(names: str, is_linear: bool = True) -> st.SearchStrategy[Relation]:
    """Return a strategy for orders, equalities and congruences, some in disjunctions, some negated."""
    letters = st.sampled_from(names).map(Dim)
    numbers = st.one_of(st.integers(0, 6), st.integers(0, 6), st.sampled_from(LARGE)).map(str).map(Dim)
    sides = st.one_of(letters, letters, numbers, compounds(names, 1, is_linear))
    operators = st.sampled_from(["==", "!=", "<=", "<", ">=", ">"])
    few = st.integers(0, 5).map(str).map(Dim)
    facts = st.builds(_compared, st.just(False), letters, st.sampled_from(["==", "!=", ">=", "<="]), few)
    orders = st.builds(_compared, st.booleans(), letters, operators, sides)
    sums = st.builds(_sum, st.lists(st.tuples(coefficients, letters), min_size=1, max_size=2), st.integers(-3, 3))
    residues = st.builds(_by_number, st.just("%"), sums, st.sampled_from([2, 3, 4, 5, 7, 8]))
    equals = st.sampled_from(["==", "!="])
    congruences = st.builds(_compared, st.just(False), residues, equals, st.integers(0, 3).map(str).map(Dim))
    literals = st.one_of(facts, facts, orders, congruences)
    clauses = st.builds(_joined, st.just("or"), st.lists(literals, min_size=2, max_size=4))
    cases = st.builds(_joined, st.just("and"), st.lists(literals, min_size=1, max_size=2))
    unions = st.builds(_joined, st.just("or"), st.lists(cases, min_size=2, max_size=3))
    return st.one_of(literals, literals, clauses, unions)


# Points.


def size_key(sizes: Any) -> tuple[int, int, tuple[int, ...]]:
    """Return what a witness has least of: zeros, then the sum, then the sizes in order of appearance."""
    sizes = tuple(sizes)
    return sum(size == 0 for size in sizes), sum(sizes), sizes


@cache
def grid(count: int) -> tuple[tuple[int, ...], ...]:
    """Return every choice of a few sizes; of more, all up to a small sum, the least ones with no 0 among them."""
    if count <= 3:
        stop = {0: 1, 1: 60, 2: 16, 3: 7}[count]
        return tuple(itertools.product(range(stop), repeat=count))
    few = itertools.product((1, 2, 3, 4, 5), repeat=count) if count < 6 else itertools.product((1, 2, 3), repeat=count)
    return tuple(p for p in few if sum(p) <= count + 3)


def points(names: list[str], seed: str, numbers: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the grid, and sizes drawn about the numbers of a question, alike and unlike."""
    found = grid(len(names))
    yield from found
    draw = random.Random(seed)
    near = [size for n in numbers for size in (n - 1, n, n + 1) if size >= 0]
    pool = [0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 12, *near]
    for _ in range(min(150, MOST_POINTS - len(found))):
        few = draw.sample(pool, 3)
        yield tuple(draw.choice(few if draw.random() < 0.8 else pool) for _ in names)


def numbers_in(text: str) -> list[int]:
    return sorted({int(n) for n in re.findall(r"\d+", text)})


class Asked:
    """What questions and programs have in common: sizes by name, and what integers make of them."""

    assume: list[Relation]
    min_size: int

    @property
    def text(self) -> str:
        raise NotImplementedError

    def run(self, scope: Sizes) -> list[tuple[int, ...]] | None:
        """Return the output of each operation at sizes; None where one of them is not valid."""
        raise NotImplementedError

    @cached_property
    def names(self) -> list[str]:
        """The sizes that the text mentions; symbcast may show them in another order, or lose what cancels."""
        return list(dict.fromkeys(re.findall(rf"\?\w|\b[{LETTERS}]\b", self.text)))

    def allows(self, sizes: Sizes) -> bool:
        """Return whether bounds and assumptions admit sizes."""
        scope = scope_of(sizes)
        bounds = all(size >= self.min_size for size in sizes.values()) and 2 <= sizes.get("?v", 2) <= 5
        return bounds and all(relation.holds(scope) for relation in self.assume)

    def outcome(self, sizes: Sizes) -> list[tuple[int, ...]] | None:
        return self.run(scope_of(sizes))

    def outcomes(self) -> Iterator[tuple[dict[str, int], list[tuple[int, ...]] | None]]:
        """Yield each point that the assumptions admit, with the outputs there, None where it is not valid."""
        for point in points(self.names, self.text, numbers_in(self.text)):
            sizes = dict(zip(self.names, point, strict=True))
            if self.allows(sizes):
                yield sizes, self.outcome(sizes)


def concrete(shape: list[str], scope: Sizes) -> tuple[int, ...] | None:
    """Return a shape at sizes; None where a dimension has no value or is negative: there is nothing to broadcast."""
    try:
        found = tuple(value(dim, scope) for dim in shape)
    except ArithmeticError:
        return None
    return None if min(found, default=0) < 0 else found


# Questions.


@dataclass
class Question(Asked):
    """A call of `symbcast.broadcast`, in text."""

    rule: str
    shapes: list[list[str]]
    attributes: dict[str, Any] = field(default_factory=dict)
    assume: list[Relation] = field(default_factory=list)
    min_size: int = 0
    is_linear: bool = True

    @property
    def operands(self) -> list[str]:
        return [f"[{', '.join(shape)}]" for shape in self.shapes]

    @property
    def text(self) -> str:
        return " ".join([*self.operands, *(a.text for a in self.assume)])

    def ask(self) -> sb.Result:
        given = {"assume": self.texts, "min_size": self.min_size, **self.attributes}
        return sb.broadcast(*self.operands, rule=self.rule, **given)

    @property
    def texts(self) -> list[str]:
        return [a.text for a in self.assume]

    def program(self) -> sb.ShapeEnv:
        """Return the program of this one operation."""
        env = sb.ShapeEnv(assume=self.texts, min_size=self.min_size, on_conflict="record")
        env.broadcast(*self.operands, rule=self.rule, **self.attributes)
        return env

    def run(self, scope: Sizes) -> list[tuple[int, ...]] | None:
        shapes = [concrete(shape, scope) for shape in self.shapes]
        output = None if None in shapes else reference.RULES[self.rule](*shapes, **self.attributes)
        return None if output is None else [output]


@st.composite
def shapes(draw, names, count, rank, compound=None, most=0):
    """Draw shapes whose axes share a few sizes, so that not nearly all of them clash; some sizes are compound."""
    letters = st.sampled_from(names)
    number = st.sampled_from(["0", "2", "3", "4"])
    columns = [[*draw(st.lists(letters, min_size=1, max_size=3)), "1", draw(number)] for _ in range(rank)]
    found = []
    for _ in range(count):
        own = draw(st.integers(0, rank))
        found.append([draw(st.sampled_from(column)) for column in columns[rank - own :]])
    places = [(n, axis) for n, shape in enumerate(found) for axis in range(len(shape))]
    dims = []
    for _ in range(draw(st.integers(1, most)) if most and places else 0):
        n, axis = draw(st.sampled_from(places))
        dim = draw(compound)
        dims.append(dim)
        found[n][axis] = dim.text
    if places and draw(st.integers(0, 9)) == 0:
        n, axis = draw(st.sampled_from(places))
        found[n][axis] = draw(st.sampled_from(UNKNOWNS))
    return found, all(dim.is_linear for dim in dims)


@st.composite
def questions(draw, names=(1, 4), rank=3, operands=4, depth=2, most=2, is_linear=True, facts=3, rules=None):
    """Draw a question about any rule, or about some.

    ``names`` bounds their number; ``most`` is how many dimensions are compound and ``depth`` how deep they nest;
    ``facts`` is how many assumptions there are at most.
    """
    letters = LETTERS[: draw(st.integers(*names))]
    compound = compounds(letters, depth, is_linear)
    rule = draw(st.sampled_from(rules or ["numpy", "numpy", "numpy", *reference.RULES]))
    if rule in ("numpy", "paddle"):
        found, is_plain = draw(shapes(letters, draw(st.integers(1, operands)), rank, compound, most))
        attributes = {"min_rank": 1} if rule == "paddle" and draw(st.booleans()) else {}
    else:
        found, is_plain = draw(shapes(letters, 2, rank, compound, most))
        found, attributes = draw(_fitted(rule, found))
    assumed = draw(st.lists(relations(letters, is_linear), max_size=facts))
    question = Question(rule, found, attributes, [], draw(st.sampled_from([0, 0, 1])))
    question.assume = _linked(question.operands, assumed)
    question.is_linear = is_plain and all(a.is_linear for a in question.assume)
    return question


def _names(read, text):
    """Return the names of the sizes that are left in a text; none where it cannot be read, which the question tells."""
    try:
        return {symbol.name for symbol in read(text).symbols}
    except sb.SymbcastError:
        return set()


def _linked(operands, assumed):
    """Return the assumptions that are about a size of the operands, or linked to one: others are refused."""
    known = set().union(*(_names(sb.shape, operand) for operand in operands))
    groups = [_names(sb.Condition, relation.text) for relation in assumed]
    for _ in groups:
        known.update(*(group for group in groups if group & known))
    return [relation for relation, group in zip(assumed, groups, strict=True) if not group or group & known]


@st.composite
def _fitted(draw, rule, pair):
    """Draw an order of two shapes, and attributes, that a rule can take."""
    short, long = sorted(pair, key=len)
    if rule == "none" and draw(st.integers(0, 3)):
        long = long[len(long) - len(short) :]
    found = [long, short] if rule in ("pdpd", "onnx-legacy", "none") else [short, long]
    first, second = map(len, found)
    if rule == "pdpd":
        return found, {"axis": draw(st.integers(-1, first)), "flavour": draw(st.sampled_from(["document", "openvino"]))}
    if rule == "explicit":
        return found, {"axes": tuple(sorted(draw(st.permutations(range(second)))[:first]))}
    if rule == "onnx-legacy":
        return found, {"broadcast": draw(st.integers(0, 1)), "axis": draw(st.sampled_from([None, 0, 1, -1]))}
    if rule == "unidirectional":
        return found, {"keep": tuple(axis for axis in range(second - first, second) if not draw(st.integers(0, 3)))}
    return found, {}


pure = questions(names=(1, 8), rank=6, operands=10, most=0)
"""Names and integers alone: many of them, of great rank."""
one_name = questions(names=(1, 1), rank=3, operands=4, depth=3, most=4)
"""Several terms in one name."""
linear = questions(names=(2, 4), rank=3, operands=3, depth=1, most=3)
nested = questions(names=(1, 3), rank=2, operands=3, depth=3, most=2)
"""Minimum, maximum, join, // and % within each other."""
large = questions(names=(5, 8), rank=6, operands=10, depth=2, most=4)
"""Nearly all of a great question is plain, and a few of its dimensions are not."""
products = questions(names=(1, 3), rank=2, operands=3, depth=2, most=2, is_linear=False, facts=2)
"""Sizes multiplied, and divided by sizes."""
solvable = st.one_of(pure, one_name, linear, nested, large)
"""Those that are always decided."""
every = st.one_of(solvable, solvable, products)


# Programs.


@dataclass
class Step:
    """An operation; an operand is a shape in text, or the number of the step whose output it is."""

    kind: str
    operands: list[list[str] | int] = field(default_factory=list)
    relation: Relation | None = None

    @property
    def text(self) -> str:
        if self.relation is not None:
            return self.relation.text
        return " ".join(f"[{', '.join(o)}]" for o in self.operands if isinstance(o, list))


@dataclass
class Program(Asked):
    """Operations one after another, each on text or on what an earlier one gave."""

    steps: list[Step]
    assume: list[Relation] = field(default_factory=list)
    min_size: int = 0
    is_linear: bool = True

    @property
    def text(self) -> str:
        return " ".join([*(step.text for step in self.steps), *(a.text for a in self.assume)])

    def build(self) -> tuple[sb.ShapeEnv, dict[int, sb.Shape]]:
        """Return the environment, which records what cannot be, and the output of each step that has one."""
        env = sb.ShapeEnv([a.text for a in self.assume], self.min_size, on_conflict="record")
        outputs: dict[int, sb.Shape] = {}
        for number, step in enumerate(self.steps):
            if step.relation is not None:
                env.require(step.relation.text)
                continue
            given = [outputs[o] if isinstance(o, int) else f"[{', '.join(o)}]" for o in step.operands]
            outputs[number] = env.equal(*given) if step.kind == "equal" else env.broadcast(*given)
        return env, outputs

    def run(self, scope: Sizes) -> list[tuple[int, ...]] | None:
        outputs: list[tuple[int, ...]] = []
        for step in self.steps:
            if step.relation is not None:
                found = () if step.relation.holds(scope) else None
            else:
                given = [outputs[o] if isinstance(o, int) else concrete(o, scope) for o in step.operands]
                rule = reference.none if step.kind == "equal" else reference.numpy
                found = None if None in given else rule(*given)
            if found is None:
                return None
            outputs.append(found)
        return outputs


@st.composite
def programs(draw, names=(1, 4), rank=3, longest=8, depth=2, most=1, is_linear=True, facts=2, threaded=True):
    """Draw a program of broadcasts, equalities and requirements; ``threaded`` ones use what earlier steps gave."""
    letters = LETTERS[: draw(st.integers(*names))]
    compound = compounds(letters, depth, is_linear)
    steps: list[Step] = []
    ranks: dict[int, int] = {}
    is_plain = True
    for number in range(draw(st.integers(1, longest))):
        kind = draw(st.sampled_from(["broadcast"] * 7 + ["equal"] * 2 + ["require"]))
        if kind == "require":
            relation = draw(relations(letters, is_linear))
            is_plain = is_plain and relation.is_linear
            steps.append(Step("require", relation=relation))
            continue
        found, is_one = draw(shapes(letters, 2, rank, compound, draw(st.sampled_from([0, 0, most]))))
        found = [[dim for dim in shape if "?" not in dim] for shape in found]
        is_plain = is_plain and is_one
        operands: list[list[str] | int] = list(found)
        if kind == "equal":
            least = min(map(len, found))
            operands = [shape[len(shape) - least :] for shape in found]
        elif threaded and ranks and draw(st.integers(0, 3)):
            operands[draw(st.integers(0, 1))] = draw(st.sampled_from(sorted(ranks)))
        ranks[number] = max(ranks[o] if isinstance(o, int) else len(o) for o in operands)
        steps.append(Step(kind, operands))
    assumed = draw(st.lists(relations(letters, is_linear), max_size=facts))
    is_plain = is_plain and all(a.is_linear for a in assumed)
    return Program(steps, assumed, draw(st.sampled_from([0, 0, 1])), is_plain)


plain_programs = programs(names=(1, 8), rank=6, longest=12, most=0)
small_programs = programs()
every_program = st.one_of(plain_programs, small_programs, programs(names=(1, 3), rank=2, longest=5, is_linear=False))
