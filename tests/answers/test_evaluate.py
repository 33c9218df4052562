"""`evaluate`: the output shapes of every kind of answer at given sizes, against the same question about numbers."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import symbcast as sb

SIZES = (0, 1, 2, 3, 4, 6)


def recorded(n, m, k):
    """Record a program over sizes, which may be names or numbers."""
    env = sb.ShapeEnv(on_conflict="record")
    x = env.broadcast((n, m), (k, 1), origin="scale")
    x = env.reshape(x, (2, -1), origin="halves")
    env.concat([x, (2, k)], axis=1, origin="joined")
    env.conv(("B", 3, "H", "W"), (8, 3, 3, 3), strides=2, origin="conv")
    return env


@pytest.mark.parametrize("sizes", [*itertools.product(SIZES, SIZES, (1, 2, 5))])
def test_a_program_at_sizes_is_the_program_of_these_sizes(sizes):
    N, M, K = sizes
    named = {"N": N, "M": M, "K": K, "B": 2, "H": 9, "W": 3}
    env, numbers = recorded("N", "M", "K"), recorded(N, M, K)
    if numbers.verdict is sb.Verdict.NEVER:
        with pytest.raises(sb.IncompatibleShapesError, match=r"the program fails at .*: (scale|halves) requires"):
            env.evaluate(named)
    else:
        assert env.evaluate(**named) == numbers.evaluate(B=2, H=9, W=3)


def test_operations_of_one_name_and_outputs_of_one_operation_are_numbered():
    env = sb.ShapeEnv()
    first = env.broadcast("N", "M, 1", origin="add")
    env.broadcast(first, "K, 1, 1", origin="add")
    env.split("N, 5", [2, 3], axis=1, origin="parts")
    assert list(env.shapes) == ["add", "add#2", "parts", "parts#2"]
    assert env.evaluate(N=2, M=3, K=4) == {"add": (3, 2), "add#2": (4, 3, 2), "parts": (2, 2), "parts#2": (2, 3)}
    assert [*env.cases()[0].shapes] == [*env.shapes]
    assert str(env.expands("add#2", "B", 0)) == "B of add on axis 0 (-3): never stretched"


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda env: env.evaluate(N=2), sb.BindingError, "no size was given for M; write evaluate(N=2, M=...)"),
        (lambda env: env.evaluate(N=2, M=2, K=1), sb.BindingError, "no size here is named 'K'; the sizes are N, M"),
        (lambda env: env.evaluate(N=0, M=1), sb.BindingError, "N=0 contradicts the assumption N >= 1"),
        (lambda env: env.shapes["ad"], KeyError, "there is no operation 'ad'; did you mean 'add'?"),
        (lambda env: env.shapes["conv"], KeyError, "there is no operation 'conv'; there is add"),
        (
            lambda env: env.shapes(N=2, M=1),
            TypeError,
            "shapes: are shapes by name, not a method; for numbers, write evaluate(N=2, M=1)",
        ),
        (lambda env: env.at(N=2), AttributeError, "use evaluate(...)"),
        (lambda env: env.shapes["add"].at(N=2), AttributeError, "use evaluate(...)"),
        (lambda env: env.shapes["add"](N=2), TypeError, "for numbers, write shape.evaluate(N=2)"),
        (lambda env: env.evaluate([2, 1]), ValueError, "is not a mapping of names to sizes; write N=2, M=1"),
        (lambda _: sb.shape("N, 3").evaluate(4), ValueError, "write N=4"),
        (lambda env: env.shapes.add, AttributeError, "use shapes['add']"),
        (lambda env: env.conv("N, 3, H", "8, 3, 3", 2), TypeError, "write conv('N, 3, H', '8, 3, 3', strides=2)"),
        (lambda env: env.conv("N, 3, H", 8, 3), TypeError, "weights is a shape, not a number; write the weights"),
        (lambda _: sb.shape("N - 1").evaluate(N=0), sb.SymbcastError, "'(N - 1,)': is no shape at N=0"),
    ],
)
def test_what_cannot_be_answered_says_what_can(ask, error, said):
    env = sb.ShapeEnv(assume="N >= 1")
    env.broadcast("N", "M", origin="add")
    with pytest.raises(error) as caught:
        ask(env)
    assert said in str(caught.value) and isinstance(caught.value, (sb.SymbcastError, AttributeError))


def test_shapes_by_name_are_pickled_with_what_they_are():
    env = sb.ShapeEnv()
    env.broadcast("N", "M", origin="add")
    copy = pickle.loads(pickle.dumps(env.shapes))
    assert copy == env.shapes
    with pytest.raises(KeyError, match="there is no operation 'x'; there is add"):
        copy["x"]


def test_sequences_of_axes_and_unknown_sizes():
    env = sb.ShapeEnv()
    env.matmul("*batch, T, d", "d, 64", origin="proj")
    assert env.evaluate(batch=(5, 1), T=7, d=2) == {"proj": (5, 1, 7, 64)}
    assert env.evaluate(batch=(), T=7, d=2) == {"proj": (7, 64)}
    assert sb.shape("?, *batch, 3").evaluate({"?0": 4, "batch": (2,)}) == (4, 2, 3)


def both_parts(x, y):
    if x.shape[0] > 3:
        return x + y, x.shape[0]
    return x, {"rows": y.shape[0]}


@pytest.mark.parametrize("sizes", [*itertools.product((1, 2, 4, 5), repeat=2)])
def test_a_function_at_sizes_returns_the_shapes_that_it_really_returns(sizes):
    N, M = sizes
    report = sb.trace(both_parts, "N", "M")
    try:
        first, second = both_parts(np.ones(N), np.ones(M))
    except ValueError:
        with pytest.raises(sb.IncompatibleShapesError, match=f"both_parts fails at N={N}, M={M}: ValueError"):
            report.evaluate(N=N, M=M)
    else:
        assert report.evaluate(N=N, M=M) == (first.shape, second)


def test_sizes_that_data_decide_are_none():
    assert sb.trace(lambda x: x[x > 0], "N, K").evaluate(N=4, K=2) == (None,)
    report = sb.trace(lambda x: x if x.sum() > 3 else x.sum(0), "N, K")
    with pytest.raises(sb.UndecidedError, match="data decide what is returned"):
        report.evaluate(N=4, K=2)


def test_a_model_at_sizes_is_the_model_with_these_sizes_bound():
    pytest.importorskip("onnx")
    path = "tests/data/onnx/models/ppocr_v4_det.onnx.gz"
    report = sb.onnx.check(path, runtime="onnxruntime")
    for sizes in ({"N": 1, "H": 320, "W": 64}, {"N": 2, "H": 3, "W": 29}):
        bound = sb.onnx.check(path, runtime="onnxruntime", bind=sizes)
        assert report.evaluate(sizes) == {name: tuple(shape) for name, shape in bound.outputs.items()}
        inner = "p2o.Add.247"
        whole = (sizes["N"], 3, sizes["H"], sizes["W"])
        assert report.evaluate(x=whole) == report.evaluate(whole) == report.evaluate(sizes)
        assert report.shapes[inner].evaluate(sizes) == bound.shapes[inner]
    with pytest.raises(sb.IncompatibleShapesError, match=r"ppocr_v4_det\.onnx\.gz fails at N=1, H=321, W=320: p2o"):
        report.evaluate(N=1, H=321, W=320)
    with pytest.raises(sb.BindingError, match=r"axis 1 of x is 3, not 4; its shape is \(N, 3, H, W\)"):
        report.evaluate(x=(1, 4, 320, 320))
    with pytest.raises(KeyError, match="there is no output 'x'; there is sigmoid_0"):
        report.outputs["x"]
    with pytest.raises(KeyError, match="there is no input 'y'; there is x"):
        report.inputs["y"]
