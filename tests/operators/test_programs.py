"""Operators as operations of a program: recorded, told of and exchanged under their names; refused with a reason."""

from __future__ import annotations

import json
import pickle
from inspect import Parameter, signature

import pytest

import symbcast as sb
from symbcast.operators.operator import find_operator, operator_names


def block(env):
    """Add a layer of attention, with a cache and heads."""
    x = env.reshape("batch, T, D", ("batch", "T", 3, 12, -1), origin="heads")
    q, k, v = (env.squeeze(part, 2) for part in env.split(x, 3, 2, origin="qkv"))
    q, k, v = (env.transpose(s, (0, 2, 1, 3), origin="swap") for s in (q, k, v))
    k = env.concat(["batch, 12, past, 64", k], 2, origin="cache")
    scores = env.matmul(q, env.transpose(k, (0, 1, 3, 2)), origin="scores")
    masked = env.broadcast(scores, "batch, 1, T, S", origin="mask")
    return env.reduce(masked, -1, True, origin="softmax")


@pytest.fixture
def program():
    env = sb.ShapeEnv(min_size=1)
    block(env)
    return env


def test_a_program_says_what_its_operators_require(program):
    assert program.condition.equivalent("D == 2304 and (S == 1 or S == T + past)")
    assert "D == 2304" in [str(sb.Condition(c)) for c in program.condition.clauses]
    origins = {name for f in program.findings for name in f.origins}
    assert origins <= {"heads", "cache", "scores", "mask"}
    assert program.guard()(batch=2, T=3, D=2304, past=4, S=7)
    assert not program.guard()(batch=2, T=3, D=2304, past=4, S=6)
    assert not program.guard()(batch=2, T=3, D=2305, past=4, S=7)


def test_each_operation_goes_by_the_name_of_its_operator(program):
    kinds = [op.kind for op in program.operations]
    assert kinds[0] == "reshape" and kinds.count("split") == 3 and "matmul" in kinds
    assert str(program.operations[0]) == "heads: reshape of (batch, T, D), (batch, T, 3, 12, 1)"
    assert program.operations[1].origin == "qkv"
    env = sb.ShapeEnv()
    env.matmul("N, 3", "M, 4")
    assert env.operations[0].name == "matmul_0"
    assert "first needed by matmul_0: matmul of (N, 3), (M, 4)" in env.explain()
    assert "fails at     N=1, M=1: matmul_0, 3 and 1" in env.explain() or "matmul_0" in env.explain()


@pytest.mark.parametrize(
    "again",
    [
        lambda env: pickle.loads(pickle.dumps(env)),
        lambda env: sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict()))),
        sb.ShapeEnv.fork,
    ],
    ids=["pickled", "as JSON", "forked"],
)
def test_a_program_read_back_is_the_same(program, again):
    program.slice("batch, T, D", [0, "k"], [None, -1], axes=[0, 1], origin="cut")
    program.conv("batch, 3, H, W", "64, 3, 7, 7", strides=2, padding=[(3, 2), 3], origin="stem")
    program.einsum("bij,bjk", "batch, T, D", "batch, D, 3", origin="sums")
    program.pad("batch, T", [(0, 1), 0], "edge", origin="more")
    found = again(program)
    assert [str(op) for op in found.operations] == [str(op) for op in program.operations]
    assert [op.rule for op in found.operations] == [op.rule for op in program.operations]
    assert [op.output for op in found.operations] == [op.output for op in program.operations]
    assert found.clauses == program.clauses
    assert found.explain() == program.explain()


def test_the_schema_names_every_operator(program):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(program.to_dict(), sb.ShapeEnv.json_schema())
    (kinds,) = [
        e["properties"]["kind"]["enum"]
        for e in sb.ShapeEnv.json_schema()["$defs"]["operation"]["oneOf"]
        if "rule" in e["properties"]
    ]
    assert kinds == ["broadcast", *operator_names()]


def test_a_conflict_names_the_operators_that_clash():
    env = sb.ShapeEnv()
    env.matmul("N, K", "K, 4", origin="first")
    env.concat(["K, 2", "8, 2"], 1, origin="join")
    with pytest.raises(sb.IncompatibleProgramError) as refused:
        env.reshape("K", (3, 3), origin="square")
    assert [op.name for op in refused.value.operations] == ["join", "square"]
    assert "square: reshape of (K), (3, 3)".replace("(K)", "(K,)") in str(refused.value)
    assert len(env.operations) == 2


