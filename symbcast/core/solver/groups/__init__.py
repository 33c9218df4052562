"""The normal form of formulas, and the groups of sizes that formulas tie together."""
