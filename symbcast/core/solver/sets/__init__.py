"""Tier F2: formulas in one name as sets of sizes."""
