"""Questions beside the answer itself, of shapes of unknown rank, against brute force over ranks and sizes."""

from __future__ import annotations

from itertools import islice
from math import prod

import numpy as np
from hypothesis import event, example, given
from hypothesis import strategies as st
from rank_expansions import expansions, holds
from reference import RULES

import symbcast as sb
from symbcast.core.algebra.symbols import AxisSequence, is_sequence, sequences_of
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import AxisSizes, size_at

V = sb.Verdict
EXPANDED = 1500
"""So many expansions of a question are looked at."""
CASES = 60
"""Of questions with more cases than these, no more are looked at."""

_dims = st.lists(st.sampled_from(["N", "M", "N", "1", "2", "3", "0"]), max_size=2)
_sequences = st.sampled_from([[], ["*a"], ["*a"], ["*b"], ["..."]])
_shapes = st.builds(lambda sequence, dims: [*sequence, *dims], _sequences, _dims)
_questions = st.lists(_shapes, min_size=2, max_size=3)
_rules = st.sampled_from(
    [("numpy", {}), ("numpy", {}), ("unidirectional", {}), ("none", {}), ("pdpd", {}), ("paddle", {"min_rank": 1})]
)
_assumptions = st.sampled_from(
    [(), (), "rank(a) >= 1", "rank(a) == 2", "a[-1] == 2", "a[-2] >= 2", "N >= 2", "rank(b) <= 1", "rank(a) <= 1"]
)
_least = st.sampled_from([0, 0, 1, 2])


def asked(shapes, rule, assumption, min_size):
    """Return the answer to a question of unknown rank, with what is assumed; None where there is no such question."""
    name, attributes = rule
    shapes = shapes if name in ("numpy", "paddle") else shapes[:2]
    texts = [f"({', '.join(s)},)" if s else "()" for s in shapes]
    if all("*" not in t and "." not in t for t in texts):
        return None
    words = {w for s in shapes for w in s}
    speaks = {"*a": "(a" in assumption or "a[" in assumption, "*b": "(b" in assumption, "N": "N" in assumption}
    assume = assumption if all(w in words for w, is_said in speaks.items() if is_said) else ()
    try:
        return sb.broadcast(*texts, rule=name, assume=assume, min_size=min_size, **attributes), shapes, assume
    except sb.RuleArgumentError:
        return None


def outcomes(shapes, rule, assume, min_size):
    """Yield sizes that meet what is assumed, the shapes there, and the output, None where there is none."""
    for sizes, concrete in islice(expansions(shapes), EXPANDED):
        axes = [size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))]
        if all(size >= min_size for size in axes) and holds(assume, sizes):
            yield sizes, concrete, RULES[rule[0]](*concrete, **rule[1])


def at(sizes, result):
    """Return sizes by symbol, as `size_at` takes them."""
    axes = {AxisSequence(s.name, s.number): sizes[s.name] for s in plain_answer(result).scope.sequences}
    plain = {s: sizes[name] for s, name in plain_answer(result).scope.names.items() if name in sizes}
    return AxisSizes(plain, axes)


def spread(dims, values, found):
    """Return what dimensions are at some sizes, with how many axes each stands for."""
    sizes = [[size_at(a, found) for a in (found.axes_of(d) if is_sequence(d) else (d,))] for d in dims]
    return [n for axes in sizes for n in axes], [(v, axes) for v, axes in zip(values, sizes, strict=True)]


def strides_of(shape):
    return [prod(shape[n + 1 :]) for n in range(len(shape))]


def check_layout(layout, found, operands, places, output):
    """Check what a case says of a broadcast at sizes that lie in it."""
    made, _ = spread(layout.shape.dims, layout.shape.dims, found)
    assert tuple(made) == output
    for n, operand in enumerate(operands):
        assert tuple(spread(layout.operands[n].dims, layout.operands[n].dims, found)[0]) == tuple(operand)
        own = dict(zip(places[n], zip(operand, strides_of(operand), strict=True), strict=True))
        axis = 0
        told = zip(layout.strides[n].dims, layout.stretched[n], strict=True)
        for (stride, is_stretched), axes in spread(layout.shape.dims, told, found)[1]:
            for inner in range(len(axes)):
                size, real = own.get(axis, (1, 0))
                assert size == 1 if is_stretched else size == output[axis]
                expected = size_at(stride, found) * prod(axes[inner + 1 :])
                assert expected == (0 if is_stretched else real), (stride, axes)
                axis += 1


