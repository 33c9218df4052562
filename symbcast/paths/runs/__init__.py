"""Runs of code over symbolic sizes: steps, paths, and all paths of a run."""
