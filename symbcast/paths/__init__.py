"""Runs of the user's own code with sizes that are symbols: every path, and what each requires."""

from symbcast.paths.public import explore_paths

__all__ = ["explore_paths"]
