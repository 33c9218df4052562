"""PyTorch programs: the sizes at which their graphs run, the sizes that their guards accept, and the differences."""

from symbcast.graphs.findings.findings import Finding
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.torch.check import check
from symbcast.torch.guards.comparison import Comparison, Disagreement
from symbcast.torch.guards.guards import Clause, Guard, Guards, Specialised
from symbcast.torch.guards.refusals import Refusal, read_error
from symbcast.torch.guards.suggestions import Suggestion
from symbcast.torch.report import TorchReport

__all__ = [
    "Clause",
    "Comparison",
    "Disagreement",
    "Finding",
    "Guard",
    "Guards",
    "Refusal",
    "Specialised",
    "Suggestion",
    "TorchReport",
    "Unanalysed",
    "check",
    "read_error",
]
