"""The normal form, and the groups of sizes that formulas tie together."""
