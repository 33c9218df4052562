"""Shape functions as operations that a program records by name, and as methods of a program."""
