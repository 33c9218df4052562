"""Apache TVM: the types that its importer of ONNX models infers in Relax."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import tvm
from conformance.models import model_of
from conformance.runner import Case, NotAsked, Shape, Sizes, size_at
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


class Tvm:
    """The types of the outputs of the function that `from_onnx` makes."""

    runtime = "onnxruntime"
    package = "apache-tvm"

    def infer(self, case: Case) -> list[Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about outputs whose shape is not declared
                found = from_onnx(model_of(case))["main"].ret_ty
        except tvm.error.OpNotImplemented as error:
            raise NotAsked(str(error)) from error
        return list(found.fields) if len(case.outputs) > 1 else [found]

    def at(self, answer: list[Any], sizes: Sizes) -> Sequence[Shape]:
        return [_shape(kind, sizes) for kind in answer]


def _shape(kind: Any, sizes: Sizes) -> Shape:
    """Return a shape at given sizes; where only the rank is known, sizes are open."""
    if kind.shape is not None and isinstance(kind.shape, relax.ShapeExpr):
        return [size_at(str(d).replace("T.", ""), sizes) for d in kind.shape.values]
    return None if kind.ndim < 0 else [None] * kind.ndim
