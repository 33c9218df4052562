"""Names for the sizes of inputs: sizes that must be equal have one."""

import random
from itertools import product

import pytest

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import predicate
from symbcast.core.text import parse_formula
from symbcast.graphs.report.dimension_names import dimension_names, equal_sizes

NAMES = "abcdef"
PARTS = (
    "{} == {}", "{} + {} == {}", "{} == 1 or {} == {}", "compatible({}, {})", "2*{} == {} + {}", "{} == 4", "{} != 1",
    "{} == broadcast({}, {})", "{} == 1 or {} + a == {}", "{} <= 1 or {} == 3", "{} + {} == broadcast({}, {} + {})",
    "{} - {} == {} - {}", "{} == 2*{}",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_sizes_with_one_representative_are_equal(seed):
    chance = random.Random(seed)
    texts = [p.format(*chance.choices(NAMES, k=p.count("{}"))) for p in chance.choices(PARTS, k=chance.randint(1, 5))]
    condition = parse_formula(" and ".join(f"({t})" for t in texts))
    symbols = tuple(map(symbol, NAMES))
    sizes = equal_sizes(condition, symbols)
    holds = predicate(condition, symbols)
    for point in product(range(2, 6), repeat=len(symbols)):
        if holds(*point):
            at = dict(zip(symbols, point, strict=True))
            assert all(at[s] == at.get(first, first) for s, first in sizes.items()), (texts, at)


def test_names_of_a_decoder():
    layers = range(4)
    caches = {f"l{n}.{kind}": f"b{kind}{n}, p{kind}{n}" for n in layers for kind in "kv"}
    shapes = {name: sb.shape(text) for name, text in {"ids": "batch, seq", "mask": "bm, total", **caches}.items()}
    required = " and ".join(
        f"bk{n} == bv{n} == batch and (pk{n} + seq == total or total == 1) and pv{n} == pk{n}" for n in layers
    )
    condition = parse_formula(f"{required} and (bm == 1 or bm == batch)")
    names = dimension_names(shapes, condition, {})
    assert names.pop("ids") == {0: "batch", 1: "seq"}
    assert names.pop("mask") == {0: "batch", 1: "total"}
    assert names == {key: {0: "batch", 1: "pk"} for key in caches}


def test_different_sizes_have_different_names():
    shapes = {"x": sb.shape("a1, a2, 'a 3', 8"), "y": sb.shape("a1, c")}
    names = dimension_names(shapes, parse_formula("c == 4"), {})
    assert names == {"x": {0: "a1", 1: "a2", 2: "a_3"}, "y": {0: "a1"}}
