"""Walk a graph node by node, and record what is known about its values."""
