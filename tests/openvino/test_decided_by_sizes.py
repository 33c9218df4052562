"""What sizes decide is never left to data: integers that are not followed leave a verdict about OpenVINO open."""

from __future__ import annotations

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
