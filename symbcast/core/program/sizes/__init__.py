"""The sizes of a question: their names and the assumptions about them."""
