"""Formulas and terms as compiled Python functions of sizes."""
