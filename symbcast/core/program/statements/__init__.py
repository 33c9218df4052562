"""Conditions on sizes: combination and comparison."""
