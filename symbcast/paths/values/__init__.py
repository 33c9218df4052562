"""What a run works with: sizes, numbers and truth values that ask before they answer."""
