"""Elementwise operators, reductions, matrices and recurrent cells."""
