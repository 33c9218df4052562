"""A single broadcast, and the questions that can be asked about it."""
