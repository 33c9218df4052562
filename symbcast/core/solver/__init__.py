"""The solver: it decides which sizes satisfy a formula, cheapest tier first; see README.md in this folder."""
