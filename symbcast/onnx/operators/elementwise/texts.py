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
    _check_grams(call)
    if len(dims) == 2:
        call.at_most(1, dims[0], "there must be a line")
    return Value((*dims[:-1], max(places) + 1), FLOAT)


def _check_grams(call: NodeCall) -> None:
    """Refuse a pool whose parts, which begin where ``ngram_counts`` says, do not hold whole n-grams."""
    starts = call.integers("ngram_counts") or []
    shortest, longest = call.integer("min_gram_length"), call.integer("max_gram_length")
    if not 1 <= shortest <= longest <= len(starts):
        call.refuse("there must be a count for each length of an n-gram")
    if call.integer("max_skip_count") < 0:
        call.refuse("max_skip_count must not be negative")
    total = len(call.integers("pool_int64s") or call.attribute("pool_strings") or ())
    for length, (start, end) in enumerate(zip(starts, [*starts[1:], total], strict=True), 1):
        if not 0 <= start <= end <= total or (end - start) % length:
            call.refuse(f"ngram_counts must give whole n-grams of length {length}")
