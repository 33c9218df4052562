"""Reshape, concatenation, slices, pads and indices."""
