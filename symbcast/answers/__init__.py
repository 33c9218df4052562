"""What is said of an answer, and in which form: one protocol for every question."""
