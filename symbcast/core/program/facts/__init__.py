"""Facts that the operations so far establish, and whether they can hold together."""
