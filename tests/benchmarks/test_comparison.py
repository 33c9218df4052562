"""How long it takes to compare rules on random shapes. Figures, not verdicts: nothing here fails on time.

python -m pytest tests/benchmarks/test_comparison.py --benchmark-only --benchmark-columns=median,rounds
"""

from __future__ import annotations

import itertools
import random

import pytest

import symbcast as sb

PAIRS = 200
RULES = [
    "numpy",
    "none",
    "bidirectional",
    "unidirectional",
    "pdpd",
    "pdpd(axis=0)",
    "pdpd(flavour='paddle')",
    "onnx-legacy",
    "onnx-legacy(broadcast=1)",
    "paddle",
]


def questions():
    """Return pairs of shapes over three names and three integers, with the rules that take two operands."""
    choose = random.Random(1)
    found = []
    for _ in range(PAIRS):
        first, second = (choose.choices([*"NMKNM", "1", "2", "3"], k=choose.randint(1, 4)) for _ in range(2))
        rules = list(RULES)
        if len(first) <= len(second):
            axes = tuple(range(len(second) - len(first), len(second)))
            rules += [f"explicit(axes={axes})", f"stablehlo-broadcast-in-dim(broadcast_dimensions={axes})"]
        found.append(([f"({', '.join(s)},)" for s in (first, second)], rules))
    return found


def compared(asked):
    """Compare every two rules, with an example of each way in which they stand to each other; return how many pairs."""
    count = 0
    for shapes, rules in asked:
        for pair in sb.compare(*shapes, rules=rules).pairs:
            _ = [pair.order, *(r.example for r in (pair.agree, pair.differ, pair.only_first, pair.only_second))]
            count += 1
    return count


def test_all_rules_on_random_pairs_of_shapes(benchmark):
    asked = questions()
    assert benchmark(compared, asked) == sum(len(rules) * (len(rules) - 1) // 2 for _, rules in asked)


NUMBERS = itertools.count()


def other_names(text):
    """Return text with names that were never asked about."""
    number = next(NUMBERS)
    return "".join(f"{c}{number}" if c.isalpha() else c for c in text)


def test_all_rules_on_random_pairs_of_shapes_over_new_names(benchmark):
    asked = questions()
    benchmark(lambda: compared([([*map(other_names, shapes)], rules) for shapes, rules in asked]))


@pytest.mark.benchmark(group="all rules without attributes compared, with all that is said")
@pytest.mark.parametrize(
    "shapes", [("a, b", "c, d"), ("a, b, c, d", "e, f, g, h"), ("a, 2*b, c//2", "b + 1, d, c")], ids=" and ".join
)
def test_what_is_said(benchmark, shapes):
    assert "different answers" in benchmark(lambda: str(sb.compare(*map(other_names, shapes))))


def test_the_order_of_rules_on_rank_8(benchmark):
    shapes = [", ".join(letters) for letters in ("abcdefgh", "ijklmnop")]
    benchmark(lambda: [pair.order for pair in sb.compare(*map(other_names, shapes)).pairs])
