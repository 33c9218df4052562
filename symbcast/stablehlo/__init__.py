"""StableHLO modules: every shape in them, and the exact condition under which they run."""

from symbcast.graphs.report.findings import Finding
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.stablehlo.front_end import check
from symbcast.stablehlo.report import HloReport

__all__ = ["Finding", "HloReport", "Unanalysed", "check"]
