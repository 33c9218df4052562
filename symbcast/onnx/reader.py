"""ONNX models for the walk: loaded, validated, and checked for whether a session opens them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from symbcast.core.logic.formulas import FALSE
from symbcast.graphs.model import Model
from symbcast.graphs.values.value import UNKNOWN
from symbcast.onnx.inputs.models import load, read_inputs
from symbcast.onnx.opening.refusals import Refusal
from symbcast.onnx.opening.session import refusal
from symbcast.onnx.opening.values import value_of
from symbcast.onnx.protobuf.graph import OnnxGraph, OnnxNode, nodes_of
from symbcast.onnx.protobuf.types import normal
from symbcast.onnx.report.element_types import element_types
from symbcast.onnx.validity.models import Examined, examined
from symbcast.onnx.validity.opsets import Runtime
from symbcast.onnx.validity.schemas import KNOWN_DOMAINS, Found, check_types, other_outputs
from symbcast.operators.context import evaluated

if TYPE_CHECKING:
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.inputs.given import Given
    from symbcast.graphs.inputs.inputs import Inputs
    from symbcast.graphs.requirements.recorder import Asker, Place
    from symbcast.graphs.walking.walk import Walk
    from symbcast.onnx.walk import OnnxWalk


class OnnxModel(Model):
    """A model that is well formed; ``raw`` is its ``ModelProto``."""

    def __init__(self, source: str, path: Path | None, examined: Examined, runtime: Runtime) -> None:
        graph = OnnxGraph(examined.model.graph, examined.versions, examined.nodes, examined.tensors)
        super().__init__(source, graph, path=path, raw=examined.model, inner=examined.inner)
        self.examined = examined
        self._runtime = runtime
        held = {*examined.tensors.names, *(t.values.name for t in examined.model.graph.sparse_initializer)}
        self._inputs = [i for i in examined.model.graph.input if i.name not in held]
        """The inputs that are not constants of the model."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs that are not constants of the model."""
        return tuple(i.name for i in self._inputs)

    @property
    def axes_in_file(self) -> dict[str, tuple[int | None, ...]]:
        """The shapes of inputs and outputs in the file: numbers, and None for a size with a name or without one."""
        types = {v.name: v.type.tensor_type for v in (*self.raw.graph.input, *self.raw.graph.output)}
        return {
            name: tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim)
            for name, kind in types.items()
            if kind.HasField("shape")
        }

    def read_inputs(self, env: Program, given: Given, *, are_open: bool = False) -> Inputs:
        """Return the inputs as values, with the caller's knowledge of them."""
        return read_inputs(self._inputs, env, given, are_open=are_open)

    @cached_property
    def _refusal(self) -> Refusal | None:
        """Why ONNX Runtime does not open it, if that runtime is asked about."""
        return refusal(self.examined) if self._runtime == "onnxruntime" else None

    def note(self, walk: Walk) -> None:
        """Refuse a model that ONNX Runtime does not open, and note uncertain cases."""
        if self._runtime == "onnxruntime":
            self._open(walk)

    def _node(self, proto: Any) -> OnnxNode:
        (node,) = nodes_of([proto], self.examined.versions)
        return node

    def _open(self, walk: Walk) -> None:
        found = self._refusal
        if found is not None and found.is_certain:
            reason = f"ONNX Runtime does not open the model: {found.text}"
            walk.refuse(self._node(found.node), reason, [value_of(t) for t in found.types])
        elif found is not None:
            walk.doubt(self._node(found.node), f"ONNX Runtime may not open the model: {found.text}")
        elif any(normal(o.domain) not in KNOWN_DOMAINS for o in self.raw.opset_import):
            doubt = refusal(self.examined, walk.found)
            if doubt is not None:
                walk.doubt(self._node(doubt.node), f"ONNX Runtime may not open the model: {doubt.text}")
            for place in _impossible(walk.asker):
                if place.node.domain not in KNOWN_DOMAINS:
                    walk.leave(place, "no sizes work for it: ONNX Runtime may not open the model")

    def settle(self, walk: Walk) -> None:
        """Raise `ModelError` for wrong element types; onnx confirms any that seem wrong.

        ONNX Runtime requires outputs to have their declared types; ``onnx.checker`` does not.
        """
        mistyped = cast("OnnxWalk", walk).mistyped
        outputs: dict[str, int] = {}
        if self._runtime == "onnxruntime":
            found = {name: (walk.top.find(name) or UNKNOWN).dtype for name in self.graph.outputs}
            outputs = other_outputs(self.raw, found)
        if mistyped or outputs:
            check_types(self.source, self.raw, Found(mistyped, outputs), element_types(self.raw))


def _impossible(asker: Asker) -> Iterator[Place]:
    """Yield the nodes whose own requirements no sizes meet, even if they are never run."""
    for (name, _), reason in asker.reasons.items():
        if evaluated(reason.formula) == FALSE:
            yield asker.places[name]


def read(model: Any, runtime: str) -> OnnxModel:
    """Load a file, a ``ModelProto`` or an ``onnx_ir.Model``; raises `ModelError` for anything else."""
    source, loaded = load(model)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    asked = cast("Runtime", runtime)
    return OnnxModel(source, path, examined(source, loaded, asked, nodes_of), asked)
