"""PyTorch programs: the sizes at which their graphs run, the sizes that their guards accept, and the differences."""

from typing import TYPE_CHECKING

from symbcast.core.guesses import guessed
from symbcast.graphs.findings.findings import Finding
from symbcast.graphs.front_end import GUESSED_CHECKS
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.torch.check import check
from symbcast.torch.compiled.recompiles import Mark, Recompilation, RecompileReport, explain_recompiles
from symbcast.torch.errors.refusal import Refusal, read_error
from symbcast.torch.guards.comparison import Comparison, Disagreement
from symbcast.torch.guards.guards import Clause, Guard, Guards, Specialised
from symbcast.torch.guards.suggestions import Suggestion
from symbcast.torch.report import TorchReport

if TYPE_CHECKING:
    from symbcast.torch.eager.trace import trace

__all__ = [
    "Clause",
    "Comparison",
    "Disagreement",
    "Finding",
    "Guard",
    "Guards",
    "Mark",
    "Recompilation",
    "RecompileReport",
    "Refusal",
    "Specialised",
    "Suggestion",
    "TorchReport",
    "Unanalysed",
    "check",
    "explain_recompiles",
    "read_error",
    "trace",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    _missing = guessed(
        __name__,
        __all__,
        *GUESSED_CHECKS,
        "jit compile onnx -> check(...)",
        "Report ModelReport -> TorchReport",
        "Dim dynamic_shapes suggest -> check(...).suggest()",
        "explain_error parse_error -> read_error(...)",
    )

    def __getattr__(name: str) -> object:
        if name == "trace":  # it alone needs NumPy
            from symbcast.torch.eager.trace import trace

            return trace
        return _missing(name)
