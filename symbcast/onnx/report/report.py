"""The answer about an ONNX model, as users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from symbcast.graphs.report.report import GraphReport

if TYPE_CHECKING:
    import onnx

    from symbcast.onnx.report.confirmation import Confirmation


class ModelReport(GraphReport):
    """For which sizes of its inputs a model runs, what every shape in it is, and which node asks what.

    Nothing is worked out before it is asked for, and the model is never changed.
    """

    def confirm(self) -> tuple[Confirmation, ...]:
        """Run the model in ONNX Runtime, at the witness and where each finding says that it fails.

        Raises `MissingExtraError` where onnxruntime is not installed.
        """
        from symbcast.onnx.report.confirmation import confirmations

        return confirmations(self)

    def annotate(self) -> onnx.ModelProto:
        """Return a copy of the model in which the shapes of values are written down."""
        from symbcast.onnx.report.annotations import annotated

        return cast("onnx.ModelProto", annotated(self._checked))
