"""Draw surveys as plots with matplotlib."""

from symbcast.notebook.figures.grid_plots import plot, plots

__all__ = ["plot", "plots"]
