"""What sizes decide is never left to data: integers that are not followed leave a verdict about OpenVINO open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("openvino")

import openvino as ov
from openvino import opset13 as op

import symbcast as sb
from symbcast import Verdict


def number(value):
    return op.constant(np.array(value, np.int64))


def rooted(count):
    """Return the root of an integer, rounded: an integer that is not followed."""
    return op.convert(op.sqrt(op.convert(count, "f32")), "i64")


def elements(model_of):
    """Return a model over floats of a length N and an integer that data decide."""
    x = op.parameter(ov.PartialShape([-1]), np.float32, name="x")
    given = op.parameter(ov.PartialShape([]), np.int64, name="given")
    length = op.squeeze(op.shape_of(x), number([0]))
    return ov.Model([op.result(model_of(x, length, given))], [x, given])


def added(values):
    return op.add(op.convert(values, "f32"), op.constant(np.zeros(5, np.float32)))


def ranged(count):
    return op.range(number(0), count, number(1), "i64")


BY_SIZES = {
    "a range": lambda x, n, k: added(ranged(rooted(n))),
    "a range to what sizes and data decide": lambda x, n, k: added(ranged(op.maximum(rooted(n), k))),
    "a shape": lambda x, n, k: added(op.broadcast(number(1), op.unsqueeze(rooted(n), number(0)))),
    "a count of elements": lambda x, n, k: op.topk(
        op.constant(np.zeros(3, np.float32)), op.minimum(rooted(n), number(3)), 0, "max", "value"
    ).output(0),
    "taken by data from what sizes decide": lambda x, n, k: added(
        ranged(op.gather(op.unsqueeze(rooted(n), number(0)), k, number(0)))
    ),
    "a number that sizes repeat": lambda x, n, k: added(
        ranged(op.reduce_sum(rooted(op.broadcast(number(4), op.shape_of(x))), number([0]), False))
    ),
}
BY_DATA = {
    "a range": lambda x, n, k: added(ranged(k)),
    "data that are computed with sizes": lambda x, n, k: added(
        ranged(op.add(op.convert(op.reduce_sum(x, number([0]), False), "i64"), rooted(n)))
    ),
    "taken from data": lambda x, n, k: added(ranged(op.gather(op.unsqueeze(k, number(0)), number(0), number(0)))),
    "elements that are not zero": lambda x, n, k: added(op.squeeze(op.non_zero(x, "i64"), number([0]))),
}


@pytest.mark.parametrize("name", BY_SIZES)
def test_what_sizes_decide_leaves_the_verdict_open(name):
    report = sb.openvino.check(elements(BY_SIZES[name]))
    assert report.verdict is Verdict.UNKNOWN
    assert report.reason
    assert not any(u.is_about_data for u in report.unanalysed)


@pytest.mark.parametrize("name", BY_DATA)
def test_what_data_decide_is_left_to_data(name):
    assert sb.openvino.check(elements(BY_DATA[name])).verdict is Verdict.ALWAYS


def looped(step, most):
    """Return a model whose loop applies a step to floats of a length N until they are at most so long, plus M more."""
    x, y = (op.parameter(ov.PartialShape([-1]), np.float32, name=name) for name in "xy")
    inner = op.parameter(ov.PartialShape([-1]), np.float32)
    made = step(inner)
    after, goes_on = op.result(made), op.result(op.greater(_length_of(made), number(most)))
    loop = op.loop(number(-1), op.greater(_length_of(x), number(most)))
    loop.set_function(ov.Model([after, goes_on], [inner]))
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(inner, x.output(0), after.output(0))
    last = loop.get_iter_value(after.output(0), -1)
    return ov.Model([op.result(op.add(last, y))], [x, y])


def _length_of(values):
    return op.squeeze(op.shape_of(values), number([0]))


def halved(values):
    half = op.unsqueeze(op.divide(_length_of(values), number(2)), number([0]))
    return op.slice(values, number([0]), half, number([1]))


def without_first(values):
    return op.slice(values, number([1]), number([99]), number([1]))


INFER = """
import json, sys
from test_decided_by_sizes import inferred
name, most, sizes = json.loads(sys.stdin.read())
print(json.dumps(inferred(name, most, sizes)))
"""


def inferred_apart(*question):
    """Return what `inferred` returns in a new process: a fork would copy the locks of threads."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", INFER],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [here, here.parent, here.parent / "support"]))},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def inferred(name, most, sizes):
    """Return the lengths that OpenVINO infers, or None."""
    step = globals()[name]
    found = []
    for n, m in sizes:
        # A request that failed once may fail again at sizes that work.
        compiled = ov.Core().compile_model(looped(step, most), "CPU")
        try:
            found.append(list(compiled([np.zeros(n, np.float32), np.zeros(m, np.float32)])[0].shape))
        except RuntimeError:
            found.append(None)
    return found


@pytest.mark.parametrize(("step", "most"), [(halved, 3), (without_first, 2)])
def test_sizes_decide_how_often_a_loop_runs(step, most):
    report = sb.openvino.check(looped(step, most))
    guard, told = report.guard(), []
    sizes = [(n, m) for n in (1, 2, 3, 4, 5, 8, 9) for m in (1, 2, 3, 4)]
    for (n, m), found in zip(sizes, inferred_apart(step.__name__, most, sizes), strict=True):
        at = {"x_dim_0": n, "y_dim_0": m}
        try:
            told.append(guard(at))
            assert told[-1] is (found is not None), at
        except sb.UndecidedError:
            told.append(None)
        known = sb.openvino.check(looped(step, most), bind=at)
        assert known.verdict is (Verdict.NEVER if found is None else Verdict.ALWAYS), at
        assert found is None or [s.dims for s in known.outputs.values()] == [tuple(found)], at
    assert {None, True, False} == set(told)
    assert report.verdict is Verdict.SOMETIMES
