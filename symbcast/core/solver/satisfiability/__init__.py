"""Whether formulas can hold, the smallest sizes at which they do, and which formulas are idle."""
