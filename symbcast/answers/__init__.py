"""The content of answers and its forms: one protocol for every question."""
