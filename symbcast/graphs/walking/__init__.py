"""The walk of a graph, from node to node, and what it knows of the values."""
