"""Surveys as plots, for matplotlib."""

from symbcast.notebook.figures.makers import plot, plots

__all__ = ["plot", "plots"]
