"""The walk through an exported program: node after node, each answered for by its operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from symbcast.adapters.torch_expressions import read_term
from symbcast.core.algebra.terms import Dim, Term, term
from symbcast.errors import DimensionError
from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.values.value import Dims, Value
from symbcast.graphs.walk import Walk
from symbcast.torch.contents import with_contents
from symbcast.torch.deciding import decider_of_output
from symbcast.torch.node_call import TorchCall

if TYPE_CHECKING:
    from symbcast.graphs.front_end import FrontEnd
    from symbcast.graphs.graph import Node
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.values.deciders import Decider
    from symbcast.torch.reader import TorchModel


class TorchWalk(Walk):
    """A walk through one program; see `symbcast.graphs.walk` for what it keeps."""

    def __init__(self, model: TorchModel, front_end: FrontEnd, asker: Asker) -> None:
        super().__init__(front_end, asker, model.inner)
        self._symbols = dict(model.declared.symbols)

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of the output at a position, which are not known exactly."""
        return decider_of_output(node, inputs, output)

    def followed(self, call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return outputs with what follows of their elements."""
        return with_contents(cast("TorchCall", call), outputs)

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Return outputs of the shapes that torch recorded."""
        self.leave(call.place, reason)
        return cast("TorchCall", call).recorded()

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
