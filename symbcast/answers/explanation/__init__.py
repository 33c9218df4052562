"""What is said of an answer: what its things are called, formulas in words, evidence, and fixes that work."""
