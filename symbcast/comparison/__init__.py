"""Rules compared: on some shapes, and on all shapes up to a rank. The README beside this file says how."""

from symbcast.comparison.answers import RuleAnswer
from symbcast.comparison.comparison import Comparison, compare
from symbcast.comparison.outcomes import Example
from symbcast.comparison.pairs import Order, Pair
from symbcast.comparison.regions import Region
from symbcast.comparison.related import Separation
from symbcast.comparison.relation import Relation, relation

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
