"""The values that a run works with: sizes, numbers and truth values that ask the path before they answer."""
