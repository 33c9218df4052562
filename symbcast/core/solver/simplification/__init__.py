"""Conditions made short."""
