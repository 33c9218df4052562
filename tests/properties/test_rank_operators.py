"""Operators on shapes of unknown rank, against NumPy at every rank: up to 3 axes, of every size from 0 to 4."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import event, example, given
from hypothesis import strategies as st
from rank_expansions import expansions

import symbcast as sb
from symbcast.core.algebra.symbols import AxisSequence, is_sequence, symbol
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import AxisSizes, size_at
from symbcast.operators.operator import find_operator

V = sb.Verdict
STRIDE = 7
"""Of so many expansions one is looked at."""
WRONG = (ValueError, IndexError, AssertionError, TypeError)
"""What NumPy raises for arrays that a function does not take."""


class Question(NamedTuple):
    """An operation on shapes, its attributes, and how it is written for a ShapeEnv."""

    name: str
    shapes: list[list[str]]
    attributes: dict[str, object]


_dims = st.sampled_from(["N", "M", "1", "2", "3", "K"])
_known = st.lists(_dims, max_size=2)
_axis = st.integers(-3, 2)
_axes = st.lists(_axis, min_size=1, max_size=2, unique=True)


def opened(sequence):
    return st.builds(
        lambda before, behind: [*before, sequence, *behind],
        st.sampled_from([[], [], [], [], ["N"], ["2"]]),
        st.lists(_dims, max_size=2),
    )


_any = st.one_of(opened("*a"), opened("*a"), opened("*a"), _known)
_other = st.one_of(opened("*b"), opened("*a"), _known)
_orders = st.one_of(
    st.integers(1, 4).flatmap(lambda k: st.permutations(range(k))),
    st.integers(1, 3).flatmap(lambda k: st.permutations(range(-k, 0))).map(lambda order: [..., *order]),
    st.lists(st.sampled_from([-1, -2, 0, 1]), max_size=2, unique=True).map(lambda order: [*order, ...]),
)
_equations = st.sampled_from(
    [
        "...ij,...jk->...ik",
        "...i,...i->...",
        "...ij,jk->...ik",
        "i...,i...->i...",
        "ij,jk->ik",
        "...i,...i",
        "...i,j->ij",
    ]
)


def ask(name, attributes, *shapes):
    return st.builds(lambda found, *given: Question(name, list(given), found), attributes, *shapes)


def attributes(**kinds):
    return st.fixed_dictionaries(kinds)


_pieces = st.sampled_from([None, 0, 1, 2, -1, -2])
_questions = st.one_of(
    ask("matmul", attributes(), _any, _other),
    ask("einsum", attributes(equation=_equations), _any, _other),
    ask("reduce", attributes(axes=st.one_of(st.none(), _axes), keepdims=st.booleans()), _any),
    ask("flatten", attributes(start=_axis, end=_axis), _any),
    ask("transpose", attributes(order=_orders), _any),
    ask("squeeze", attributes(axes=_axes), _any),
    ask("unsqueeze", attributes(axes=_axes), _any),
    ask("expand", attributes(), _any, _other),
    ask("tile", attributes(), _any, _known),
    ask("concat", attributes(axis=_axis), _any, _other),
    ask("stack", attributes(axis=_axis), _any, _other),
    ask("split", attributes(axis=_axis, count=st.just(2)), _any),
    ask("slice", attributes(starts=st.tuples(_pieces), stops=st.tuples(_pieces), axes=st.tuples(_axis)), _any),
    ask("gather", attributes(axis=_axis), _any, st.one_of(_known, opened("*b"))),
    ask(
        "pad",
        attributes(widths=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=3)),
        _any,
    ),
    ask("pool", attributes(strides=st.integers(1, 2)), _any, st.lists(st.sampled_from(["1", "2"]), max_size=2)),
    ask("conv", attributes(), _any, st.one_of(opened("*b"), st.just(["M", "K", "2"]))),
    ask("conv_transpose", attributes(), _any, st.just(["M", "K", "2", "1"])),
    ask("reshape", attributes(), _any, opened("*a")),
    ask("reshape", attributes(inferred=st.just([-1])), _any, opened("*a").map(lambda shape: [*shape, "1"])),
)


def transposed(x, order):
    named = [axis % max(x.ndim, 1) for axis in order if axis is not ...]
    assert all(-x.ndim <= axis < x.ndim for axis in order if axis is not ...)
    others = [n for n in range(x.ndim) if n not in named]
    return x.transpose([n for axis in order for n in (others if axis is ... else [axis])])


def flattened(x, start, end):
    x = x.reshape(1) if x.ndim == 0 else x
    assert -x.ndim <= start < x.ndim and -x.ndim <= end < x.ndim
    start, end = start % x.ndim, end % x.ndim
    assert start <= end
    return x.reshape((*x.shape[:start], int(np.prod(x.shape[start : end + 1])), *x.shape[end + 1 :]))


def sliced(x, starts, stops, axes):
    assert -x.ndim <= axes[0] < x.ndim
    places = [slice(None)] * x.ndim
    places[axes[0]] = slice(starts[0], stops[0])
    return x[tuple(places)]


def padded(x, widths):
    assert len(widths) == x.ndim
    return np.pad(x, widths)


def reshaped(x, y, inferred=()):
    return x.reshape([-1 if inferred and n == y.ndim - 1 else size for n, size in enumerate(y.shape)])


NUMPY = {
    "broadcast": lambda *arrays: np.empty(np.broadcast_shapes(*(a.shape for a in arrays))),
    "matmul": np.matmul,
    "einsum": lambda *arrays, equation: np.einsum(equation, *arrays),
    "reduce": lambda x, axes, keepdims: x.sum(axis=None if axes is None else tuple(axes), keepdims=keepdims),
    "flatten": flattened,
    "transpose": transposed,
    "squeeze": lambda x, axes: x.squeeze(tuple(axes)),
    "unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
    "expand": lambda x, y: np.broadcast_to(x, y.shape),
    "tile": lambda x, y: np.tile(x, y.shape),
    "concat": lambda x, y, axis: np.concatenate([x, y], axis),
    "stack": lambda x, y, axis: np.stack([x, y], axis),
    "split": lambda x, axis, count: np.split(x, count, axis)[0],
    "slice": sliced,
    "gather": lambda x, y, axis: np.take(x, np.zeros(y.shape, int), axis),
    "pad": padded,
    "reshape": reshaped,
}


def numpy_shape(question, shapes):
    """Return the shape that NumPy gives, None where it refuses; of windows, what the operator says of integers."""
    run = NUMPY.get(question.name)
    try:
        if run is None:
            return find_operator(question.name, question.attributes).concrete(shapes)
        return run(*(np.zeros(s, np.int8) for s in shapes), **question.attributes).shape
    except (*WRONG, sb.OperatorError):
        return None


def at(shape, axes, sizes):
    found = []
    for dim in shape.dims:
        found += [size_at(d, axes) for d in axes.axes_of(dim)] if is_sequence(dim) else [size_at(dim, axes)]
    return tuple(found)


@given(_questions)
@example(Question("transpose", [["*a", "3"]], {"order": [1, 0]}))
@example(Question("transpose", [["*a", "3"]], {"order": [..., -1, -2]}))
@example(Question("matmul", [["*a", "K"], ["K", "M"]], {}))
@example(Question("flatten", [["*a"]], {"start": -1, "end": -1}))
@example(Question("flatten", [["*a"]], {"start": -2, "end": -1}))
@example(Question("einsum", [["*a", "K"], ["2"]], {"equation": "...i,j->ij"}))
@example(Question("unsqueeze", [["*a"]], {"axes": [0, -2]}))
@example(Question("reshape", [["*a", "N", "2"], ["*a", "N", "1"]], {"inferred": [-1]}))
def test_operators_of_unknown_rank_are_answered_as_all_their_expansions_are(question):
    if not any("*" in d for s in question.shapes for d in s):
        return
    texts = [f"({', '.join(s)},)" if s else "()" for s in question.shapes]
    env = sb.ShapeEnv(on_conflict="record")
    try:
        operator = find_operator(question.name, question.attributes)
        output = plain_answer(env).apply(question.name, operator, texts, "x")
    except sb.OperatorError as error:
        event(f"{question.name}: refused")
        assert str(error)
        return
    verdict = env.verdict
    event(f"{question.name}: {verdict.value}")
    assert verdict is not V.UNKNOWN
    guard = env.guard() if verdict is not V.NEVER else None
    valid = failed = 0
    for number, (sizes, concrete) in enumerate(expansions(question.shapes)):
        if number % STRIDE:
            continue
        wanted = numpy_shape(question, concrete)
        valid += wanted is not None
        failed += wanted is None
        told = {name: size for name, size in sizes.items() if name in {n.lstrip("*") for n in env.names.values()}}
        assert guard is None or guard(told) == (wanted is not None), (question, sizes, wanted)
        if wanted is not None:
            axes = {AxisSequence(name): size for name, size in sizes.items() if isinstance(size, tuple)}
            values = AxisSizes({symbol(n): size for n, size in sizes.items() if not isinstance(size, tuple)}, axes)
            assert at(output, values, sizes) == wanted, (question, sizes, output)
    assert verdict is not V.ALWAYS or not failed
    assert verdict is not V.NEVER or not valid
    if verdict is V.SOMETIMES:
        assert guard(env.witness()) and not guard(env.counterexample())


_THERE = st.just([])  # the output of the operation before
_next = st.one_of(
    ask("reduce", attributes(axes=_axes, keepdims=st.booleans()), _THERE),
    ask("transpose", attributes(order=_orders), _THERE),
    ask("squeeze", attributes(axes=_axes), _THERE),
    ask("unsqueeze", attributes(axes=_axes), _THERE),
    ask("flatten", attributes(start=_axis, end=_axis), _THERE),
    ask("matmul", attributes(), _THERE, _other),
    ask("expand", attributes(), _THERE, _other),
    ask("concat", attributes(axis=_axis), _THERE, _other),
    ask("stack", attributes(axis=_axis), _THERE, _other),
    ask("tile", attributes(), _THERE, _known),
    ask("split", attributes(axis=_axis, count=st.just(2)), _THERE),
    ask("slice", attributes(starts=st.tuples(_pieces), stops=st.tuples(_pieces), axes=st.tuples(_axis)), _THERE),
)


def written(shape):
    return f"({', '.join(shape)},)" if shape else "()"


@given(
    st.lists(st.one_of(opened("*a"), opened("*b"), _known), min_size=2, max_size=2),
    st.lists(_next, min_size=1, max_size=2),
)
@example([["*a", "N"], ["*b"]], [Question("transpose", [[]], {"order": [1, 0]})])
@example([["*a", "N"], ["*b", "M"]], [Question("reduce", [[]], {"axes": [-2], "keepdims": False})])
def test_operators_go_on_with_what_broadcasts_made(shapes, questions):
    if not any("*" in d for s in shapes for d in s):
        return
    env = sb.ShapeEnv(on_conflict="record")
    taken, runs = list(shapes), []
    try:
        output = env.broadcast(*map(written, shapes))
        for question in questions:
            operator = find_operator(question.name, question.attributes)
            others = question.shapes[1:]
            output = plain_answer(env).apply(question.name, operator, (output, *map(written, others)), None)
            runs.append((question, len(taken), len(others)))
            taken += others
    except (sb.OperatorError, sb.RuleArgumentError):
        event("refused")
        return
    verdict = env.verdict
    event(f"{' '.join(q.name for q in questions)}: {verdict.value}")
    guard = env.guard() if verdict in (V.ALWAYS, V.SOMETIMES) else None
    names = {n.lstrip("*") for n in env.names.values()}
    valid = failed = 0
    for number, (sizes, concrete) in enumerate(expansions(taken)):
        if number % STRIDE:
            continue
        wanted = numpy_shape(Question("broadcast", [], {}), concrete[: len(shapes)])
        for question, first, count in runs:
            wanted = None if wanted is None else numpy_shape(question, [wanted, *concrete[first : first + count]])
        valid += wanted is not None
        failed += wanted is None
        told = {name: size for name, size in sizes.items() if name in names}
        assert guard is None or guard(told) == (wanted is not None), (shapes, questions, sizes, wanted)
        if wanted is not None and guard is not None:
            axes = {AxisSequence(name): size for name, size in sizes.items() if isinstance(size, tuple)}
            values = AxisSizes({symbol(n): size for n, size in sizes.items() if not isinstance(size, tuple)}, axes)
            assert at(output, values, sizes) == wanted, (shapes, questions, sizes, output)
    assert verdict is not V.ALWAYS or not failed
    assert verdict is not V.NEVER or not valid
