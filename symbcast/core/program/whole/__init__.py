"""A whole recorded program, and the answers about it."""
