"""Questions of unknown rank against brute force: every expansion to up to 3 axes, every size from 0 to 4."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from rank_expansions import expansions, holds
from reference import RULES

import symbcast as sb

V = sb.Verdict
EVALUATED = 11
"""Of so many expansions one is put in: the guard, which is faster, tells of all."""

_rules = st.sampled_from(
    [
        ("numpy", {}),
        ("numpy", {}),
        ("bidirectional", {}),
        ("unidirectional", {}),
        ("none", {}),
        ("pdpd", {}),
        ("onnx-legacy", {"broadcast": 0}),
        ("paddle", {"min_rank": 1}),
    ]
)
_dims = st.lists(st.sampled_from(["N", "M", "N", 1, 2, 3, 0]), max_size=2)
_sequences = st.sampled_from([[], ["*a"], ["*a"], ["*b"], ["..."]])
_shapes = st.builds(lambda sequence, dims: [*sequence, *map(str, dims)], _sequences, _dims)
_assumptions = st.sampled_from(
    [(), (), (), "rank(a) >= 1", "rank(a) == 2", "a[-1] == 2", "a[-2] >= 2", "N >= 2", "rank(a) <= rank(b)", "*a == *b"]
)


def questions(count):
    return st.lists(_shapes, min_size=2, max_size=count).filter(
        lambda q: any("*" in d or "." in d for s in q for d in s)
    )


@given(questions(3), _rules, _assumptions, st.sampled_from([0, 0, 1, 2]))
@example([["*a", "N"], ["2", "3"]], ("numpy", {}), (), 0)
@example([["*a", "N"], ["*b"]], ("unidirectional", {}), (), 2)
@example([["*a", "N"], ["*a"]], ("numpy", {}), (), 0)
@example([["N", "N"], [], ["*a"]], ("paddle", {"min_rank": 1}), "rank(a) == 2", 2)
@example([["*a"], ["*b"]], ("paddle", {"min_rank": 1}), "rank(a) >= 1", 2)
@example([["...", "N"], ["N", "N"]], ("none", {}), (), 1)
@example([["*a", "1", "N"], ["*b", "M", "0"], ["*a", "2"]], ("paddle", {"min_rank": 1}), (), 2)
@example([["*b", "0", "M"], ["*b"], ["*a"]], ("numpy", {}), "*a == *b", 1)
def test_questions_of_unknown_rank_are_answered_as_all_their_expansions_are(shapes, rule, assumption, min_size):
    name, attributes = rule
    shapes = shapes if name in ("numpy", "paddle") else shapes[:2]
    texts = [f"({', '.join(s)},)" if s else "()" for s in shapes]
    words = {w for s in shapes for w in s}
    needed = {
        "N": "N" in assumption,
        "*a": any(said in assumption for said in ("(a", "a[", "*a")),
        "*b": any(said in assumption for said in ("(b", "*b")),
    }
    min_size = min(min_size, 1) if assumption == "*a == *b" else min_size
    assume = assumption if all(word in words for word, is_needed in needed.items() if is_needed) else ()
    try:
        result = sb.broadcast(*texts, rule=name, assume=assume, min_size=min_size, **attributes)
    except sb.RuleArgumentError:
        assert name == "pdpd"
        return
    if all("*" not in t and "." not in t for t in texts):
        return
    verdict = result.verdict
    event(f"{verdict.value} by {name}")
    guard = result.guard() if verdict is not V.UNKNOWN else None
    output = None if result.shape is None else sb.broadcast(result.shape)
    valid = failed = 0
    for number, (sizes, concrete) in enumerate(expansions(shapes)):
        if any(size < min_size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))):
            continue
        if not holds(assume, sizes):
            continue
        wanted = RULES[name](*concrete, **attributes)
        valid += wanted is not None
        failed += wanted is None
        if guard is not None:
            assert guard(sizes) == (wanted is not None), (texts, sizes)
        if number % EVALUATED:
            continue
        if wanted is None:
            with pytest.raises(sb.IncompatibleShapesError):
                result.evaluate(sizes)
        else:
            assert result.evaluate(sizes) == wanted, (texts, sizes)
            kept = {k: v for k, v in sizes.items() if any(k == n for n in _named_in(output))}
            assert output.evaluate(kept) == wanted, (texts, sizes, result.shape)
    assert verdict is not V.ALWAYS or not failed
    assert verdict is not V.NEVER or not valid
    if verdict is V.SOMETIMES:
        assert result.evaluate(result.witness()) is not None
        with pytest.raises(sb.IncompatibleShapesError):
            result.evaluate(result.counterexample())


def _named_in(result):
    return result.witness()


@given(st.lists(_shapes, min_size=3, max_size=4), st.sampled_from([0, 0, 1, 2]), st.booleans())
def test_programs_of_unknown_rank_are_answered_as_all_their_expansions_are(shapes, min_size, by_matmul):
    texts = [f"({', '.join(s)},)" if s else "()" for s in shapes]
    env = sb.ShapeEnv(min_size=min_size, on_conflict="record")
    made = env.broadcast(texts[0], texts[1], origin="first")
    for text in texts[2:]:
        made = env.broadcast(made, text, origin="next")
    if by_matmul:
        env.matmul("*a, N, 2", "2, M", origin="product")
        shapes = [*shapes, ["*a", "N", "M"]]
    if not any("*" in d or "." in d for s in shapes for d in s):
        return
    verdict = env.verdict
    event(f"program: {verdict.value}")
    # What cannot hold gives unknown sizes of its own, which a guard would take.
    guard = env.guard() if verdict in (V.ALWAYS, V.SOMETIMES) else None
    valid = failed = 0
    for sizes, concrete in islice(expansions(shapes), 1200):
        if any(size < min_size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))):
            continue
        wanted = RULES["numpy"](*(concrete[:-1] if by_matmul else concrete))
        valid += wanted is not None
        failed += wanted is None
        if guard is not None:
            assert guard(sizes) == (wanted is not None), (texts, sizes)
    assert verdict is not V.ALWAYS or not failed
    assert verdict is not V.NEVER or not valid
    if verdict is V.SOMETIMES:
        assert guard(env.witness()) and not guard(env.counterexample())