def test_a_conflict_that_is_recorded_leaves_a_shape_of_the_rank():
    env = sb.ShapeEnv(on_conflict="record")
    output = env.matmul("2, N, 3", "3, 4, M")
    assert env.verdict is sb.Verdict.NEVER
    assert [op.name for op in env.conflict] == ["matmul_0"]
    assert output.rank == 3
    output = env.matmul("2, N, 3", "5, 3, M")
    assert output.rank == 3 and "?" in str(output)


def test_a_branch_does_not_change_the_program():
    env = sb.ShapeEnv()
    with env.assuming("N >= 2") as branch:
        assert branch.squeeze("1, N", 0) == sb.shape("N")
        with pytest.raises(sb.IncompatibleProgramError):
            branch.squeeze("1, N", 1)
    assert env.operations == ()
    env.squeeze("1, N", 1)
    assert env.witness() == {"N": 1}


def test_what_is_known_of_sizes_simplifies_shapes():
    env = sb.ShapeEnv(assume=["S >= 2"])
    scores = env.matmul("batch, T, d", "batch, d, S")
    assert env.broadcast(scores, "batch, 1, M") == sb.shape("batch, T, S")


WRONG = [
    (lambda e: e.matmul("", "N"), "a matrix product needs operands of one axis or more"),
    (lambda e: e.concat(["N", "N, M"], 0), "tensors of ranks 1, 2 cannot be concatenated"),
    (lambda e: e.concat([], 0), "there must be a tensor"),
    (lambda e: e.concat("N, M", 0), "takes a list of shapes"),
    (lambda e: e.concat(["N", "M"], 1), "axis 1 is out of range for 1 axis"),
    (lambda e: e.concat(["N", "M"], True), "axis=True is not an integer"),
    (lambda e: e.stack(["N", "N"], 2), "axis 2 is out of range for 2 axes"),
    (lambda e: e.reshape("N", (-1, -1)), "at most one size may be -1"),
    (lambda e: e.reshape("N", (1, 0), zero_copies=True), "a 0 on axis 1 copies a size"),
    (lambda e: e.transpose("N, M", (0, 0)), "must name each of the 2 axes once"),
    (lambda e: e.transpose("N, M", "10"), "order='10' is not"),
    (lambda e: e.reduce("N, M", 2), "axis 2 is out of range for 2 axes"),
    (lambda e: e.reduce("N, M", (0, -2)), "no axis may be named twice"),
    (lambda e: e.reduce("N, M", 0, keepdims=1), "keepdims=1 is not True or False"),
    (lambda e: e.reduce("N, M", 0.5), "axes=0.5 is not an integer"),
    (lambda e: e.squeeze("N, M"), "whether axis 0 is 1 depends on the sizes"),
    (lambda e: e.unsqueeze("N", (0, 0)), "no axis may be inserted twice"),
    (lambda e: e.expand("N, M", "N"), "must have at least the 2 axes of the data"),
    (lambda e: e.slice("N", 0, 1, 0, 0), "no step may be 0"),
    (lambda e: e.slice("N", [0, 1], [1, 2]), "is out of range for 1 axis"),
    (lambda e: e.slice("N, M", [0, 1], [1]), "starts, stops, axes and steps must have the same length"),
    (lambda e: e.gather("N", "M", 1), "axis 1 is out of range for 1 axis"),
    (lambda e: e.einsum("ij", "N"), "one letter for each"),
    (lambda e: e.einsum("i,j", "N"), "2 terms for 1 shape; give one shape for each term"),
    (lambda e: e.einsum("i->j", "N"), "only have letters that an input has"),
    (lambda e: e.einsum("i->ii", "N"), "each letter can occur only once"),
    (lambda e: e.einsum("1", "N"), "must consist of letters"),
    (lambda e: e.einsum("...i->i", "N, M"), "the output must have an ellipsis"),
    (lambda e: e.split("N", 0), "must be at least 1"),
    (lambda e: e.split("N", ()), "at least one part"),
    (lambda e: e.tile("N", (-2,)), "-2"),
    (lambda e: e.pad("N", [1, 2]), "widths has 2 entries for 1 axis; write one number, or one or a pair for each axis"),
    (lambda e: e.pad("N", 1, "mirror"), "mode='mirror' is not offered"),
    (lambda e: e.conv("N, C", "M, C"), "an axis or more to slide along"),
    (lambda e: e.conv("N, C, H", "M, C, 3, 3"), "same rank"),
    (lambda e: e.conv("N, C, H", "M, C, 3", strides=0), "strides=0 must be at least 1"),
    (
        lambda e: e.conv("N, C, H", "M, C, 3", strides=(1, 2)),
        "strides has 2 numbers for 1 axis; write one number, or one for each axis",
    ),
    (lambda e: e.conv("N, C, H", "M, C, 3", padding="full"), "padding='full' is not known"),
    (lambda e: e.conv("N, C, H", "M, C, 3", padding=-1), "must not be below 0"),
    (lambda e: e.conv("N, C, H", "M, C, 3", groups=0), "groups=0 must be at least 1"),
    (lambda e: e.pool("N, C, H, W", (2,)), "the kernel must be 2 sizes"),
    (lambda e: e.matmul("N", "N", origin=3), "not an origin"),
    (lambda e: e.matmul("N +", "N"), "N +"),
    (lambda e: e.matmul(3.5, "N"), "3.5"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_input_is_refused_with_a_reason_and_leaves_nothing(number):
    ask, message = WRONG[number]
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "M, 1")
    with pytest.raises(sb.SymbcastError) as refused:
        ask(env)
    assert message in str(refused.value)
    assert not isinstance(refused.value, sb.IncompatibleProgramError)
    assert len(env.operations) == 1
    assert env.broadcast("N", "K") == sb.shape("broadcast(N, K)")


IMPOSSIBLE = [
    lambda e: e.matmul("N, 3", "4, M"),
    lambda e: e.concat(["N, 3", "N, 4"], 0),
    lambda e: e.reshape("3", (2, -1)),
    lambda e: e.reshape("3, 4", (5, 2)),
    lambda e: e.squeeze("3, N", 0),
    lambda e: e.expand("3", "N, 4"),
    lambda e: e.stack(["N, 3", "N, 4"]),
    lambda e: e.split("N, 5", 2, 1),
    lambda e: e.split("5", (2, 2)),
    lambda e: e.einsum("ij,jk", "N, 3", "4, M"),
    lambda e: e.gather("0", "2"),
    lambda e: e.conv("N, 4, H", "M, 3, 3"),
    lambda e: e.conv("N, 3, 2", "M, 3, 3"),
    lambda e: e.conv("N, 3, 2", "M, 3, 0"),
    lambda e: e.pool("N, C, 2", (3,)),
    lambda e: e.pad("1", 1, "reflect"),
]


@pytest.mark.parametrize("number", range(len(IMPOSSIBLE)))
def test_what_no_sizes_allow_is_incompatible(number):
    env = sb.ShapeEnv()
    with pytest.raises(sb.IncompatibleProgramError) as refused:
        IMPOSSIBLE[number](env)
    assert refused.value.operation.kind in str(refused.value)
    assert env.operations == () and env.verdict is sb.Verdict.ALWAYS


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda op: op.update(kind="matmull"), "kind"),
        (lambda op: op["rule"]["attributes"].update(axis="0"), "attributes"),
        (lambda op: op["rule"]["attributes"].update(axle=0), "attributes"),
        (lambda op: op.update(operands=["(N)", "(N, M)"]), "operands"),
    ],
)
def test_data_that_is_no_operation_is_refused(change, place):
    env = sb.ShapeEnv()
    env.concat(["N", "M"])
    data = env.to_dict()
    change(data["operations"][0])
    with pytest.raises(sb.ExchangeError) as refused:
        sb.ShapeEnv.from_dict(data)
    assert place in str(refused.value)


def test_each_operator_has_a_method_with_its_defaults():
    for name in operator_names():
        arguments = signature(getattr(sb.ShapeEnv, "lstm" if name == "recurrent" else name)).parameters
        for attribute in find_operator(name, {}).parameters:
            if attribute.name in arguments and arguments[attribute.name].default is not Parameter.empty:
                assert arguments[attribute.name].default == attribute.default, (name, attribute.name)
