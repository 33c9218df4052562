"""PyTorch's operators, by field: each is a function from a call to its outputs."""
