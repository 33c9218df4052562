"""Layers held against NumPy and torch at all small sizes: they work where the condition holds, and give that shape."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import symbcast as sb


def array(shape):
    return np.zeros(shape, dtype=np.int64)


def attention(query, key, value, *masks):
    scores = query @ np.swapaxes(key, -1, -2)
    for mask in masks:
        assert (scores + mask).shape == scores.shape
    return scores @ value


def grouped(query, key, value):
    heads, groups = query.shape[-3], {key.shape[-3], value.shape[-3]}
    assert all(heads % g == 0 if g else heads == 0 for g in groups)
    spread = [np.repeat(x, heads // x.shape[-3] if x.shape[-3] else 0, axis=-3) for x in (key, value)]
    assert all(x.shape[-3] == heads for x in spread)
    found = [np.broadcast_shapes(*(x.shape[:-3] for x in (query, *spread)))]
    return np.broadcast_to(attention(query, *spread), (*found[0], heads, query.shape[-2], value.shape[-1]))


def layer_norm(x, *parameters):
    for parameter in parameters:
        assert parameter.shape == x.shape[-2:]
    return x


def group_norm(x, *parameters):
    assert x.shape[1] % 2 == 0
    return batch_norm(x, *parameters)


def batch_norm(x, *parameters):
    for parameter in parameters:
        assert parameter.shape == x.shape[1:2]
    return x


def top(x, count):
    assert len(count) <= x.shape[-1]
    return x[..., : len(count)]


def at_elements(x, indices):
    grid = np.ogrid[tuple(slice(n) for n in indices.shape)]
    return x[(grid[0], indices)] if x.size or not indices.size else x[0, 0]


def replaced(x, indices, updates):
    assert updates.shape == x[:, indices].shape
    return x


CASES = {
    "attention": (lambda e, *s: e.attention(*s), attention, ["N, L, E", "N, S, K", "N, M, V"]),
    "attention with a mask": (lambda e, *s: e.attention(*s), attention, ["L, E", "S, E", "S, 2", "M, K"]),
    "attention of stacks": (lambda e, *s: e.attention(*s), attention, ["N, L, 2", "M, L, 2", "K, L, V"]),
    "grouped attention": (
        lambda e, *s: e.attention(*s, grouped=True),
        grouped,
        ["N, H, 1, 2", "M, K, 1, 2", "N, L, 1, 2"],
    ),
    "layer_norm": (lambda e, *s: e.layer_norm(*s, axis=-2), layer_norm, ["N, M, K", "L, H", "L, K"]),
    "group_norm": (lambda e, x, *s: e.group_norm(x, 2, *s), group_norm, ["N, M, K", "L", "H"]),
    "batch_norm": (lambda e, *s: e.batch_norm(*s), batch_norm, ["N, M, K", "L", "H", "2", "M"]),
    "top_k": (lambda e, x, k: e.top_k(x, k[0]), top, ["N, M", "K"]),
    "one_hot": (lambda e, x, k: e.one_hot(x, k[0]), lambda x, k: array((*x.shape, len(k))), ["N, M", "K"]),
    "gather_nd": (lambda e, *s: e.gather_nd(*s), lambda x, i: x[i[..., 0], i[..., 1]], ["N, M, 3", "K, L, 2"]),
    "scatter": (lambda e, *s: e.scatter(*s, axis=1), replaced, ["N, M", "K", "L, H"]),
}
LETTERS = "NMKLHSEV"
LEAST = {"scatter": 1, "grouped attention": 1}
"""Cases in which what is looked at where something is empty is a matter of the implementation."""


@pytest.mark.parametrize("case", CASES)
def test_a_layer_works_where_its_condition_holds(case):
    ask, run, texts = CASES[case]
    env = sb.ShapeEnv()
    shapes = [sb.shape(t) for t in texts]
    output = ask(env, *shapes)
    guard, names = env.guard(), [n for n in LETTERS if any(n in t for t in texts)]
    tried = set()
    for sizes in product(range(LEAST.get(case, 0), 3), repeat=len(names)):
        binding = dict(zip(names, sizes, strict=True))
        try:
            found = run(*(array(at(s, binding)) for s in shapes)).shape
        except (ValueError, IndexError, AssertionError):
            found = None
        works = guard(**{n: s for n, s in binding.items() if n in env.names.values()})
        assert works == (found is not None), (binding, found, env.condition)
        if works:
            assert at(output, binding) == found, (binding, output)
        tried.add(works)
    assert True in tried and (tried == {True, False} or env.verdict is sb.Verdict.ALWAYS)


def at(shape, binding):
    return sb.broadcast(shape).evaluate({s: binding[str(s)] for s in shape.symbols})


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("is_double", [False, True])
def test_recurrent_layers_have_the_shapes_that_torch_gives_them(cell, is_double):
    torch = pytest.importorskip("torch")
    given = {"bidirectional": is_double, "batch_first": is_double}
    env = sb.ShapeEnv()
    data = "N, T, 2" if is_double else "T, N, 2"
    operands = {"hidden": "D, M, K", **({"cell": "D, N, 3"} if cell == "lstm" else {}), "weights": "R, 2"}
    found = getattr(env, cell)(data, 3, operands=operands, layers=2, **given)
    guard = env.guard()
    module = getattr(torch.nn, cell.upper())(2, 3, num_layers=2, **given)
    rows, tried = module.weight_ih_l0.shape[0], set()
    for n, t, m, k, d in product((1, 2), (1, 2), (1, 2), (3, 4), (2, 4)):
        states = [torch.zeros(d, m, k), *([torch.zeros(d, n, 3)] if cell == "lstm" else [])]
        try:
            x = torch.zeros((n, t, 2) if is_double else (t, n, 2))
            outputs = module(x, tuple(states) if cell == "lstm" else states[0])
        except RuntimeError:
            outputs = None
        binding = {"N": n, "T": t, "M": m, "K": k, "D": d, "R": rows}
        works = guard(**{name: s for name, s in binding.items() if name in env.names.values()})
        assert works == (outputs is not None), (binding, env.condition)
        if outputs is not None:
            last = outputs[1] if cell == "lstm" else (outputs[1],)
            assert [at(s, binding) for s in found] == [tuple(o.shape) for o in (outputs[0], *last)]
        tried.add(works)
    assert tried == {True, False}


def test_resized_axes_are_scaled_exactly():
    env = sb.ShapeEnv()
    shape = env.resize("N, C, H, W", scales=(0.7, Fraction(3, 2)), axes=(-2, -1))
    for size in range(100):
        assert at(shape, {"N": 1, "C": 1, "H": size, "W": size})[2:] == (7 * size // 10, 3 * size // 2)
    assert env.resize("N, M", "K, 3") == sb.shape("K, 3")


def test_slices_at_indices_are_replaced_by_as_many_updates():
    env = sb.ShapeEnv(min_size=1)
    assert env.scatter_nd("N, M, d", "K, 2", "L, 8") == sb.shape("N, M, 8")
    guard = env.guard()
    for sizes in product((1, 2, 8), repeat=3):
        d, k, updates = sizes
        assert guard(N=3, M=1, d=d, K=k, L=updates) == (d == 8 and k == updates)


@pytest.mark.parametrize("operation", ["gather", "scatter"])
def test_indices_of_elements_do_not_go_beyond_the_data(operation):
    torch = pytest.importorskip("torch")
    env = sb.ShapeEnv()
    found = {
        "gather": lambda: env.gather_elements("N, M", "K, L", axis=1),
        "scatter": lambda: env.scatter_elements("N, M", "K, L", "K, L", axis=1),
    }[operation]()
    guard = env.guard()
    for n, m, k, size in product((1, 2, 3), repeat=4):
        x, indices = torch.zeros(n, m), torch.zeros(k, size, dtype=torch.int64)
        try:
            shape = tuple((x.gather(1, indices) if operation == "gather" else x.scatter(1, indices, 1.0)).shape)
        except RuntimeError:
            shape = None
        binding = {"N": n, "M": m, "K": k, "L": size}
        assert guard(**binding) == (shape is not None), binding
        assert shape is None or at(found, binding) == shape


WRONG = [
    (lambda e: e.attention("N", "N", "N"), "at least 2 axes"),
    (lambda e: e.attention("2, 3", "4, 3", "4, 3", grouped=True), "at least 3 axes"),
    (lambda e: e.layer_norm("N, M", "N, M"), "scale must have the shape of the normalised axes"),
    (lambda e: e.layer_norm("N, M", axis=2), "axis 2 is out of range for 2 axes"),
    (lambda e: e.group_norm("N", 2), "a batch and channels"),
    (lambda e: e.group_norm("N, M", 0), "groups=0 must be at least 1"),
    (lambda e: e.batch_norm("N, M", "M", "M", "M", "M", "M"), "takes at most 5 shapes"),
    (lambda e: e.resize("N, M"), "either sizes or scales must be given"),
    (lambda e: e.resize("N, M", "N, M", scales=(1, 2)), "either sizes or scales must be given"),
    (lambda e: e.resize("N, M", scales=(1,)), "there must be 2 scales, not 1"),
    (lambda e: e.resize("N", scales=(0,)), "must be above 0"),
    (lambda e: e.resize("N", scales=(float("nan"),)), "is not a number"),
    (lambda e: e.resize("N, M", "N, M", axes=(0, 0)), "no axis may be named twice"),
    (lambda e: e.gather_nd("N, M", "K, L"), "the last size of the indices must be a number"),
    (lambda e: e.gather_nd("N, M", "K, 3"), "too long for data of rank 2"),
    (lambda e: e.scatter("N, M", "K", "K"), "updates must have rank 2"),
    (lambda e: e.gather_elements("N, M", "K"), "must have the same rank"),
    (lambda e: e.lstm("N, M", 2), "data must have three axes"),
    (lambda e: e.gru("T, N, 3", 2, operands={"cell": "1, N, 2"}), "takes operands named"),
    (lambda e: e.lstm("T, N, 3", 2, operands={"hidden": "N, 2"}), "hidden must have rank 3"),
    (lambda e: e.rnn("T, N, 3", 2, layers=0), "layers=0 must be at least 1"),
    (lambda e: e.top_k("", 1), "axis -1 is out of range for 0 axes"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_input_is_refused_with_a_reason_and_leaves_nothing(number):
    ask, message = WRONG[number]
    env = sb.ShapeEnv()
    with pytest.raises(sb.SymbcastError) as refused:
        ask(env)
    assert message in str(refused.value)
    assert env.operations == ()


def test_layers_of_unknown_rank():
    env = sb.ShapeEnv()
    assert env.layer_norm("*batch, T, d", "d") == sb.shape("*batch, T, d")
    assert env.top_k("*batch, n", 3) == sb.shape("*batch, 3")
    assert env.one_hot("*batch", 7) == sb.shape("*batch, 7")
    assert env.batch_norm("N, C, *image", "C") == sb.shape("N, C, *image")
    assert env.attention("*batch, L, E", "*batch, S, E", "*batch, S, V") == sb.shape("*batch, L, V")
    assert env.resize("*batch, H, W", scales=(2, 2), axes=(-2, -1)) == sb.shape("*batch, 2*H, 2*W")


@pytest.mark.parametrize(
    "again",
    [
        lambda env: pickle.loads(pickle.dumps(env)),
        lambda env: sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict()))),
        sb.ShapeEnv.fork,
    ],
    ids=["pickled", "as JSON", "forked"],
)
def test_a_program_of_layers_read_back_is_the_same(again):
    env = sb.ShapeEnv(min_size=1)
    x = env.lstm("T, N, F", "H", operands={"weights": "1024, 80"}, bidirectional=True, origin="encoder")[0]
    x = env.attention(x, x, x, "T, T", origin="attention")
    x = env.layer_norm(x, "D", origin="norm")
    env.top_k(env.resize(x, scales=(0.5,), axes=(0,)), "k")
    env.scatter("N, 4", "K", "K, 4")
    env.gather_nd("N, 4, 5", "K, 2")
    found = again(env)
    assert [str(op) for op in found.operations] == [str(op) for op in env.operations]
    assert [op.rule for op in found.operations] == [op.rule for op in env.operations]
    assert [op.output for op in found.operations] == [op.output for op in env.operations]
    assert found.explain() == env.explain()
