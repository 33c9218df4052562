"""NumPy's functions over symbolic arrays."""
