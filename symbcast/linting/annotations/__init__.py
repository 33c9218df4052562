"""Shape annotations: their grammar, their Python objects, and the arguments and promises that they state."""
