"""Functions of NumPy and of the array API, run with arrays that have a shape and a type, and no data."""

from symbcast.arrays.arguments import array, size
from symbcast.arrays.report import TraceReport
from symbcast.arrays.trace import trace

__all__ = ["TraceReport", "array", "size", "trace"]
