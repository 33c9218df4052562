"""Check whole ONNX models: infer every shape in them, and the exact condition under which they run."""

from typing import TYPE_CHECKING

from symbcast.batch.results import FileResult
from symbcast.core.guesses import guessed
from symbcast.graphs.findings.findings import Finding
from symbcast.graphs.findings.sequences import OptionalShape, SequenceShape
from symbcast.graphs.front_end import GUESSED_CHECKS
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


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    __getattr__ = guessed(
        __name__,
        __all__,
        *GUESSED_CHECKS,
        "check_all check_folder batch -> check_many(...)",
        "Report OnnxReport Model -> ModelReport",
    )
