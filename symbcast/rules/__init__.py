"""The rules, one file a family."""

from symbcast.rules import numpy, openvino, onnx, paddle  # noqa: F401, I001 - each offers its rules, in this order
from symbcast.rules.base import REQUIRED, Emission, Joined, OutputDim, Parameter, Rule, RuleInfo, find_rule, rules

__all__ = ["REQUIRED", "Emission", "Joined", "OutputDim", "Parameter", "Rule", "RuleInfo", "find_rule", "rules"]
