"""Whether formulas can hold, at which smallest sizes, and which of them are idle."""
