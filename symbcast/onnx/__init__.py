"""Whole ONNX models: every shape in them, and the exact condition under which they run."""

from symbcast.onnx.check_model import check
from symbcast.onnx.report.confirmation import Confirmation
from symbcast.onnx.report.findings import Finding
from symbcast.onnx.report.model_report import ModelReport
from symbcast.onnx.report.sequences import OptionalShape, SequenceShape
from symbcast.onnx.walk import Unanalysed

__all__ = ["Confirmation", "Finding", "ModelReport", "OptionalShape", "SequenceShape", "Unanalysed", "check"]
