"""Tier F3: linear constraints over several names, and z3."""
