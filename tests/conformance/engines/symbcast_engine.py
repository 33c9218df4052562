"""symbcast itself: broadcasts as a question, graphs as ONNX models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from conformance.models import model_of
from conformance.runner import CannotTell, Case, Shape, Sizes, size_at

import symbcast as sb


class Answer(NamedTuple):
    """Where it works, the shapes of the outputs, and whether something is left open."""

    works: Callable[..., bool]
    names: frozenset[str]
    shapes: list[sb.Shape]
    is_open: bool


class Symbcast:
    """`sb.broadcast` of shapes, `sb.onnx.check` of graphs."""

    runtime = "onnxruntime"
    package = "symbcast"

    def infer(self, case: Case) -> Answer:
        if case.kind == "broadcast":
            found: Any = sb.broadcast(*(shape for _, shape in case.inputs.values()))
            shapes, is_open = [found.shape], found.verdict is sb.Verdict.UNKNOWN
        else:
            found = sb.onnx.check(model_of(case), min_size=0, runtime="onnxruntime")
            shapes = [found.outputs[name] for name in case.outputs]
            is_open = found.verdict is sb.Verdict.UNKNOWN
        return Answer(found.condition.guard(), frozenset(s.name for s in found.condition.symbols), shapes, is_open)

    def at(self, answer: Answer, sizes: Sizes) -> list[Shape] | None:
        if not answer.works({n: size for n, size in sizes.items() if n in answer.names}):
            return None
        if answer.is_open:
            raise CannotTell
        return [_at(shape, sizes) for shape in answer.shapes]


def _at(shape: sb.Shape | None, sizes: Sizes) -> Shape:
    return None if shape is None else [size_at(str(d), sizes) for d in shape]
