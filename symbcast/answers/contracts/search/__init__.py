"""The search for the largest sets of sizes: spaces, grids, growth, residue classes and lists."""
