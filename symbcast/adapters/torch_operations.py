"""Torch's functions of sizes: for the reader of its expressions, which needs sympy, and that of its guards as text."""

from __future__ import annotations

from symbcast.core.algebra.terms import Kind

# Torch's functions of sizes, by name.
OPERATIONS: dict[str, Kind] = {
    "FloorDiv": "//",
    "CleanDiv": "//",
    "PythonMod": "%",
    "Mod": "%",  # for a non-negative dividend, where both agree
    "Max": "max",
    "Min": "min",
}
