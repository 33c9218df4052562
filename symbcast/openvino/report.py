"""The report on an OpenVINO model, as users see it."""

from __future__ import annotations

from symbcast.graphs.report.report import GraphReport


class OpenVinoReport(GraphReport):
    """The input sizes at which a model runs, every shape in it, and the requirements of each node.

    Everything is computed on demand, and the model is never changed.
    """
