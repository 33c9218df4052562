"""StableHLO modules: every shape in them, and the exact condition under which they run."""

from symbcast.graphs.findings.findings import Finding
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.stablehlo.check_model import check
from symbcast.stablehlo.report import HloReport

__all__ = ["Finding", "HloReport", "Unanalysed", "check"]
