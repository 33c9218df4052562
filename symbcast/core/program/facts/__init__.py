"""What the operations so far establish, and whether it can hold together."""
