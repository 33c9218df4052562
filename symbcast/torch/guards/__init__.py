"""The sizes that torch's guards accept, compared with the graph's requirements."""
