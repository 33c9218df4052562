"""Explanations of an answer: names, formulas in words, evidence, and fixes that work."""
