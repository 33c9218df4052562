"""Operators that rearrange elements: layouts, reshapes, joins, slices, padding."""
