"""The walk through an exported program: node after node, each answered for by its operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symbcast.adapters.torch_expressions import read_term
from symbcast.core.algebra.terms import Dim, Term, term
from symbcast.errors import DimensionError
from symbcast.onnx.deciding import decider_of_content
from symbcast.onnx.requirements.recorder import Asker, Place
from symbcast.onnx.validity.models import Examined
from symbcast.onnx.values.value import Dims, Value
from symbcast.onnx.walk import Walk
from symbcast.onnx.walker import GraphScope
from symbcast.torch.contents import with_contents
from symbcast.torch.deciding import decider_of_output
from symbcast.torch.graph import Graph
from symbcast.torch.held import Held
from symbcast.torch.node_call import TorchCall
from symbcast.torch.operators.families import OPERATORS, by_tag


class TorchWalk(Walk):
    """A walk through one program; see `symbcast.onnx.walk` for what it keeps.

    ``symbols`` are what the symbols of torch's own `ShapeEnv` are here.
    """

    def __init__(self, model: Examined, asker: Asker, symbols: Mapping[str, Dim]) -> None:
        super().__init__(model, asker)
        self._symbols = dict(symbols)

    def constants(self, graph: Graph, scope: GraphScope) -> None:
        """Put the tensors that a program holds into the scope."""
        for name, tensor in graph.held.items():
            scope.values.setdefault(name, Held(tensor))

    def mark(self, node: Any, inputs: Sequence[Value | None], outputs: Sequence[Value], scope: GraphScope) -> None:
        """Set what decides the elements of the outputs of a node, where that is not known yet."""
        for value in outputs:
            if value.decided_by is None:
                found = decider_of_content(value.content, value.shape, self.asker)
                value.decided_by = decider_of_output(node, inputs, value) if found is None else found

    def _answered(self, place: Place, scope: GraphScope) -> Sequence[Value]:
        call = TorchCall(place, self, scope, self.recorded)
        operator = OPERATORS.get(place.op_type) or by_tag(place.node.fx.target)
        if operator is None:
            call.note(f"{place.op_type} is not known here: its shape is as torch recorded it")
            return self.asker.written(call.recorded())
        found = operator(call)
        outputs = (found,) if isinstance(found, Value) else found
        return self.asker.written(with_contents(call, outputs))

    def _unknown(self, place: Place, scope: GraphScope, reason: str) -> Sequence[Value]:
        """Return outputs of the shapes that torch recorded."""
        self.leave(place, reason)
        return TorchCall(place, self, scope, self.recorded).recorded()

    def recorded(self, sizes: Iterable[Any], is_of_data: bool) -> Dims | None:
        """Return sizes as torch recorded them, in our symbols; one that no shape determines is a size of its own.

        ``is_of_data`` says whether it is proven that data decide it.
        """
        try:
            return tuple(self._recorded_size(size, is_of_data) for size in sizes)
        except DimensionError:
            return None

    def _recorded_size(self, size: Any, is_of_data: bool) -> Dim:
        number = size if isinstance(size, int) else size.node.maybe_as_int()
        return int(number) if number is not None else read_term(size.node.expr, self._leaf(size, is_of_data)).dim()

    def _leaf(self, size: Any, is_of_data: bool) -> Any:
        def leaf(s: Any) -> Term:
            if s.name not in self._symbols:
                held = size.node.shape_env.var_to_range.get(s)
                if held is not None and held.lower < 0:
                    raise DimensionError(s, "it may be negative, so it is no size")
                least = 0 if held is None else int(held.lower)
                text = "an integer that data decide" if is_of_data else "an integer that data or sizes decide"
                self._symbols[s.name] = self.asker.symbol(s.name, text, least, is_undecided=not is_of_data)
            return term(self._symbols[s.name])

        return leaf
