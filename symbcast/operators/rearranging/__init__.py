"""Operators that lay elements out anew: layouts, reshapes, joins, slices, padding."""
