"""Compute shapes and contents for operators that several front ends share."""
