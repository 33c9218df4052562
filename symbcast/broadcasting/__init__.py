"""The rules, one file a family, and everything that the author of a rule needs.

What a rule is, how one is added, and what each rule means is told in the README beside this file.
"""

from symbcast.broadcasting import numpy  # noqa: F401 - the default rule is always at hand
from symbcast.broadcasting.base import Alias, Emission, Instead, Rule
from symbcast.broadcasting.laws import Ask, Column, Dims, Equal, Join, Joined, Law, Onto, OutputDim, right_aligned
from symbcast.broadcasting.parameters import REQUIRED, AttributeValue, Kind, Parameter
from symbcast.broadcasting.placement import (
    AtRight,
    FromAxis,
    OnAxes,
    OntoRight,
    Placement,
    Places,
    Refusal,
    SameRank,
    ShorterFromAxis,
)
from symbcast.broadcasting.registry import RuleInfo, find_rule, rule, rules
from symbcast.reasons import EQUAL, JOIN, ONTO, Reason, Remedy

__all__ = [
    "EQUAL",
    "JOIN",
    "ONTO",
    "REQUIRED",
    "Alias",
    "Ask",
    "AtRight",
    "AttributeValue",
    "Column",
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
    "find_rule",
    "right_aligned",
    "rule",
    "rules",
]
