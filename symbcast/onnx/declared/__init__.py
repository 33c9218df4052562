"""Declare operators in a table that gives their shapes."""
