"""Define the limits of an explorer."""

MAP_UP_TO = 12
"""The largest size on a map, unless it is set, or a larger one is needed to show both outcomes."""

MOST_SIZES = 33
"""So many sizes of a symbol are on a map at most: beyond, every 2nd, 4th, 8th... is."""

LARGEST_MAP = 4096

LARGEST_SIZE = 2**53 - 1
"""What a page counts exactly."""
