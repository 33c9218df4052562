"""Operators whose shapes a table declares."""
