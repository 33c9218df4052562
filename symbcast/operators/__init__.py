"""Shape functions of no framework: what an operator requires of sizes, and which shape it gives."""
