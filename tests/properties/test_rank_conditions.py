"""Conditions on sequences of axes, and what follows from answers, against brute force over ranks and sizes."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from rank_expansions import expansions, holds
from reference import RULES

import symbcast as sb

V = sb.Verdict
EVALUATED = 20
"""So many expansions are put in."""
PAIRS = list(product([axes for rank in range(4) for axes in product(range(4), repeat=rank)], repeat=2))
"""The axes of two sequences: up to 3 axes each, of sizes from 0 to 3."""

_shapes = st.sampled_from(
    [
        ["*a"],
        ["*b"],
        ["*a", "N"],
        ["*b", "N"],
        ["*b", "M"],
        ["*b", "2", "M"],
        ["2", "3"],
        ["N"],
        ["*a", "1"],
        ["M", "1"],
    ]
)
_questions = st.lists(_shapes, min_size=2, max_size=2)
_rules = st.sampled_from(["numpy", "numpy", "none", "unidirectional"])
_assumptions = st.sampled_from([(), (), "rank(a) >= 1", "rank(a) == 2", "a[-1] == 2", "rank(a) <= rank(b)", "*a == *b"])
_least = st.sampled_from([0, 0, 1, 2])

ONE_AXIS = {
    "compatible(*a, *b)": lambda a, b: len({a, b, 1}) <= 2,
    "*a == *b": lambda a, b: a == b,
    "*a == *b or *a == 1": lambda a, b: a in (b, 1),
    "*b == 1": lambda a, b: b == 1,
}
"""Relations of all axes, as each axis has them."""
OTHERS = {
    "a[-1] == 1 or a[-1] == 2": lambda a, b: a[-1:] in ((), (1,), (2,)),
    "a[-2] == 3": lambda a, b: len(a) >= 2 and a[-2] == 3,
    "rank(b) <= rank(a)": lambda a, b: len(b) <= len(a),
    "rank(a) <= 1": lambda a, b: len(a) <= 1,
    "rank(a) == rank(b)": lambda a, b: len(a) == len(b),
    "a[-1] == b[-1]": lambda a, b: (a[-1:] or (1,)) == (b[-1:] or (1,)),
}


def at_axes(text, a, b):
    """Return whether a relation holds at the axes of two sequences."""
    if text in OTHERS:
        return OTHERS[text](a, b)
    padded = ((1,) * (4 - len(s)) + s for s in (a, b))
    return all(ONE_AXIS[text](*sizes) for sizes in zip(*padded, strict=True))


@cache
def truths(text):
    """Return whether a relation holds, for all axes of two sequences."""
    return [at_axes(text, a, b) for a, b in PAIRS]


def asked(shapes, rule, assumption, min_size):
    """Return an answer of unknown rank, None for a question that is refused or has no sequence."""
    words = {w for s in shapes for w in s}
    speaks = {"*a": any(t in assumption for t in ("(a", "a[", "*a")), "*b": any(t in assumption for t in ("(b", "*b"))}
    assume = assumption if all(w in words for w, is_said in speaks.items() if is_said) else ()
    assume = () if assume == "*a == *b" and min_size > 1 else assume
    if "*a" not in words and "*b" not in words:
        return None
    texts = [f"({', '.join(s)},)" for s in shapes]
    return sb.broadcast(*texts, rule=rule, assume=assume, min_size=min_size), assume


def valid_sizes(shapes, rule, assume, min_size):
    """Yield sizes that meet the assumptions, and the output there, None where there is none."""
    for sizes, concrete in expansions(shapes):
        axes = [size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))]
        if all(size >= min_size for size in axes) and holds(assume, sizes):
            yield sizes, RULES[rule](*concrete)


@given(_questions, _rules, _assumptions, _least, st.sampled_from([*ONE_AXIS, *OTHERS]))
@example([["*a"], ["*b"]], "unidirectional", (), 2, "rank(a) <= 1")
def test_what_answers_imply_holds_at_all_ranks(shapes, rule, assumption, min_size, relation):
    found = asked(shapes, rule, assumption, min_size)
    if found is None:
        return
    result, assume = found
    try:
        is_implied = result.implies(relation)
    except (sb.UndecidedError, sb.AssumptionError) as error:
        event(f"{type(error).__name__}, min_size={min_size}")
        assert relation in ONE_AXIS and (min_size > 1 or isinstance(error, sb.UndecidedError)), (shapes, relation)
        return
    event(f"implied: {is_implied}")
    if is_implied:
        for sizes, output in valid_sizes(shapes, rule, assume, min_size):
            if output is None:
                continue
            for others in {(), (2,), (3, 1)} if {"a", "b"} - {*sizes} else {()}:
                assert at_axes(relation, sizes.get("a", others), sizes.get("b", others)), (shapes, sizes)
        return
    refuted = sb.Condition(result).counterexample(relation, assume=result.assumptions)
    if min_size > 1 or refuted is None:
        return
    told = {name: size for name, size in refuted.items() if name in (result.witness() or {})}
    assert sb.Condition(result).guard()(told)
    assert not at_axes(relation, refuted.get("a", ()), refuted.get("b", ())), (shapes, relation, refuted)


@given(_questions, _questions, _rules, _rules, _assumptions, _least)
@example([["*a"], ["*b"]], [["*b"], ["*a"]], "numpy", "none", (), 2)
@example([["*a", "N"], ["2", "3"]], [["2", "3"], ["*a", "N"]], "numpy", "numpy", "rank(a) >= 1", 0)
def test_answers_are_equivalent_if_they_are_so_at_all_ranks(first, second, rule, other, assumption, min_size):
    left, right = asked(first, rule, assumption, min_size), asked(second, other, (), min_size)
    if left is None or right is None:
        return
    try:
        same = sb.equivalent(left[0], right[0])
    except sb.UndecidedError:
        event("undecided")
        return
    event(f"equivalent: {same}")
    differs = False
    for sizes, concrete in expansions([*first, *second]):
        axes = [size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))]
        if all(size >= min_size for size in axes) and holds(left[1], sizes):
            differs = differs or RULES[rule](*concrete[:2]) != RULES[other](*concrete[2:])
    assert differs is not same, (first, second, rule, other)


@given(st.lists(st.sampled_from([*ONE_AXIS, *OTHERS]), min_size=2, max_size=3), _least)
@example(["compatible(*a, *b)", "a[-2] == 3", "*b == 1"], 0)
def test_conditions_are_decided_at_all_ranks(texts, min_size):
    *said, asked_for = texts
    condition = sb.Condition(" and ".join(f"({text})" for text in said))
    try:
        is_implied, verdict = (
            condition.implies(asked_for, min_size=min_size),
            condition.verdict_under(min_size=min_size),
        )
    except sb.AssumptionError:
        assert min_size > 1
        return
    there = [n for n, axes in enumerate(PAIRS) if all(size >= min_size for size in (*axes[0], *axes[1]))]
    held = [n for n in there if all(truths(text)[n] for text in said)]
    names = [name for name in "ab" if any(re.search(rf"\b{name}\b", text) for text in said)]
    for n in there[:: max(1, len(there) // EVALUATED)]:
        sizes = dict(zip("ab", PAIRS[n], strict=True))
        assert condition.guard()({name: sizes[name] for name in names}) is all(truths(text)[n] for text in said), sizes
    assert all(truths(asked_for)[n] for n in held) is is_implied, (texts, min_size)
    expected = V.NEVER if not held else V.ALWAYS if len(held) == len(there) else V.SOMETIMES
    assert verdict is expected, (texts, min_size)
    event(f"{verdict.value}, implied: {is_implied}")


@given(_questions, st.sampled_from(["numpy", "unidirectional"]), _assumptions, _least)
def test_operands_are_stretched_where_they_are_so_at_all_ranks(shapes, rule, assumption, min_size):
    found = asked(shapes, rule, assumption, min_size)
    if found is None or found[0].shape is None or found[0].shape.rank is not None:
        return
    result, assume = found
    known = [len(s) - any(w.startswith("*") for w in s) for s in shapes]
    try:
        expansions_of = {(n, k): result.expands(n, -k) for n in range(2) for k in range(1, max(known) + 1)}
    except sb.UnknownRankError:
        return
    for (operand, k), expansion in expansions_of.items():
        event(expansion.verdict.value)
        seen = set()
        for sizes, concrete in expansions(shapes):
            axes = [size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))]
            output = RULES[rule](*concrete)
            if output is None or any(size < min_size for size in axes) or not holds(assume, sizes):
                continue
            own = concrete[operand][-k] if k <= len(concrete[operand]) else 1
            seen.add(own != output[-k])
            assert expansion.condition.guard()(sizes) is (own != output[-k]), (shapes, sizes)
        assert not (expansion.verdict is V.ALWAYS and False in seen), (shapes, operand, k)
        assert not (expansion.verdict is V.NEVER and True in seen), (shapes, operand, k)
        assert expansion.verdict is not V.SOMETIMES or min_size > 1 or seen == {True, False}, (shapes, operand, k)


def test_what_is_about_some_axis_is_refused_with_what_to_ask_instead():
    compatible = sb.Condition("compatible(*a, *b)")
    for wrong in (lambda: ~compatible, lambda: compatible | "*a == 1", lambda: compatible >> "rank(a) == 1"):
        with pytest.raises(sb.UnknownRankError, match="ask about ranks and named axes"):
            wrong()
    assert str(~sb.Condition("rank(a) >= 1")) == "rank(a) < 1"
