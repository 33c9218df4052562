"""Handle nodes with inputs of unknown rank: infer requirements and outputs that hold for all ranks at once.

If a node determines the rank of an input, or uses only its last axes, its own function handles it: the function sees
these axes, and all others as one axis that stands for a sequence (`symbcast.operators.reach`). Its requirements
then apply to a sequence that the caller gives, and to each axis that the node determines. For values of unspecified
rank, the requirements of nodes are noted as unchecked; what is known about the last axes of their outputs holds at all
sizes at which they run.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TypeAlias

from symbcast.core.algebra.formulas import TRUE, Formula
from symbcast.core.algebra.symbols import SequenceSymbol, is_sequence, mentions_rest, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.rules.placement import sequence_place
from symbcast.core.structs import NamedTuple
from symbcast.errors import SymbcastError
from symbcast.graphs.walking.node_call import NodeCall, RefusedError, UnknownShapeError
from symbcast.operators.operator import Dims
from symbcast.operators.reach import ANY, Reach, ReachError, expose_axes, is_shape, of_one_rank, put_back, reach_of
from symbcast.operators.values.value import NEVER, UNKNOWN, OpenValue, Value

Reaches: TypeAlias = "Callable[[NodeCall, Sequence[Dims | None]], Sequence[Reach | None]]"
"""Returns the reach of a node into each input, given their shapes; None for an input whose rank must be known."""


def none_of(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Raise `UnknownShapeError`: the ranks of all inputs must be known."""
    raise UnknownShapeError


def padded(reaches: Sequence[Reach | None], count: int) -> list[Reach | None]:
    """Pad reaches to ``count`` inputs with None."""
    return [*reaches, *[None] * (count - len(reaches))][:count]


def required_numbers(call: NodeCall, position: int) -> list[int]:
    """Return the numbers that an input holds; raises `UnknownShapeError` if they are unknown."""
    numbers = call.numbers(position)
    if numbers is None:
        raise UnknownShapeError
    return numbers


