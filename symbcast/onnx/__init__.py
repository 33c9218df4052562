"""Whole ONNX models: every shape in them, and the exact condition under which they run."""

from symbcast.onnx.checking import check
from symbcast.onnx.reporting.confirming import Confirmation
from symbcast.onnx.reporting.findings import Finding
from symbcast.onnx.reporting.report import ModelReport
from symbcast.onnx.walk import Unanalysed

__all__ = ["Confirmation", "Finding", "ModelReport", "Unanalysed", "check"]
