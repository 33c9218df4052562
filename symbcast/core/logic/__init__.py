"""Formulas over sizes: their canonical form, their definedness, and the door to sympy Booleans."""
