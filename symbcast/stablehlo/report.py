"""The report on a StableHLO module, as users see it."""

from __future__ import annotations

from symbcast.graphs.report.report import GraphReport


class HloReport(GraphReport):
    """The input sizes at which a function of a module runs, every shape in it, and the requirements of each node."""
