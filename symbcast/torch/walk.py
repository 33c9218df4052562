"""The walk through an exported program, and whether data or sizes decide the elements that its nodes compute.

Data provably decide an element if it depends only on data, or if data can offset any contribution of sizes to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from symbcast.adapters.torch import read_term
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.terms import Dim, Symbol, Term, term
from symbcast.errors import DimensionError
from symbcast.graphs.check import FrontEnd
from symbcast.graphs.graph import Node
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.requirements import Requirements
from symbcast.graphs.walking.walk import Walk
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import FLOATS, INTEGERS, DistinctPlaces
from symbcast.operators.values.value import Decider, Value, join_deciders
from symbcast.torch.calls import TorchCall
from symbcast.torch.contents import with_contents
from symbcast.torch.graph import TorchNode, operator_name
from symbcast.torch.reader import TorchModel


class TorchWalk(Walk):
    """A walk through one program; see `symbcast.graphs.walking.walk` for what it keeps."""

    def __init__(self, model: TorchModel, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self._symbols = dict(model.declared.symbols)
        self._inputs = model.declared.inputs
        # How often operators read what the kind of their node does not have.
        self.looked = 0
        self.counts: dict[int, tuple[Value, Dim]] = {}

    @cached_property
    def hints(self) -> Mapping[Symbol, int]:
        """The sizes of the example that the program was exported with, as far as torch recorded them."""
        hints: dict[Symbol, int] = {}
        for argument in self._inputs:
            for axis, size in zip(argument.axes, getattr(argument.value, "shape", ()), strict=False):
                hint = size if isinstance(size, int) else size.node.hint if size.node.has_hint() else None
                if isinstance(axis.size, Symbol) and hint is not None:
                    hints[axis.size] = int(hint)
        return hints

    def trace(self) -> Hashable:
        """Return counts of what nodes leave in the walk, besides their outputs."""
        return super().trace(), self.looked

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of an output that are not known exactly."""
        return decider_of_output(node, inputs, output)

    def followed(self, call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return outputs together with the known facts about their elements."""
        known = with_contents(cast("TorchCall", call), outputs)
        return list(map(_changing, known)) if cast("TorchNode", call.node).is_overwritten else known

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Return outputs whose sizes are unknown."""
        return cast("TorchCall", call).unchecked(reason)

    def recorded(self, sizes: Iterable[Any], is_of_data: bool) -> Dims | None:
        """Return recorded sizes in symbcast's symbols; a size that no shape determines becomes a new symbol.

        ``is_of_data`` says whether data provably decide the new sizes.
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
                interval = size.node.shape_env.var_to_range.get(s)
                if interval is not None and interval.lower < 0:
                    raise DimensionError(s, "it may be negative, so it is not a size")
                # A higher lower end is what the program asserts: the graph has that as a node.
                text = "an integer that depends on data" if is_of_data else "an integer that depends on data or sizes"
                self._symbols[s.name] = self.asker.symbol(s.name, text, is_undecided=not is_of_data)
            return term(self._symbols[s.name])

        return leaf


def _changing(value: Value) -> Value:
    """Return a value whose elements a later node changes: nothing is known about integers and booleans."""
    if value.dtype in FLOATS:
        return value
    changing = Value(value.shape, value.dtype)
    changing.decided_by = Decider.BOTH
    return changing


def _aten(names: str) -> frozenset[str]:
    return frozenset(f"aten.{name}" for name in names.split())


_SHAPES_ONLY = _aten("sym_size sym_numel zeros_like ones_like new_zeros new_ones")
_RANDOM = _aten("rand randn rand_like randn_like normal normal_ uniform uniform_ bernoulli multinomial")
_UNSET = _aten("empty empty_like new_empty empty_strided new_empty_strided empty_permuted")
# Operators that select or move elements of their first tensor; the other arguments say which, and where to.
_OF_FIRST = _aten(
    "index _unsafe_index index_select gather embedding take select select_copy slice slice_copy narrow narrow_copy "
    "view reshape expand expand_as repeat repeat_interleave roll flip permute transpose unsqueeze squeeze unfold split "
    "split_with_sizes chunk unbind diagonal tril triu masked_select"
)
_MOVES = _OF_FIRST | _aten(
    "cat concat concatenate stack hstack vstack clone contiguous detach detach_ alias lift_fresh lift_fresh_copy "
    "flatten unflatten squeeze_copy unsqueeze_copy view_copy t movedim where masked_fill index_put index_put_ scatter "
    "item _local_scalar_dense broadcast_tensors meshgrid constant_pad_nd copy copy_ randint randint_like sort"
)
_CASTS = _aten("to _to_copy type_as")
_SHIFTS = _aten(
    "add sub rsub neg remainder clamp clamp_min clamp_max clip maximum minimum floor_divide bitwise_not abs"
)
# Operators that add real numbers: data can offset any other term.
_SUMS = _aten("add sub rsub scaled_dot_product_attention")


def decider_of_output(node: Any, inputs: Sequence[Value | None], output: Value) -> Decider:
    """Return what decides an output's unknown elements, given the deciders of the inputs."""
    kind = node.op_type
    if kind in _SHAPES_ONLY:
        return Decider.SIZES
    if kind in _RANDOM:
        return Decider.DATA
    if kind in _UNSET:
        return Decider.BOTH
    made_of = inputs[:1] if kind in _OF_FIRST and join_deciders(inputs[:1]) else inputs
    decider = join_deciders(made_of)
    if decider == Decider.NUMBERS and any(numbers_of(v.shape) is None for v in (*made_of, output) if v is not None):
        return Decider.SIZES  # sizes decide the number of times that each number occurs
    if decider == Decider.BOTH and kind in _SUMS and any(map(_is_free, made_of)):
        return Decider.DATA
    if decider == Decider.DATA and output.dtype in INTEGERS and not _can_be_any(node, made_of, output):
        return Decider.BOTH
    return decider


def _can_be_any(node: Any, made_of: Sequence[Value | None], output: Value) -> bool:
    """Return whether data can give integers any values within their bounds, so that some suit every index."""
    # Positions, counts and sums are bounded by sizes; integers that are rounded from computed reals may be so too.
    kind = node.op_type
    if isinstance(output.content, DistinctPlaces):
        return False
    if not kind.startswith("aten.") or kind in _MOVES or kind in _RANDOM:
        return True
    if kind in _CASTS:
        return all(v is None or v.dtype not in FLOATS for v in made_of) or _is_given(node.raw)
    return kind in _SHIFTS and sum(v is not None and v.decided_by == Decider.DATA for v in made_of) == 1


def _is_given(fx: Any) -> bool:
    """Return whether a node casts the elements of an input, moved at most."""
    while True:
        fx = fx.args[0] if fx.args else fx.kwargs.get("self")
        if getattr(fx, "op", "") == "placeholder":
            return True
        if not hasattr(fx, "args") or fx.target is None or operator_name(fx.target) not in _MOVES:
            return getattr(getattr(fx, "meta", {}).get("val"), "is_given", False) is True


def _is_free(value: Value | None) -> bool:
    return value is not None and value.decided_by == Decider.DATA and value.dtype in FLOATS
