"""Notices for runs that contradict a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from symbcast.answers.report.outcomes import Kind, Notice

if TYPE_CHECKING:
    from symbcast.onnx.report.confirmation import Confirmation

DISAGREEMENT = Kind("disagreement", "ONNX Runtime must agree with the report on a model.", "error")


def disagreements(confirmed: Iterable[Confirmation]) -> Iterator[Notice]:
    """Yield a notice for each run in ONNX Runtime that contradicts the report."""
    for run in confirmed:
        if run.agrees is False:
            yield Notice(DISAGREEMENT, DISAGREEMENT.level, "", "", f"ONNX Runtime {run}")
