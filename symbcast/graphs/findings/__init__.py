"""Requirements and failures of a graph: which node, why, and how to fix it."""
