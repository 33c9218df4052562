"""Conclusions from all paths of a run: regions, conditions, findings, and the answer."""
