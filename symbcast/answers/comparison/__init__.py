"""Compare rules: on given shapes, and on all shapes up to a rank. The README in this folder explains how."""

from symbcast.answers.comparison.answers import RuleAnswer
from symbcast.answers.comparison.comparison import Comparison, compare
from symbcast.answers.comparison.outcomes import Example
from symbcast.answers.comparison.pairs import Order, Pair
from symbcast.answers.comparison.regions import Region
from symbcast.answers.comparison.related import Separation
from symbcast.answers.comparison.relation import Relation, relation

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
