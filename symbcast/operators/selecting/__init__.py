"""Operators that pick elements: by indices, by rank, on a grid."""
