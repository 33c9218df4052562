"""A label such as ``?a`` is one size in every argument of every operator; a bare ``?`` is one new size each."""

import json
import pickle
from collections.abc import Callable, Iterator

import pytest

import symbcast as sb
from symbcast.operators.operator import operator_names

Record = Callable[[sb.ShapeEnv], object]

USES: dict[str, Record] = {
    "broadcast": lambda e: e.broadcast("N, ?a", "M, 1"),
    "broadcast, expression": lambda e: e.broadcast("2*?a + 1", "M"),
    "equal, one size": lambda e: e.equal("?a", "N"),
    "equal, list": lambda e: e.equal(["?a", 3], "N, M"),
    "require": lambda e: e.require("?a >= 2"),
    "assume": lambda e: e.assume("?a >= 2"),
    "assuming": lambda e: e.assuming("?a >= 2").__enter__().broadcast("?a"),
    "matmul, left": lambda e: e.matmul("N, ?a", "M, K"),
    "matmul, right": lambda e: e.matmul("N, M", "?a, K"),
    "einsum": lambda e: e.einsum("ij,jk->ik", "N, ?a", "M, K"),
    "gufunc": lambda e: e.gufunc("(m,n),(n)->(m)", "N, ?a", "M"),
    "reduce": lambda e: e.reduce("N, ?a", 0),
    "reshape, data": lambda e: e.reshape("N, ?a", "2, M"),
    "reshape, text": lambda e: e.reshape("N, 3", "?a, -1"),
    "reshape, list": lambda e: e.reshape("N, 3", ["?a", -1]),
    "flatten": lambda e: e.flatten("N, ?a"),
    "transpose": lambda e: e.transpose("N, ?a"),
    "squeeze": lambda e: e.squeeze("?a, 1", 1),
    "unsqueeze": lambda e: e.unsqueeze("?a", 0),
    "expand, data": lambda e: e.expand("?a", "N, M"),
    "expand, target": lambda e: e.expand("1, N", "?a, 2"),
    "tile, data": lambda e: e.tile("?a, 3", "N, 2"),
    "tile, repeats": lambda e: e.tile("N, 3", "?a, 2"),
    "concat": lambda e: e.concat(["?a, 3", "N, 3"]),
    "stack": lambda e: e.stack(["?a, 3", "N, 3"]),
    "split, data": lambda e: e.split("?a, 3", 2),
    "split, text": lambda e: e.split("N, 3", "?a, 2"),
    "split, list": lambda e: e.split("N, 3", ["?a", 2]),
    "split, range": lambda e: e.split("N, 3", "?a:0..9, ?a"),
    "slice, data": lambda e: e.slice("?a", 1, None),
    "slice, start": lambda e: e.slice("N, 3", "?a", None),
    "slice, stops": lambda e: e.slice("N, 3", [None], ["?a"]),
    "gather, data": lambda e: e.gather("?a, 3", "N"),
    "gather, indices": lambda e: e.gather("N, 3", "?a"),
    "pad": lambda e: e.pad("?a", 1),
    "conv, data": lambda e: e.conv("N, ?a, H", "M, 3, 1"),
    "conv, bias": lambda e: e.conv("N, 3, H", "M, 3, 1", bias="?a"),
    "conv_transpose": lambda e: e.conv_transpose("N, ?a, H", "M, 3, 1"),
    "pool, data": lambda e: e.pool("N, C, ?a", (2,)),
    "pool, kernel": lambda e: e.pool("N, C, H", "?a"),
    "attention": lambda e: e.attention("B, L, ?a", "B, S, d", "B, S, v"),
    "attention, mask": lambda e: e.attention("B, L, d", "B, S, d", "B, S, v", "L, ?a"),
    "layer_norm": lambda e: e.layer_norm("N, d", "?a"),
    "group_norm": lambda e: e.group_norm("N, C, H", 2, "?a"),
    "batch_norm": lambda e: e.batch_norm("N, C, H", "?a"),
    "resize, list": lambda e: e.resize("N, C, H, W", ("?a", "?a"), axes=(2, 3)),
    "resize, text": lambda e: e.resize("N, C, H, W", "?a, 3", axes=(2, 3)),
    "top_k": lambda e: e.top_k("N, 3", "?a", 0),
    "one_hot": lambda e: e.one_hot("N, 3", "?a"),
    "gather_elements": lambda e: e.gather_elements("N, M", "?a, 3"),
    "gather_nd": lambda e: e.gather_nd("N, M", "?a, 2"),
    "scatter": lambda e: e.scatter("N, d", "K", "?a, d"),
    "scatter_elements": lambda e: e.scatter_elements("N, M", "K, 3", "?a, 3"),
    "scatter_nd": lambda e: e.scatter_nd("N, M", "K, 1", "K, ?a"),
    "recurrent, LSTM": lambda e: e.lstm("T, N, 80", "?a"),
    "recurrent, projection": lambda e: e.lstm("T, N, 80", "H", projection="?a"),
    "recurrent, operands": lambda e: e.lstm("T, N, 80", "H", operands={"hidden": "1, ?a, H"}),
    "recurrent, GRU": lambda e: e.gru("T, ?a, 80", "H"),
    "recurrent, RNN": lambda e: e.rnn("T, ?a, 80", "?a"),
}


def unnamed(env: sb.ShapeEnv) -> list[str]:
    return [str(s) for s in env.symbols if str(s).startswith("?")]


def test_each_operator_is_here() -> None:
    assert {name.split(",")[0] for name in USES} >= set(operator_names())


def copies(env: sb.ShapeEnv) -> Iterator[sb.ShapeEnv]:
    yield env.fork()
    yield sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict())))
    yield pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("use", USES)
def test_a_label_is_one_size(use: str) -> None:
    env = sb.ShapeEnv(on_conflict="record")
    USES["split, list"](env)
    for copy in copies(env):
        USES[use](copy)
        assert unnamed(copy) == ["?a"], use
    USES[use](env)
    assert {str(copy.condition) for copy in copies(env)} == {str(env.condition)}, use


def test_labels_in_the_parts_of_a_split() -> None:
    env = sb.ShapeEnv()
    env.broadcast("?a")
    assert str(env.split("N, 3", "?a, 2")) == "(Shape('(?a, 3)'), Shape('(2, 3)'))"
    assert str(env.condition) == "?a + 2 == N"


@pytest.mark.parametrize(
    "record",
    [
        lambda e: e.split("?, 4", 2),
        lambda e: e.split("?, 4", ("K", 2)),
        lambda e: e.split("N, 4", ("?", 2, 3)),
        lambda e: e.lstm("T, ?, 80", "H"),
        lambda e: e.gru("T, N, 80", "?"),
    ],
)
def test_outputs_of_one_operation_share_a_bare_unknown(record: Record) -> None:
    env = sb.ShapeEnv()
    record(env)
    assert unnamed(env) == ["?0"]
