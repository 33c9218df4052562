"""Run the user's own code with symbolic sizes: find every path and its requirements."""

from symbcast.paths.public import explore_paths

__all__ = ["explore_paths"]
