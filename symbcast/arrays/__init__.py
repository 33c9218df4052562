"""Run functions that use NumPy or the array API with arrays that have a shape and a type but no data."""

from importlib.util import find_spec

from symbcast.errors import MissingExtraError

if find_spec("numpy") is None:
    raise MissingExtraError("symbcast.trace", "numpy")

from symbcast.arrays import indexing  # noqa: F401 - it registers indexing
from symbcast.arrays.arguments import array, size
from symbcast.arrays.functions import array_functions, data_functions, methods, replacements, ufuncs  # noqa: F401 - too
from symbcast.arrays.promises import BrokenPromise, IncompleteTraceWarning, check_promises, checked
from symbcast.arrays.trace import TraceReport, trace

__all__ = [
    "BrokenPromise",
    "IncompleteTraceWarning",
    "TraceReport",
    "array",
    "check_promises",
    "checked",
    "size",
    "trace",
]
