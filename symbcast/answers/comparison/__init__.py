"""Compare rules: on given shapes, and on all shapes up to a rank. The README in this folder explains how."""

from symbcast.answers.comparison.comparison import Comparison, Relation, compare, relation
from symbcast.answers.comparison.regions import Order, Pair, Region, Separation
from symbcast.answers.comparison.rule_answers import Example, RuleAnswer

__all__ = [
    "Comparison",
    "Example",
    "Order",
    "Pair",
    "Region",
    "Relation",
    "RuleAnswer",
    "Separation",
    "compare",
    "relation",
]