@given(_questions, _rules, _assumptions, _least)
@example([["*a", "N"], ["2", "3"]], ("numpy", {}), (), 0)
@example([["*a", "N"], ["*b", "M"]], ("numpy", {}), "rank(b) <= 1", 0)
@example([["*a", "N"], ["1", "1", "1"]], ("numpy", {}), (), 2)
@example([["*a"], ["*a", "3"]], ("numpy", {}), (), 0)
@example([["*a"], ["*a", "N"]], ("none", {}), (), 0)
def test_each_valid_size_lies_in_one_case_that_says_what_happens_there(shapes, rule, assumption, min_size):
    found = asked(shapes, rule, assumption, min_size)
    if found is None:
        return
    result, shapes, assume = found
    try:
        cases = result.cases(limit=CASES)
    except sb.UnknownRankError:
        event("refused")
        assert (
            any(d in s for s in shapes for d in ("*b", "..."))
            or "meet others of the same sequence" in result.reason
            or len([s for s in shapes if "*a" in s]) > 1
        )
        return
    event("complete" if cases.is_complete else "limited")
    if not cases.is_complete:
        return
    names = [n for n in range(len(shapes)) if result.rule.operand_name(n) != "target"]
    for sizes, concrete, output in outcomes(shapes, rule, assume, min_size):
        inside = [case for case in cases if case.condition.guard()(sizes)]
        assert len(inside) == (output is not None), (shapes, sizes, inside)
        assert cases.find(sizes) is (inside[0] if inside else None)
        for case in inside:
            places = result.rule.places([len(s) for s in concrete]).of
            (layout,) = case.layouts
            check_layout(layout, at(sizes, result), [concrete[n] for n in names], [places[n] for n in names], output)
    for case in cases:
        assert case.condition.guard()(case.witness())
        assert result.evaluate(case.witness()) is not None


@given(st.lists(_shapes, min_size=3, max_size=3), _least, st.booleans())
@example([["*a", "N"], ["2", "3"], ["*a", "1"]], 0, False)
@example([["*a", "N"], ["2", "M"], ["N", "1"]], 2, True)
def test_each_valid_size_of_a_program_lies_in_one_case(shapes, min_size, by_matmul):
    texts = [f"({', '.join(s)},)" if s else "()" for s in shapes]
    env = sb.ShapeEnv(min_size=min_size)
    try:
        made = env.broadcast(texts[0], texts[1], origin="first")
        made = env.broadcast(made, texts[2], origin="second")
        if by_matmul:
            env.matmul("*a, N, 2", "2, M", origin="product")
    except sb.IncompatibleProgramError:
        return
    shapes = [*shapes, ["*a", "N", "M"]] if by_matmul else shapes
    if not any("*" in d or "." in d for s in shapes for d in s):
        return
    try:
        cases = env.cases(limit=CASES)
    except sb.UnknownRankError:
        event("refused")
        return
    event("complete" if cases.is_complete else "limited")
    if not cases.is_complete:
        return
    named = {s.name: s for s in sequences_of(plain_answer(env).shown)}
    for sizes, concrete in islice(expansions(shapes), EXPANDED):
        axes = [size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))]
        if any(size < min_size for size in axes):
            continue
        first = RULES["numpy"](*concrete[:2])
        second = None if first is None else RULES["numpy"](first, concrete[2])
        inside = [case for case in cases if case.condition.guard()(sizes)]
        assert len(inside) == (second is not None), (shapes, sizes, inside)
        plain = {s: sizes[name] for s, name in plain_answer(env).shown.items() if name in sizes}
        found = AxisSizes(plain, {s: sizes[name] for name, s in named.items()})
        expected = {"first": first, "second": second, "product": concrete[-1]}
        for case in inside:
            for name, shape in case.shapes.items():
                assert tuple(spread(shape.dims, shape.dims, found)[0]) == expected[name], (shapes, sizes)
    for case in cases:
        assert case.condition.guard()(case.witness())
        hinted = env.cases([case.witness()], limit=1)
        assert str(hinted[0].condition) == str(case.condition)


