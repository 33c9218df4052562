"""Whole ONNX models: every shape in them, and the exact condition under which they run."""

from symbcast.onnx.checking import check
from symbcast.onnx.confirming import Confirmation
from symbcast.onnx.findings import Finding
from symbcast.onnx.report import ModelReport
from symbcast.onnx.walk import Unanalysed

__all__ = ["Confirmation", "Finding", "ModelReport", "Unanalysed", "check"]
