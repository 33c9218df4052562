"""Formulas over sizes: their canonical form, what makes them defined, and the door to sympy Booleans."""
