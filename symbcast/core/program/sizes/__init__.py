"""The sizes of a question: what they are called and what is assumed of them."""
