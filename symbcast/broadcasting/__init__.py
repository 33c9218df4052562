"""The rules, one file a family; a family is loaded when a rule of it, or the list of all, is first asked for."""

from symbcast.broadcasting import numpy  # noqa: F401 - the default rule is always at hand
from symbcast.broadcasting.base import (
    REQUIRED,
    Emission,
    Joined,
    OutputDim,
    Parameter,
    Rule,
    RuleInfo,
    find_rule,
    rules,
)

__all__ = ["REQUIRED", "Emission", "Joined", "OutputDim", "Parameter", "Rule", "RuleInfo", "find_rule", "rules"]
