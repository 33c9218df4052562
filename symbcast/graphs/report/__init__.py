"""Report the answer about a graph: as an object, as a document and as data."""
