"""Check whole ONNX models: infer every shape in them, and the exact condition under which they run."""

from typing import TYPE_CHECKING

from symbcast.core.advice import GUESSED_CHECKS, missing_name_advice
from symbcast.graphs.jobs import FileResult
from symbcast.graphs.report.blame import OptionalShape, SequenceShape
from symbcast.graphs.report.findings import Finding
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.onnx.freeing.freed import Fixed, Freed, free
from symbcast.onnx.freeing.plan import Edit
from symbcast.onnx.front_end import check, check_many
from symbcast.onnx.report import Confirmation, ModelReport

__all__ = [
    "Confirmation",
    "Edit",
    "FileResult",
    "Finding",
    "Fixed",
    "Freed",
    "ModelReport",
    "OptionalShape",
    "SequenceShape",
    "Unanalysed",
    "check",
    "check_many",
    "free",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    __getattr__ = missing_name_advice(
        __name__,
        __all__,
        *GUESSED_CHECKS,
        "check_all check_folder batch -> check_many(...)",
        "Report OnnxReport Model -> ModelReport",
    )
