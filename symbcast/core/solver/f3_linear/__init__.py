"""Tier F3: linear constraints over several sizes, with orders, and `//` and `%` by numbers. One file imports z3."""
