"""How far an explorer goes."""

MAP_UP_TO = 12
"""The largest size on a map, unless it is set."""

LARGEST_MAP = 32

LARGEST_SIZE = 2**53 - 1
"""What a page counts exactly."""
