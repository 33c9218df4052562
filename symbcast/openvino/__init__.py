"""OpenVINO models: every shape in them, and the exact condition under which they run.

Each name is loaded when it is first used: the process that reads files first needs none of them.
"""

from typing import TYPE_CHECKING

from symbcast.core.advice import GUESSED_CHECKS, lazy_names

if TYPE_CHECKING:
    from symbcast.graphs.report.findings import Finding
    from symbcast.graphs.walking.walk import Unanalysed
    from symbcast.openvino.front_end import OpenVinoReport, check

_LAZY = {
    "Finding": "symbcast.graphs.report.findings",
    "OpenVinoReport": "symbcast.openvino.front_end",
    "Unanalysed": "symbcast.graphs.walking.walk",
    "check": "symbcast.openvino.front_end",
}

__all__ = ["Finding", "OpenVinoReport", "Unanalysed", "check"]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    __getattr__ = lazy_names(
        __name__, _LAZY, *GUESSED_CHECKS, "Report ModelReport Model Core read_model compile_model -> check(...)"
    )
