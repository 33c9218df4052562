"""Run the user's own code with symbolic sizes: find every path and its requirements."""

from symbcast.paths.explore import explore_paths

__all__ = ["explore_paths"]
