"""Sizes and the arithmetic on them: interned terms, without sympy.

``text`` is imported here, so that a term can be shown whichever module was imported first.
"""

from symbcast.core.algebra import writer as text

__all__ = ["text"]
