"""Conditions on sizes, joined and compared."""
