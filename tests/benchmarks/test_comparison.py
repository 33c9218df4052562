"""How long it takes to compare rules on random shapes. Figures, not verdicts: nothing here fails on time.

python -m pytest tests/benchmarks/test_comparison.py --benchmark-only --benchmark-columns=median,rounds
"""

from __future__ import annotations

import random

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
