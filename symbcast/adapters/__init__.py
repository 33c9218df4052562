"""Convert dimensions from and to the objects of other frameworks: one module per framework, loaded on demand.

Every module has the same functions, as far as its framework supports them:

    read(value)          the `Shape` of a framework's object; each of its sizes always maps to the same dimension
    assumptions(*values) what else the framework knows about those sizes: ranges, constraints, guards; for ``assume=``
    write(shape, ...)    the framework's own shape; ``assume=`` and ``min_size=`` are as in `broadcast`
    write_all(shapes)    the same for several shapes, which then share symbols in the framework too

``read(write(shape))`` equals the shape, up to the form of its arithmetic. What a framework cannot express raises a
`DimensionError` that says what to write instead. The objects can also be passed to `symbcast.shape` and
`symbcast.broadcast` directly; then the framework's assumptions are not carried along, and the answer is for all
sizes from 0 on.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from symbcast.core.advice import missing_name_advice

if TYPE_CHECKING:
    from symbcast.adapters import dask, jax, onnx_ir, openvino, sympy, torch

__all__ = ["dask", "jax", "onnx_ir", "openvino", "sympy", "torch"]

_missing = missing_name_advice(
    __name__,
    __all__,
    "onnx onnxscript ir -> onnx_ir",
    "pytorch -> torch",
    "ov -> openvino",
    "numpy array_api -> symbcast.trace",
    "read write -> the module of a framework, such as adapters.jax.read",
)


if not TYPE_CHECKING:  # so that a type checker sees the names above and rejects others

    def __getattr__(name: str) -> object:
        if name not in __all__:
            _missing(name)
        return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
