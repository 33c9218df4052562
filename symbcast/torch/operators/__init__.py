"""The operators of PyTorch, by field: each a function from a call to its outputs."""
