"""Rewrite models that were exported for one size so that they take every size."""
