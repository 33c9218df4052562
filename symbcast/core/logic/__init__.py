"""Formulas over sizes: their canonical form, their definedness, and their conversion to sympy Booleans."""
