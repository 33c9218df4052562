"""Shapes and contents of operators that the calls of several front ends share."""
