"""The ONNX numbers of torch's element types, as `symbcast.graphs.values` uses them."""

from __future__ import annotations

INT64 = 7
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": INT64, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip


def number_of(dtype: object) -> int:
    """Return the number of a torch element type; 0 if it is unknown.

    >>> number_of("torch.int64"), number_of(None)
    (7, 0)
    """
    return _NUMBERS.get(str(dtype).removeprefix("torch."), 0)
