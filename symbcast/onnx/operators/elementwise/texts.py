"""Operators on tensors of text."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.values.numbers import BOOL
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator

FLOAT, INT64, STRING = 1, 7, 8


@operator("StringConcat")
def concat(call: NodeCall) -> Value:
    """Concatenated texts; the operands are broadcast together."""
    return Value(call.broadcast(call.shape(0), call.shape(1)), STRING)


@operator("RegexFullMatch")
def match(call: NodeCall) -> Value:
    """A truth value for each text."""
    return Value(call.shape(0), BOOL)


@operator("StringSplit")
def split(call: NodeCall) -> Sequence[Value]:
    """The parts of each text on a new axis, as long as the largest count; and the counts."""
    dims = call.shape(0)
    count = call.fresh("parts", f"the most parts that a text of {call.input_name(0)} has")
    return Value((*dims, count), STRING), Value(dims, INT64)


@operator("StringNormalizer")
def normalizer(call: NodeCall) -> Value:
    """The texts left after dropping stop words; a single empty text if none are left."""
    dims = call.rank(0, (1, 2), "the input")
    if len(dims) == 2:
        call.equal(dims[0], 1, "an input of two axes must have one row")
    count = call.fresh("count", f"the number of texts of {call.input_name(0)} after normalisation", least=1)
    return Value((*dims[:-1], count), STRING)


@operator("TfIdfVectorizer")
def vectorizer(call: NodeCall) -> Value:
    """How often each n-gram occurs in a line."""
    dims = call.rank(0, (1, 2), "the input")
    places = call.integers("ngram_indexes")
    if not places:
        call.refuse("the attribute ngram_indexes must be given")
    return Value((*dims[:-1], max(places) + 1), FLOAT)
