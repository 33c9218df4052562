"""Buckets: padded shapes with the least padding."""
