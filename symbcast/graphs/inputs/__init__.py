"""A caller's knowledge about the inputs of a graph."""
