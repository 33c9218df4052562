"""Branches, loops, sequences and optionals."""
