"""Tier F2: formulas in one size, with `+ - *`, `// c` and `% c`, solved as sets of sizes."""
