"""The answer about a model of OpenVINO, as users see it."""

from __future__ import annotations

from symbcast.graphs.report.report import GraphReport


class OpenVinoReport(GraphReport):
    """For which sizes of its inputs a model runs, what every shape in it is, and which node asks what.

    Nothing is worked out before it is asked for, and the model is never changed.
    """
