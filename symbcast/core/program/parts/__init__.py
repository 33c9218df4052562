"""Answers in parts, where the one for all sizes at once is undecided or long: `parts` says what they are made of."""
