"""Leaves out the notebook about PyTorch where that is not installed."""

from importlib.util import find_spec

collect_ignore = ["7_what_export_made_of_it.ipynb"] if find_spec("torch") is None else []
