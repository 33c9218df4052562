"""A single broadcast, and the questions about it."""
