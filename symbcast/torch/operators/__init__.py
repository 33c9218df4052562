"""The operators of PyTorch, by field: each is a function from a call to its outputs; this imports every file."""

from symbcast.torch.calls import OPERATORS

OPERATORS.with_files(__name__)
