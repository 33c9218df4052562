"""Exported programs as graphs: nodes, inputs, constants and element types."""
