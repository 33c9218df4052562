"""Graphs of any framework: values, the walk, requirements, findings and the report."""
