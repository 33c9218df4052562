"""The operators that are known, by family: `families.py` lists the modules."""
