"""LiteRT models (``.tflite``): every shape in them, and the exact condition under which they can be resized and run."""

from typing import TYPE_CHECKING

from symbcast.core.advice import GUESSED_CHECKS, missing_name_advice
from symbcast.graphs.report.findings import Finding
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.litert.front_end import LiteRtReport, check

__all__ = ["Finding", "LiteRtReport", "Unanalysed", "check"]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    __getattr__ = missing_name_advice(
        __name__,
        __all__,
        *GUESSED_CHECKS,
        "Report ModelReport Interpreter Model resize resize_tensor_input -> check(...)",
    )
