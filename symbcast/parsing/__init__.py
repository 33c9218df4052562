"""Text to shapes, dimensions and formulas."""

from symbcast.parsing.text import parse_dim, parse_formula, parse_shape

__all__ = ["parse_dim", "parse_formula", "parse_shape"]
