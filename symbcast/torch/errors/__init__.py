"""Torch's messages about sizes: what each means, why torch gives it, and what to do."""
