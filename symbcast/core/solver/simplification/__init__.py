"""Simplification of conditions."""
