"""Runs of code over symbolic sizes: their steps, their paths, and all paths of one."""
