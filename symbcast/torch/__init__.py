"""PyTorch programs: the sizes at which their graphs run, the sizes that their guards accept, and the differences.

Each name is loaded when it is first used: torch's errors are read without the rules of operators and without sympy.
"""

from typing import TYPE_CHECKING

from symbcast.core.advice import GUESSED_CHECKS, lazy_names

if TYPE_CHECKING:
    from symbcast.graphs.report.findings import Finding
    from symbcast.graphs.walking.walk import Unanalysed
    from symbcast.torch.deployment import Deployment, deploy
    from symbcast.torch.eager.trace import trace
    from symbcast.torch.errors.recompilations import Mark, Recompilation, RecompileReport, explain_recompiles
    from symbcast.torch.errors.refusal import Refusal, read_error
    from symbcast.torch.front_end import check
    from symbcast.torch.guards.comparison import Comparison, Disagreement
    from symbcast.torch.guards.guards import Clause, Guard, Guards, Specialised
    from symbcast.torch.guards.suggestions import Suggestion
    from symbcast.torch.report import TorchReport

_LAZY = {
    "Clause": "symbcast.torch.guards.guards",
    "Comparison": "symbcast.torch.guards.comparison",
    "Deployment": "symbcast.torch.deployment",
    "Disagreement": "symbcast.torch.guards.comparison",
    "Finding": "symbcast.graphs.report.findings",
    "Guard": "symbcast.torch.guards.guards",
    "Guards": "symbcast.torch.guards.guards",
    "Mark": "symbcast.torch.errors.recompilations",
    "Recompilation": "symbcast.torch.errors.recompilations",
    "RecompileReport": "symbcast.torch.errors.recompilations",
    "Refusal": "symbcast.torch.errors.refusal",
    "Specialised": "symbcast.torch.guards.guards",
    "Suggestion": "symbcast.torch.guards.suggestions",
    "TorchReport": "symbcast.torch.report",
    "Unanalysed": "symbcast.graphs.walking.walk",
    "check": "symbcast.torch.front_end",
    "deploy": "symbcast.torch.deployment",
    "explain_recompiles": "symbcast.torch.errors.recompilations",
    "read_error": "symbcast.torch.errors.refusal",
    "trace": "symbcast.torch.eager.trace",
}

__all__ = [
    "Clause",
    "Comparison",
    "Deployment",
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
    "deploy",
    "explain_recompiles",
    "read_error",
    "trace",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    __getattr__ = lazy_names(
        __name__,
        _LAZY,
        *GUESSED_CHECKS,
        "jit compile onnx -> check(...)",
        "Report ModelReport -> TorchReport",
        "Dim dynamic_shapes suggest -> check(...).suggest()",
        "explain_error parse_error -> read_error(...)",
    )
