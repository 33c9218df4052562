"""The core: sizes, and decisions of questions about them (algebra, text, shapes, rules, solver, programs)."""

from __future__ import annotations

# The version of this package.


__version__ = "0.2.0"
