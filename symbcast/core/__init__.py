"""The core: sizes, and decisions of questions about them (algebra, text, shapes, rules, solver, programs)."""

from __future__ import annotations

__version__ = "0.3.0"
