"""OpenVINO's element types as the numbers of `TensorProto.DataType` that `symbcast.onnx` uses."""

from __future__ import annotations

from typing import Any

BOOL, FLOAT, INT32, INT64 = 9, 1, 6, 7

NUMBERS = {
    "f32": 1,
    "u8": 2,
    "i8": 3,
    "u16": 4,
    "i16": 5,
    "i32": 6,
    "i64": 7,
    "string": 8,
    "boolean": 9,
    "f16": 10,
    "f64": 11,
    "u32": 12,
    "u64": 13,
    "bf16": 16,
}


def number_of(element_type: Any) -> int:
    """Return the number of an element type; 0 if it is dynamic or unknown to ONNX."""
    return NUMBERS.get(element_type.get_type_name(), 0)
