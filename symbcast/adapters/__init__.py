"""Dimensions in from, and out to, the objects that compilers hold: one module a framework, loaded when it is used.

Every module has the same functions, as far as its framework has something to say:

    read(value)          the `Shape` of a framework's object; one size there is one dimension here, however often read
    assumptions(*values) what the framework holds of those sizes besides: ranges, constraints, guards; for ``assume=``
    write(shape, ...)    the framework's own shape; ``assume=`` and ``min_size=`` are what is known, as in `broadcast`
    write_all(shapes)    the same for several shapes, so that what they share is shared there too

``read(write(shape))`` is the shape again, up to how its arithmetic is written. What a framework cannot express is a
`DimensionError` that says what to write instead. The objects can also be passed to `symbcast.shape` and
`symbcast.broadcast` directly; then the framework's assumptions are not carried along, and the answer is for all
sizes from 0 on.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.adapters import jax, onnx_ir, openvino, sympy, torch

__all__ = ["jax", "onnx_ir", "openvino", "sympy", "torch"]


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
