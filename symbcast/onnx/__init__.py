"""Whole ONNX models: every shape in them, and the exact condition under which they run."""

from symbcast.batch.results import FileResult
from symbcast.onnx.check_many import check_many
from symbcast.onnx.check_model import check
from symbcast.onnx.report.confirmation import Confirmation
from symbcast.onnx.report.findings import Finding
from symbcast.onnx.report.model_report import ModelReport
from symbcast.onnx.report.sequences import OptionalShape, SequenceShape
from symbcast.onnx.walk import Unanalysed

__all__ = [
    "Confirmation",
    "FileResult",
    "Finding",
    "ModelReport",
    "OptionalShape",
    "SequenceShape",
    "Unanalysed",
    "check",
    "check_many",
]
