"""Whole ONNX models: every shape in them, and the exact condition under which they run."""

from symbcast.onnx.checking import check
from symbcast.onnx.report import ModelReport

__all__ = ["ModelReport", "check"]
