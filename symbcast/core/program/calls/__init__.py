"""One broadcast, and what is asked of it."""
