"""Draw surveys as plots with matplotlib."""

from symbcast.notebook.figures.makers import plot, plots

__all__ = ["plot", "plots"]
