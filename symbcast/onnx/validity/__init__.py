"""Validation of a model before the walk; a malformed model is a `ModelError`."""
