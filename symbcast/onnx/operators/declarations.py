"""How an ONNX operator is declared: names and domain, reach, bounds of integers, and what ONNX Runtime does otherwise.

A function decorated with `operator` computes the outputs of its operators. Simple ones are a line each, in the
language of `symbcast.onnx.operators.signatures`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from symbcast.core.algebra.formulas import Formula
from symbcast.core.structs import NamedTuple
from symbcast.graphs.check import Offered, OperatorTable
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.unknown_ranks import Reaches
from symbcast.operators.operator import Dims
from symbcast.operators.reach import ANY, Reach, reach_of
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import Interval
from symbcast.operators.values.intervals import UNBOUNDED, Estimate, interval_of, some_of, with_estimate
from symbcast.operators.values.value import Value

# The domain of the operators that ONNX Runtime adds, and that its optimiser puts into models.
MICROSOFT = "com.microsoft"
ML = "ai.onnx.ml"

Intervals: TypeAlias = "Callable[[NodeCall, Sequence[Value], int], Estimate]"
"""Returns the bounds of the integers in an output, from a call, its outputs and the position of one of them."""


class OnnxOperators(OperatorTable[NodeCall]):
    """The functions of operators, and the bounds of the integers that they make."""

    def __init__(self) -> None:
        super().__init__()
        self._intervals: dict[tuple[str, str], Intervals] = {}

    def offer(
        self, *names: str, domain: str = "", reaches: Reaches | None = None, interval: Intervals | None = None
    ) -> Callable[[Offered], Offered]:
        """Register the decorated function for the operators with these names.

        ``interval`` bounds integers whose exact elements are unknown. The rest is as in `OperatorTable`.
        """
        if interval is not None:
            self._intervals.update(((domain, name), interval) for name in names)
        return super().offer(*names, domain=domain, reaches=reaches)

    def with_intervals(self, call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return the outputs of a call, with bounds for integers about which nothing is known."""
        interval = self._intervals.get((call.node.domain, call.node.op_type))
        if interval is None:
            return outputs
        return [with_estimate(value, partial(interval, call, outputs, n)) for n, value in enumerate(outputs)]


OPERATORS = OnnxOperators()
operator = OPERATORS.offer


# Reaches that several operators share: the axes that they use of inputs of unknown rank.
#
# An operator has a reach only if it leaves all axes unchanged that it does not use: its function sees a sequence of
# axes as one axis (`symbcast.graphs.walking.unknown_ranks`).


# Before this version of the operator set, broadcasting was different.
_LEGACY = 8


def reaches_broadcast(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reaches of an operator whose inputs are broadcast together."""
    if call.version < _LEGACY:
        raise UnknownShapeError
    return [ANY] * len(shapes)


def reaches_axis(default: int) -> Reaches:
    """Return the reach of an operator along the attribute ``axis`` of its first input."""
    return lambda call, shapes: [reach_of([call.integer("axis", default)])]


def may_be_number(call: NodeCall, shapes: Sequence[Dims | None]) -> bool:
    """Return whether data may be a scalar, which ONNX Runtime reduces along any axes."""
    return call.asker.runtime == "onnxruntime" and len(shapes[0] or ()) == 1


# Bounds that several operators share.


def input_interval(call: NodeCall, position: int) -> Interval:
    """Return the bounds of the elements of an input."""
    return interval_of(call.value(position), call.bounds) if call.has(position) else UNBOUNDED


def interval_of_first(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    """Return the bounds of an operator that copies all elements of its first input."""
    return input_interval(call, 0)


def interval_of_some(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    """Return the bounds of an operator that copies some elements of its first input."""
    return some_of(input_interval(call, 0))


def interval_of_elements(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    """Return the bounds of an elementwise operator on operands that are broadcast together."""
    name = "Rem" if call.node.op_type == "Mod" and call.integer("fmod") else call.node.op_type
    values = call.values()
    return intervals.elementwise(name, values, outputs[position].dtype, call.bounds)


# What ONNX Runtime does otherwise than the documents.


class RuntimeDifference(NamedTuple):
    """What the runtime ``does``, where the ``document`` of some operators says something else.

    A constant next to the operator holds it, and the operator asks for it with `NodeCall.does`. Each was seen with ONNX
    Runtime 1.32 in a run recorded in `tests/data/onnx`; without the difference, that run gets a wrong answer
    (`tests/onnx/test_differences.py`).
    """

    operators: str
    does: str
    document: str
    runtime: str = "onnxruntime"


CRASHES = RuntimeDifference(
    "Conv DecoderMaskedMultiHeadAttention DynamicQuantizeLSTM FeatureVectorizer GRU Inverse LSTM MultiHeadAttention"
    " QAttention QLinearLeakyRelu QLinearSigmoid STFT SkipLayerNormalization SkipSimplifiedLayerNormalization Unique",
    "ends the process on some sizes, most of them 0",
    "an operator runs, or refuses its inputs",
)


def crashes(call: NodeCall, unless: Formula, where: str) -> None:
    """Require a formula that ONNX Runtime does not check: its process ends where it does not hold (seen with 1.32)."""
    if call.does(CRASHES):
        call.require(unless, f"the runtime crashes here: {where}")
