"""Conditions of open answers: long ones have a line for each clause, none is cut, and words are about what is open."""

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from random_conditions import condition

import symbcast as sb
from symbcast.answers.explanation.words import Namer
from symbcast.answers.show.broadcast import condition_lines
from symbcast.answers.show.document import plain
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.f2_one_size.set_formulas import gathered
from symbcast.core.text import parse_formula

NAMES = ("N", "M")
SYMBOLS = tuple(map(symbol, NAMES))
NAMER = Namer.of({s: s.name for s in SYMBOLS})


def drawn(seed):
    """Return a condition as text: sometimes with many parts about one size."""
    chance = random.Random(seed)
    parts = [condition(1_000 * seed + n, NAMES) for n in range(chance.randint(1, 6))]
    parts += [f"{chance.choice(NAMES)} {chance.choice(('==', '!=', '<='))} {n}" for n in chance.sample(range(12), 6)]
    return f" {chance.choice(('and', 'or'))} ".join(f"({p})" for p in parts)


def truths(formula, least=range(14)):
    return [predicate(formula, SYMBOLS)(*sizes) for sizes in product(least, repeat=2)]


@pytest.mark.parametrize("seed", range(120))
def test_parts_about_one_size_are_gathered_into_an_equivalent_formula(seed):
    formula = parse_formula(drawn(seed))
    assert truths(gathered(formula)) == truths(formula)


@pytest.mark.parametrize("seed", range(120))
def test_the_lines_of_a_condition_are_a_condition(seed):
    formula = parse_formula(drawn(seed))
    lines = [plain(line) for line in condition_lines(formula, NAMER, ".condition", in_code=True)]
    assert not any("..." in line for line in lines)
    *shown, last = lines
    if not last.endswith("; .condition has all"):
        if not any("comparisons, which" in line for line in lines):
            assert truths(parse_formula(" ".join(lines))) == truths(formula)
        return
    assert len(shown) == 6
    joined = last.split()[0]
    part = parse_formula(" ".join(shown))
    for whole_truth, truth in zip(truths(formula), truths(part), strict=True):
        assert truth >= whole_truth if joined == "and" else truth <= whole_truth


def test_a_long_condition_of_an_open_trace_has_a_line_for_each_case():
    np = pytest.importorskip("numpy")

    def stepped(x, y):
        for k in (2, 3, 5, 7, 11, 13, 17, 19, 23):
            if len(x) == k * len(y) + 1 and len(y) >= k:
                return x[:k]
        return np.zeros(memoryview(x).nbytes)

    text = sb.trace(stepped, "N", "M").explain()
    assert "works when   (N == 2*M + 1 and M >= 2)\n             or (N == 3*M + 1 and M >= 3)\n" in text
    assert "more cases; .account.works has all" in text
    assert "(cut" not in text


def test_open_sizes_are_told_apart_from_those_that_work():
    def counted(x):
        return {n: float(row.max()) for n, row in enumerate(x)}

    lines = sb.trace(counted, "N, M").explain().splitlines()
    assert "works at     N=0, M=1" in lines
    assert "             N=1, M=1, where a real call worked" in lines
    assert "fix          call it only where N == 0 or M >= 1, or check that before; open sizes may still fail" in lines
    assert "returns      {} when N == 0" in lines


def test_tiers_that_did_not_decide_were_tried():
    cubes = sb.Condition("A**3 + B**3 == C**3 and A >= 2 and B >= 2 and C >= 2")
    assert "tried        F4, products of sizes and symbolic divisors: A, B and C" in cubes.explain(trace=True)
    assert sb.broadcast("A**3 + B**3", "C**3", min_size=2).explain().splitlines()[0] == (
        "numpy: open: fails for some sizes, and whether any are valid was not decided"
    )


def test_a_size_as_a_key_is_said_to_be_one():
    def counted(x):
        return np.zeros(len(Counter([x.shape[0]])))

    report = sb.trace(counted, "N")
    text = " ".join(report.explain().split())
    assert "a size is hashed, as the key of a dict, set or cache, which is not followed" in text


@pytest.mark.parametrize(
    ("shapes", "assumed", "condition"),
    [
        (("M**3 + N**3", "K**3"), "M >= 2 and N >= 2 and K >= 2", "K**3 == M**3 + N**3"),
        (("A*A", "61*B*B + 1"), "A >= 2 and B >= 1", "A**2 == 61*B**2 + 1"),
        (("M**3 + N**3, 2", "K**3, L"), "M >= 2 and N >= 2 and K >= 2", "M**3 + N**3 == K**3 and (L == 1 or L == 2)"),
    ],
)
def test_alternatives_that_the_assumptions_exclude_are_not_shown(shapes, assumed, condition):
    answer = sb.broadcast(*shapes, assume=assumed)
    assert answer.verdict is sb.Verdict.UNKNOWN
    assert answer.condition.equivalent(condition)
    text = answer.explain()
    assert f"\n             {answer.condition}\n" in text
    assert " is 1" not in text.partition("L is")[0]
    assert "s000" not in text  # groups are decided under other names


TERMS = ("A*A", "A**3 + B**3", "C*C", "A*B + 1", "2*A + B", "A*C", "C + 1", "B*B", "A", "3", "A + B", "min(A, 2)*B")
ASSUMED = ("A >= 2", "B >= 2", "C >= 2", "B >= 1", "A >= 3", "C <= 3", "A % 2 == 0", "B == 2 or B == 5")


@pytest.mark.parametrize("seed", range(80))
def test_joins_of_sizes_with_bounds_are_exact(seed):
    chance = random.Random(seed)
    operands = chance.sample(TERMS, chance.choice((2, 2, 3)))
    assumed = chance.sample(ASSUMED, chance.choice((1, 2)))
    answer = sb.broadcast(*operands, assume=[a for a in assumed if any(a[0] in o for o in operands)])
    guard, names = answer.guard(), [s.name for s in answer.symbols]
    for sizes in product(range(5), repeat=len(names)):
        at = dict(zip(names, sizes, strict=True))
        values = {"min": min, **at}
        if all(eval(a, values) for a in assumed if a[0] in at):
            assert guard(at) is (len({eval(o, values) for o in operands} - {1}) <= 1), at


SQUARE_ROOTS = """<ir_version: 8, opset_import: ["": 17]> g (float[N, M] x) => (y) {
  n = Shape(x)  k = Cast<to = 1>(n)  q = Exp(k)  i = Cast<to = 7>(q)  y = Expand(x, i)
}"""


def test_what_sizes_decide_is_not_called_data():
    onnx = pytest.importorskip("onnx")
    text = sb.onnx.check(onnx.parser.parse_model(SQUARE_ROOTS)).explain()
    assert "element 0 of i, which may depend on sizes, must not" in " ".join(text.split())
    assert "which is data" not in " ".join(text.split())
