"""What sizes are and how questions about them are decided: algebra, text, shapes, rules, solver, programs."""
