"""Sizes, the arithmetic on them and formulas over them: interned terms, without sympy.

The text of terms is imported here, so that a term can be shown whichever module was imported first.
"""

from symbcast.core.algebra import symbols  # noqa: F401
