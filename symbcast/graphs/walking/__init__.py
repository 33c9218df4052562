"""Walk a graph node by node, and record the requirements of its nodes and what is known about its values."""
