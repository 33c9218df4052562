"""Real arrays that meet arrays without data: tables of the module, and arrays of known sizes that code fills."""

import numpy as np
import pytest
from paths.held import held

import symbcast as sb

TABLE = np.arange(30.0).reshape(6, 5)
IDS = np.array([1, 3, 2, 1])
IMAGE = sb.array("H, W", "uint8")
COLOURS = np.zeros((256, 3))


def with_known_rank(x):
    shape = np.ones(x.ndim, int)
    shape[0] = len(x)
    return x.reshape(shape)


def rotation(x):
    r = np.eye(3)
    r[0, 1] = x.sum()
    return r @ x


def scaled(x):
    r = np.eye(3) * 2.0
    r[:2, 1] = x[:2]
    return r @ x


def added(x):
    r = np.array([[1.0, 0, 0], [0, 1, 0]])
    r[:, 0] += x
    return r


def last_rows(x):
    index = np.arange(3)
    index[0] = len(x) - 1
    return x[index]


def by_place(x):
    c = np.zeros(6)
    for i in range(len(x)):
        c[i] = x[i]
    return c


def counts(x):
    c = np.zeros(10, int)
    for i in range(len(x)):
        c[i] += 1
    return c


def quaternion(r):
    q, t = np.empty(4), np.trace(r)
    if t > 0:
        q[0] = 0.5 * np.sqrt(1 + t)
    return q


def halves_added(x):
    """An element of an array of integers is a number: adding a fraction does not change the array."""
    v = np.full(4, 2)
    v[0] += x.sum()
    return np.cov(v)


def cast(x):
    v = np.zeros(4, int)
    np.add(v, x.sum(), out=v)
    return v


def multiplied(x):
    return TABLE.dot(x)


CASES = {
    "crossed": (np.cross, ["3", "3"], "True"),
    "crossed lengths": (np.cross, ["N", "M"], "(N == 2 or N == 3) and (M == 2 or M == 3)"),
    "crossed rows": (np.linalg.cross, ["3", "N, 3"], "True"),
    "looked up": (lambda x: COLOURS[x], [IMAGE], "True"),
    "looked up here": (lambda x: np.zeros((256, 3))[x], [IMAGE], "True"),
    "taken": (lambda x: np.take(COLOURS, x, axis=0), [IMAGE], "True"),
    "taken by a method": (lambda x: TABLE.take(x.argsort(), axis=0), ["N"], "N <= 6"),
    "first rows": (lambda x: TABLE[: len(x)] + x[:, None], ["N"], "N <= 6"),
    "one row": (lambda x, k: TABLE[k], ["N", sb.size("K")], "K < 6"),
    "two axes": (lambda x: TABLE[np.argsort(x), len(x) :], ["N"], "N <= 6"),
    "product": (multiplied, ["N"], "N == 5"),
    "mask": (lambda x: TABLE[x > 0], ["N"], "N == 0 or N == 6"),
    "sizes written": (with_known_rank, ["N, M"], "N == 0 or M == 1"),
    "element written": (rotation, ["N"], "N == 3"),
    "part of a product written": (scaled, ["N"], "N == 3"),
    "added in place": (added, ["N"], "N == 1 or N == 2"),
    "indices written": (last_rows, ["N"], "N >= 3"),
    "written in a loop": (by_place, ["N"], "N <= 6"),
    "counted in a loop": (counts, ["N"], "N <= 10"),
    "written for some data": (quaternion, ["N, M"], "True"),
    "a number of an array": (halves_added, ["N"], "True"),
    "not cast": (cast, ["N"], "False"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_real_array_takes_what_only_a_trace_has(name):
    function, arguments, condition = CASES[name]
    report = sb.trace(function, *arguments)
    assert report.complete, report.reason
    assert str(report.condition) == condition
    assert not held(report, function, *arguments, sizes=range(8), most=60).wrong


def test_integers_of_a_table_stay_numbers():
    report = sb.trace(lambda x: x.reshape(IDS[1], -1), "N")
    assert str(report.condition) == "N % 3 == 0"
