"""Sizes and the arithmetic on them: interned terms, without sympy."""