def cells_of(shape):
    """Return what an operand has on its known axes, from the end, and the sequence before these."""
    known = [w for w in shape if not w.startswith(("*", "."))]
    return known[::-1], next((w for w in shape if w.startswith(("*", "."))), "")


def stretched_pairs(shapes):
    """Yield the axes, from the end, on which two operands have sizes with different names, one of a sequence's axes."""
    (first, one), (second, other) = map(cells_of, shapes)
    known = max(len(first), len(second))
    for back in range(1, known + 1 + ((bool(one) and bool(other) and one != other) or "..." in (one, other))):
        names = [
            own[back - 1] if back <= len(own) else f"{n if name == '...' else name}[{back - len(own)}]" if name else "1"
            for n, (own, name) in enumerate(((first, one), (second, other)))
        ]
        if names[0] != names[1] and not any(n.isdecimal() for n in names):
            yield back, back > known


@given(st.lists(_shapes, min_size=2, max_size=2), _assumptions, _least)
@example([["*a", "N"], ["*b", "M"]], (), 0)
@example([["*a", "N"], ["M", "3"]], (), 2)
@example([["N"], ["*a", "N", "1"]], (), 0)
def test_surprises_are_those_that_some_sizes_of_some_rank_make(shapes, assumption, min_size):
    found = asked(shapes, ("numpy", {}), assumption, min_size)
    if found is None:
        return
    result, shapes, assume = found
    try:
        surprises = result.surprises
    except sb.UnknownRankError:
        assert "meet others of the same sequence" in result.reason
        return
    event(f"{len(surprises)} surprises")
    for surprise in surprises:
        output = result.evaluate(surprise.sizes)
        operands = [sb.broadcast(o).evaluate(_of(surprise.sizes, o)) for o in result.operands]
        if surprise.kind == "stretch":
            one, other = (operands[n] for n in surprise.operands)
            assert one[surprise.axis] == 1 != other[surprise.axis] == output[surprise.axis], surprise
    told = {(s.operands[0], s.axis) for s in surprises if s.kind == "stretch"}
    pairs = list(stretched_pairs(shapes))
    last = max((back for back, is_first in pairs if is_first), default=99)
    told = {(n, max(axis, -last)) for n, axis in told}
    assert {back for _, back in told} <= {-back for back, _ in pairs}
    for _, concrete, output in outcomes(shapes, ("numpy", {}), assume, min_size):
        for back, is_first in pairs if output is not None else ():
            for place in range(back, len(output) + 1) if is_first else (back,):
                for n in range(2):
                    one, other = concrete[n], concrete[1 - n]
                    if min(len(one), len(other)) >= place and one[-place] == 1 != other[-place]:
                        assert (n, -back) in told, (shapes, concrete, surprises)


def _of(sizes, shape):
    return {name: size for name, size in sizes.items() if name in (sb.broadcast(shape).witness() or {})}


@given(st.lists(_shapes, min_size=2, max_size=2), _least)
@example([["*a", "N", "M"], ["*a", "M", "N"]], 0)
@example([["*a", "3", "N"], ["*a", "N"]], 0)
def test_repairs_are_right_at_all_ranks(shapes, min_size):
    found = asked(shapes, ("numpy", {}), (), min_size)
    if found is None:
        return
    result, shapes, _ = found
    repairs = result.repairs()
    event(f"{len(repairs)} repairs")
    for repair in repairs:
        if repair.kind in ("assume", "rule"):
            assert not repair.code or "*" not in str(shapes) or "[" not in repair.text
            continue
        position = next(n for n in range(2) if repair.operands[n] != result.operands[n])
        edited = sb.broadcast(*repair.operands, min_size=min_size)
        assert edited.verdict is repair.verdict
        for sizes, concrete, _ in islice(outcomes(shapes, ("numpy", {}), (), min_size), 200):
            wanted = sb.broadcast(repair.operands[position]).evaluate(_of(sizes, repair.operands[position]))
            if repair.kind == "slice" and concrete[position][repair_axis(repair)] < wanted[repair_axis(repair)]:
                continue
            array = np.zeros(concrete[position])
            code = repair.code["numpy"]
            assert eval(code, {"np": np, "ab"[position]: array}).shape == wanted, (shapes, repair)
            outputs = [np.zeros(s) for s in concrete]
            outputs[position] = np.zeros(wanted)
            if repair.verdict is V.ALWAYS:
                assert np.broadcast(*outputs).shape is not None


