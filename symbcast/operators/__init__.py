"""Shape functions independent of frameworks: an operator's requirements on sizes, and its output shape."""
