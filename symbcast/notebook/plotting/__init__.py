"""Surveys as plots, for matplotlib."""

from symbcast.notebook.plotting.figures import plot, plots

__all__ = ["plot", "plots"]
