"""Check whole ONNX models: infer every shape in them, and the exact condition under which they run."""

from symbcast.batch.results import FileResult
from symbcast.graphs.findings.findings import Finding
from symbcast.graphs.findings.sequences import OptionalShape, SequenceShape
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.onnx.check_many import check_many
from symbcast.onnx.check_model import check
from symbcast.onnx.report.confirmation import Confirmation
from symbcast.onnx.report.report import ModelReport

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
