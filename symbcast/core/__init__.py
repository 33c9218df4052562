"""The core: sizes, and decisions of questions about them (algebra, text, shapes, rules, solver, programs)."""
