"""The rules, one file per family, and everything that the author of a rule needs.

README.md in this folder explains what a rule is, how to add one, and what each rule means.
"""

from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Compatible,
    all_of,
    any_of,
    at_most,
    different,
    equal,
    one_or_equal,
)
from symbcast.core.rules import numpy  # noqa: F401 - the default rule is always at hand
from symbcast.core.rules.broadcast_rule import Demand, Emission, Instead, Rule
from symbcast.core.rules.constraints import EQUAL, EQUAL_RANKS, JOIN, ONTO, PAST_END, Detail, Reason, Remedy
from symbcast.core.rules.declaration import REQUIRED, Alias, AttributeLike, AttributeValue, Kind, Parameter
from symbcast.core.rules.laws import Ask, Column, Equal, Join, Joined, Law, Onto, OutputDim, right_aligned
from symbcast.core.rules.placement import (
    AtRight,
    Dims,
    FromAxis,
    OnAxes,
    OntoRight,
    Placement,
    Places,
    Refusal,
    SameRank,
    ShorterFromAxis,
)
from symbcast.core.rules.registry import RuleInfo, find_rule, forget, rule, rules

__all__ = [
    "EQUAL",
    "EQUAL_RANKS",
    "FALSE",
    "JOIN",
    "ONTO",
    "PAST_END",
    "REQUIRED",
    "TRUE",
    "Alias",
    "Ask",
    "AtRight",
    "AttributeLike",
    "AttributeValue",
    "Column",
    "Compatible",
    "Demand",
    "Detail",
    "Dims",
    "Emission",
    "Equal",
    "FromAxis",
    "Instead",
    "Join",
    "Joined",
    "Kind",
    "Law",
    "OnAxes",
    "Onto",
    "OntoRight",
    "OutputDim",
    "Parameter",
    "Placement",
    "Places",
    "Reason",
    "Refusal",
    "Remedy",
    "Rule",
    "RuleInfo",
    "SameRank",
    "ShorterFromAxis",
    "all_of",
    "any_of",
    "at_most",
    "different",
    "equal",
    "find_rule",
    "forget",
    "one_or_equal",
    "right_aligned",
    "rule",
    "rules",
]
