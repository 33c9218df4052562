"""The answer about a graph: which node requires what and why, fixes, documents, pictures and data."""