def repair_axis(repair):
    return int(repair.text.split()[2])


@given(st.lists(_shapes, min_size=3, max_size=3), _least)
@example([["*a", "N"], ["2", "3"], ["*a", "1"]], 0)
def test_operands_of_programs_are_stretched_where_they_are_so_at_all_ranks(shapes, min_size):
    texts = [f"({', '.join(s)},)" if s else "()" for s in shapes]
    env = sb.ShapeEnv(min_size=min_size)
    try:
        made = env.broadcast(texts[0], texts[1], origin="first")
        env.broadcast(made, texts[2], origin="second")
        found = {(n, -1): env.expands("second", n, -1) for n in range(2)}
    except (sb.UnknownRankError, sb.IncompatibleProgramError, sb.ShapeTypeError) as error:
        event(type(error).__name__)
        return
    if not sequences_of(plain_answer(env).shown):
        return
    for (operand, axis), expansion in found.items():
        event(expansion.verdict.value)
        seen = set()
        for sizes, concrete in islice(expansions(shapes), EXPANDED):
            if any(size < min_size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))):
                continue
            first = RULES["numpy"](*concrete[:2])
            output = None if first is None else RULES["numpy"](first, concrete[2])
            if output is None:
                continue
            own = (first, concrete[2])[operand]
            is_stretched = (own[axis] if own else 1) != output[axis]
            seen.add(is_stretched)
            assert expansion.condition.guard()(sizes) is is_stretched, (shapes, sizes)
        assert expansion.verdict is not V.ALWAYS or seen <= {True}
        assert expansion.verdict is not V.NEVER or seen <= {False}


_outs = st.sampled_from([["2", "3"], ["*a", "3"], ["*c"], ["*b", "2"], ["N"], ["2"], [], ["*a"], ["4", "*a"]])


@given(st.lists(_shapes, min_size=1, max_size=2), _outs, _rules, _least)
@example([["*a"], ["*b"]], ["2", "3"], ("none", {}), 0)
@example([["*a", "3"], ["*b"]], ["*a", "3"], ("numpy", {}), 2)
@example([["*a"], ["*b"]], ["*c"], ("numpy", {}), 2)
def test_a_wanted_output_is_given_at_the_sizes_of_the_condition(shapes, out, rule, min_size):
    name, attributes = rule
    if len(shapes) < 2 and name not in ("numpy", "paddle"):
        return
    texts = [f"({', '.join(s)},)" if s else "()" for s in (*shapes, out)]
    if all("*" not in t and "." not in t for t in texts):
        return
    try:
        found = sb.solve(*texts[:-1], out=texts[-1], rule=name, min_size=min_size, **attributes)
    except sb.RuleArgumentError:
        event("refused")
        return
    event(found.verdict.value)
    guard = None if found.verdict is V.UNKNOWN else found.condition.guard()
    valid = failed = 0
    for sizes, concrete in islice(expansions([*shapes, out]), EXPANDED):
        if any(size < min_size for s in sizes.values() for size in (s if isinstance(s, tuple) else (s,))):
            continue
        is_given = RULES[name](*concrete[:-1], **attributes) == concrete[-1]
        valid += is_given
        failed += not is_given
        assert guard is None or guard(sizes) == is_given, (texts, sizes)
    assert found.verdict is not V.ALWAYS or not failed
    assert found.verdict is not V.NEVER or not valid
    if found.witness() is not None:
        *operands, wanted = (sb.broadcast(t).evaluate(_of(found.witness(), t)) for t in (*found.operands, found.out))
        assert RULES[name](*operands, **attributes) == wanted, (texts, found.witness())
