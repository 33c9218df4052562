"""What a text says holds, also where its terms cancel: definedness, bounds of unknown sizes, and names.

The oracle is Python, which evaluates the text as it is written.
"""

from __future__ import annotations

import itertools
import pickle
import re

import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st
from properties import strategies

import symbcast as sb

SIZES = {"N": range(4), "M": range(4), "?a": range(1, 3)}
WRITTEN = {"?a": "(?a:1..2)"}
OPERATORS = ["({}) + ({})", "({}) - ({})", "({})*({})", "({})//({})", "({}) % ({})"]
FUNCTIONS = ["min({}, {})", "max({}, {})", "broadcast({}, {})"]

leaves = st.sampled_from(["N", "M", "N", "M", "(?a:1..2)", "0", "1", "2", "3"])
texts = st.recursive(
    leaves, lambda inner: st.builds(str.format, st.sampled_from(OPERATORS + FUNCTIONS), inner, inner), max_leaves=5
)
cancelling = st.one_of(
    texts,
    st.builds("({0}) + ({1}) - ({0})".format, texts, texts),
    st.builds("({})*0 + ({})".format, texts, texts),
    st.builds("(({0}) - ({0}))*({1})".format, texts, texts),
)


def names_in(text):
    return sorted({name for name in SIZES if re.search(rf"{re.escape(name)}\b", text)})


def all_sizes(names):
    return [dict(zip(names, sizes, strict=True)) for sizes in itertools.product(*(SIZES[n] for n in names))]


def outcome(shapes, at):
    """Return the shape that comes out at some sizes, None where there is none."""
    try:
        sizes = [tuple(strategies.value(text, strategies.scope_of(at)) for text in shape) for shape in shapes]
    except ArithmeticError:
        return None
    if any(size < 0 for shape in sizes for size in shape):
        return None
    return reference.numpy(*sizes)


@given(st.lists(st.lists(cancelling, min_size=1, max_size=2), min_size=2, max_size=2))
@example([["(M//N)*0"], ["N"]])
@example([["N - N", "M"], ["1"]])
@example([["(?a:1..2) - ?a"], ["?a", "1"]])
@example([["min(0, (?a:1..2))"], ["?a"]])
@example([["broadcast(N, M)*0"], ["1"]])
def test_answers_hold_for_the_text_as_it_is_written(shapes):
    try:
        result = sb.broadcast(*(f"({', '.join(shape)},)" for shape in shapes))
    except (sb.ShapeSyntaxError, sb.DimensionError):
        return  # a constant divisor of 0
    names = names_in(str(shapes))
    assert {str(s) for s in result.symbols} == set(names)
    condition, valid = sb.Condition(result), []
    for at in all_sizes(names):
        truth = outcome(shapes, at)
        valid.append(truth is not None)
        assert condition.guard()(at) == valid[-1], at
        if truth is None:
            with pytest.raises(sb.IncompatibleShapesError):
                result.evaluate(at)
        else:
            assert result.evaluate(at) == truth
    if result.verdict is not sb.Verdict.UNKNOWN:
        assert result.verdict is not sb.Verdict.ALWAYS or all(valid)
        assert result.verdict is not sb.Verdict.NEVER or not any(valid)
        for found, holds in ((result.witness(), True), (result.counterexample(), False)):
            assert holds not in valid if found is None else (outcome(shapes, found) is not None) == holds, found
    assert pickle.loads(pickle.dumps(result)) == result
    for operand in result.operands:
        assert sb.shape(str(operand)) == operand


@given(cancelling, cancelling, st.sampled_from(["==", "!=", "<=", "<"]))
def test_conditions_hold_for_the_text_as_it_is_written(left, right, relation):
    text = f"{left} {relation} {right}".replace("(?a:1..2)", "M")
    try:
        condition = sb.Condition(text)
    except (sb.ShapeSyntaxError, sb.DimensionError):
        return
    for at in all_sizes(names_in(text)):
        try:
            truth = strategies.value(text, strategies.scope_of(at))
        except ArithmeticError:
            truth = False
        assert condition.guard()(at) == truth, at


CERTIFIED = ["(M//N)*0", "M//N - M//N + 1", "max(3, 2 + 0*(M % N))", "broadcast(M, N)*0 + 1", "N - N", "(?b:3..6) - ?b"]


@pytest.mark.parametrize("text", CERTIFIED)
def test_z3_proves_answers_about_what_cancels(text):
    result = sb.broadcast(text, "K, 1")
    assert result.certify(), result.certify()
