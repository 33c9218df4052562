"""Loops over sizes: the body runs once for a symbolic index, and the result holds for every number of iterations."""
