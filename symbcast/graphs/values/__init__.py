"""Represent the values in a graph: their known sizes, and the elements of those that hold sizes."""
