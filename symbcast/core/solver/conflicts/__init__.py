"""The fewest constraints that clash."""
