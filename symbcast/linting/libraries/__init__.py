"""Traces of annotated functions, one file for each library of arrays."""
