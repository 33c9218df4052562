"""The answer about an ONNX model, as users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from symbcast.graphs.report.report import GraphReport

if TYPE_CHECKING:
    import onnx

    from symbcast.onnx.report.confirmation import Confirmation


class ModelReport(GraphReport):
    """The input sizes for which a model runs, every shape in it, and each node's requirements.

    Everything is computed on first use, and the model is never changed.
    """

    def confirm(self) -> tuple[Confirmation, ...]:
        """Run the model in ONNX Runtime, at the witness and at each finding's counterexample.

        Raises `MissingExtraError` where onnxruntime is not installed.
        """
        from symbcast.onnx.report.confirmation import confirmations

        return confirmations(self)

    def annotate(self) -> onnx.ModelProto:
        """Return a copy of the model annotated with the shapes of values."""
        from symbcast.onnx.report.annotations import annotated

        return cast("onnx.ModelProto", annotated(self._checked))
