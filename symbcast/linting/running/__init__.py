"""Lint of many files: configuration, changes, the cache, and child processes."""