def reaches_nothing(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reaches of an operator that uses no axis of any input."""
    return [ANY] * len(shapes)


def reaches_ranks(*ranks: int) -> Reaches:
    """Return the reach of an operator with operands of fixed ranks."""
    reaches = [Reach(rank=rank) for rank in ranks]
    return lambda call, shapes: reaches


def reaches_of_joined(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reaches of tensors concatenated along the attribute ``axis``: all axes, if the rank of one is known.

    Without the attribute, the axis is 1, as in the versions of ONNX in which it may be left out.
    """
    ranks = [len(s) for s in shapes if s is not None and sequence_place(s) is None]
    return [Reach(rank=ranks[0]) if ranks else reach_of([call.integer("axis", 1)])] * len(shapes)


# Operators whose output has the shape of the first input, even if some axes that they use are unknown.
_AS_FIRST = """
    CumProd CumSum DequantizeLinear GroupNormalization Hardmax InstanceNormalization LayerNormalization LogSoftmax
    LpNormalization LRN QuantizeLinear ReverseSequence RMSNormalization ScatterElements ScatterND Softmax Trilu
"""


class NodeFunctions(NamedTuple):
    """How many axes nodes use of inputs of unknown rank (see `OperatorTable.offer`), and their functions."""

    reaches: Reaches
    answer: Callable[[NodeCall], Value | Sequence[Value]]


def outputs_of_given_rank(call: NodeCall, operators: NodeFunctions) -> Sequence[Value] | None:
    """Return the outputs of a node whose inputs of unknown rank all come from sequences that a caller gives.

    Its requirements are recorded. Returns None if there is no such input, or if the result differs between ranks.
    """
    shapes = [None if v is None else call.walk.open.ends(v) for v in call.inputs]
    sequences = sequences_of(symbols_of(d for s in shapes if s is not None for d in s if is_sequence(d)))
    if not sequences or not call.asker.sequences.issuperset(sequences):
        return None
    try:
        seen = _seen(call, shapes, operators.reaches(call, shapes))
    except (ReachError, UnknownShapeError):
        return None
    for requirement, reason in seen.rank_requirements:
        call.require(requirement, reason)
    return _answers(operators, seen.call, seen.taken)


def outputs_of_unknown_rank(call: NodeCall, operators: NodeFunctions, reason: str) -> Sequence[Value]:
    """Return the outputs of a node with inputs of unknown rank, as far as they are known.

    Its requirements on sizes are checked only if it determines the rank of an input; otherwise ``reason`` is noted.
    """
    shapes = [None if v is None else call.walk.open.ends(v) for v in call.inputs]
    try:
        reaches = operators.reaches(call, shapes)
        if any(map(_says_rank, shapes, reaches)):
            return _answers(operators, _with_axes_named(call, shapes, reaches))
    except RefusedError:
        return [NEVER] * len(call.node.outputs)
    except (ReachError, UnknownShapeError):
        pass
    call.note(reason)
    try:
        seen = _seen(call, shapes, operators.reaches(call, shapes))
        known = set(call.asker.origins)
        with call.asker.trying(call.walk.trying()):
            outputs = _answers(operators, seen.call, seen.taken)
            new_sizes = call.asker.origins.keys() - known
        return [UNKNOWN if _speaks_of(v, new_sizes) else v for v in outputs]
    except (SymbcastError, ReachError, UnknownShapeError):
        return _as_first(call)


def _as_first(call: NodeCall) -> Sequence[Value]:
    if call.node.op_type not in _AS_FIRST.split() or call.node.domain or not call.has(0):
        return ()
    ends = call.walk.open.ends(call.value(0))
    return (call.walk.open.opened(ends, call.dtype()),) if any(map(is_sequence, ends)) else ()


class ExposedCall(NamedTuple):
    """The call that a node's function sees, requirements on ranks with their reasons, and axes split off sequences."""

    call: NodeCall
    rank_requirements: list[tuple[Formula, str]]
    taken: list[tuple[Dim, Dims]]


def _answers(operators: NodeFunctions, call: NodeCall, taken: Sequence[tuple[Dim, Dims]] = ()) -> Sequence[Value]:
    """Call the operator's function; return outputs whose shapes contain a sequence as values of unknown rank."""
    outputs = operators.answer(call)
    return [_opened(call, v, taken) for v in ([outputs] if isinstance(outputs, Value) else outputs)]


def _opened(call: NodeCall, value: Value, taken: Sequence[tuple[Dim, Dims]]) -> Value:
    if value is NEVER or value.shape is None or not any(map(mentions_rest, value.shape)):
        return value
    if not is_shape(value.shape):
        raise UnknownShapeError
    return call.walk.open.opened(put_back(value.shape, taken), value.dtype)


def _seen(call: NodeCall, shapes: Sequence[Dims | None], reaches: Sequence[Reach | None]) -> ExposedCall:
    """Return the node with each sequence replaced by one axis. Raises `ReachError`."""
    seen: dict[int, Dims] = {}
    rank_requirements: list[tuple[Formula, str]] = []
    taken = []
    for n, (shape, reach) in enumerate(zip(shapes, reaches, strict=True)):
        if shape is not None and sequence_place(shape) is not None:
            exposed = expose_axes(shape, reach)
            seen[n] = exposed.dims
            rank_requirements.append((exposed.requirement, f"{call.input_name(n)}: {exposed.reason}"))
            taken += [] if exposed.taken is None else [exposed.taken]
    if call.node.op_type == "Concat":
        operands = [s for s in shapes if s is not None]
        dims, ranks = of_one_rank(operands, [seen.get(n, s) for n, s in enumerate(operands)])
        seen = dict(enumerate(dims))
        rank_requirements += [(f, "the operands must have the same rank") for f in ranks]
    for dim in (d for s in seen.values() for d in symbols_of(s) if isinstance(d, SequenceSymbol)):
        call.bounds.learn(dim, call.bounds.least(dim.sequence.rest()) or 0)
    return ExposedCall(_with_shapes(call, seen), [(f, reason) for f, reason in rank_requirements if f != TRUE], taken)


def _with_axes_named(call: NodeCall, shapes: Sequence[Dims | None], reaches: Sequence[Reach | None]) -> NodeCall:
    """Return the node with new sizes for the axes of the inputs whose ranks it determines.

    These ranks are noted as unchecked; the other inputs stay unknown.
    """
    seen: dict[int, Dims] = {}
    for n, (shape, reach) in enumerate(zip(shapes, reaches, strict=True)):
        if shape is not None and sequence_place(shape) is not None and reach is not None and reach.rank is not None:
            name, dims = call.input_name(n), expose_axes(shape, reach).dims
            call.note(f"not checked: {name} must have rank {reach.rank}, but its rank is unknown")
            seen[n] = tuple(call.walk.open.axis_named(name, axis, d) for axis, d in enumerate(dims))
    return _with_shapes(call, seen)


def _with_shapes(call: NodeCall, shapes: Mapping[int, Dims]) -> NodeCall:
    inputs = list(call.inputs)
    for n, dims in shapes.items():
        value = call.value(n)
        inputs[n] = value if value.shape is not None else value.with_sizes(dims)
    return call.of(inputs, call.version)


def _says_rank(shape: Dims | None, reach: Reach | None) -> bool:
    return shape is not None and sequence_place(shape) is not None and reach is not None and reach.rank is not None


def _speaks_of(value: Value, symbols: Container[Symbol]) -> bool:
    """Return whether a value's sizes use any of the symbols, or its known shape uses an axis of a sequence."""
    used = symbols_of(value.ends if isinstance(value, OpenValue) else value.shape or ())
    return any(s in symbols or (isinstance(s, SequenceSymbol) and value.shape is not None) for s in used)
