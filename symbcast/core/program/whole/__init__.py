"""A whole program, recorded and answered."""
