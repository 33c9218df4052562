"""Shape functions held against NumPy at all small sizes: they work where the condition holds, and give that shape."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import symbcast as sb

LARGEST = 3


def zeros(shape):
    return np.zeros(shape, dtype=np.int8)


def split_at(x, sizes):
    """Return the parts of sizes that add up to the size, as `torch.split` has them."""
    assert sum(sizes) == x.shape[0]
    return np.split(x, np.cumsum(sizes)[:-1])


def flattened(x, start, end):
    start, end = start % max(x.ndim, 1), end % max(x.ndim, 1)
    return x.reshape((*x.shape[:start], int(np.prod(x.shape[start : end + 1])), *x.shape[end + 1 :]))


# What is asked of an environment, what NumPy does with arrays of the shapes, and the shapes.
CASES = {
    "matmul": (lambda e, a, b: e.matmul(a, b), np.matmul, ["N, M", "K, P"]),
    "matmul of a vector": (lambda e, a, b: e.matmul(a, b), np.matmul, ["N", "K, P"]),
    "matmul by a vector": (lambda e, a, b: e.matmul(a, b), np.matmul, ["B, N, M", "K"]),
    "matmul of vectors": (lambda e, a, b: e.matmul(a, b), np.matmul, ["N", "K"]),
    "matmul of stacks": (lambda e, a, b: e.matmul(a, b), np.matmul, ["B, N, M", "A, C, M, 2"]),
    "einsum": (lambda e, *s: e.einsum("ij,jk->ik", *s), lambda *x: np.einsum("ij,jk->ik", *x), ["N, M", "K, P"]),
    "einsum implicit": (lambda e, *s: e.einsum("bi,ij", *s), lambda *x: np.einsum("bi,ij", *x), ["N, M", "K, P"]),
    "einsum of stacks": (
        lambda e, *s: e.einsum("...ij,...jk->...ik", *s),
        lambda *x: np.einsum("...ij,...jk->...ik", *x),
        ["A, N, M", "B, M, 2"],
    ),
    "einsum of ranks": (
        lambda e, *s: e.einsum("...i,...i->...", *s),
        lambda *x: np.einsum("...i,...i->...", *x),
        ["A, N, M", "B, M"],
    ),
    "reduce": (lambda e, a: e.reduce(a, axes=1), lambda a: a.sum(axis=1), ["N, M, 3"]),
    "reduce all": (lambda e, a: e.reduce(a), np.sum, ["N, M"]),
    "reduce and keep": (
        lambda e, a: e.reduce(a, (0, -1), keepdims=True),
        lambda a: a.sum(axis=(0, -1), keepdims=True),
        ["N, M, 3"],
    ),
    "reshape": (lambda e, a: e.reshape(a, (6, -1)), lambda a: a.reshape(6, -1), ["N, M"]),
    "reshape to as many": (lambda e, a: e.reshape(a, (2, 3)), lambda a: a.reshape(2, 3), ["N, M"]),
    "reshape to sizes": (lambda e, a: e.reshape(a, ("M", "N")), None, ["N, M"]),
    "reshape inferred beside a size": (lambda e, a: e.reshape(a, ("N", -1)), None, ["N, M, 2"]),
    "reshape inferred beside another": (lambda e, a: e.reshape(a, ("K", -1)), None, ["N, M"]),
    "reshape to text": (lambda e, a: e.reshape(a, "(-1, K)"), None, ["N, 4"]),
    "reshape to nothing": (lambda e, a: e.reshape(a, (0, 2)), lambda a: a.reshape(0, 2), ["N, M"]),
    "reshape to a number": (lambda e, a: e.reshape(a, -1), lambda a: a.reshape(-1), ["N, M"]),
    "reshape copying": (
        lambda e, a: e.reshape(a, (0, -1), zero_copies=True),
        lambda a: a.reshape(a.shape[0], -1),
        ["N, M, 2"],
    ),
    "flatten": (lambda e, a: e.flatten(a, 1, 2), lambda a: flattened(a, 1, 2), ["A, B, C, D"]),
    "flatten all": (lambda e, a: e.flatten(a), lambda a: flattened(a, 0, -1), ["A, B, C"]),
    "transpose": (lambda e, a: e.transpose(a), np.transpose, ["A, B, C"]),
    "transpose in order": (lambda e, a: e.transpose(a, (1, -1, 0)), lambda a: a.transpose(1, -1, 0), ["A, B, C"]),
    "squeeze": (lambda e, a: e.squeeze(a, (0, -1)), lambda a: a.squeeze((0, -1)), ["A, B, C"]),
    "squeeze numbers": (lambda e, a: e.squeeze(a), np.squeeze, ["1, 3, 1"]),
    "unsqueeze": (lambda e, a: e.unsqueeze(a, (0, -1)), lambda a: np.expand_dims(a, (0, -1)), ["A, B"]),
    "expand": (lambda e, a: e.expand(a, "K, M, 3"), None, ["M, A"]),
    "tile": (lambda e, a: e.tile(a, (2, 1, 3)), lambda a: np.tile(a, (2, 1, 3)), ["A, B"]),
    "tile fewer": (lambda e, a: e.tile(a, (2,)), lambda a: np.tile(a, (2,)), ["A, B"]),
    "concat": (lambda e, *s: e.concat(s, 1), lambda *x: np.concatenate(x, 1), ["N, A, 2", "M, B, C"]),
    "concat with a number": (lambda e, *s: e.concat(s, -1), lambda *x: np.concatenate(x, -1), ["N, A", "2, B", "M, A"]),
    "stack": (lambda e, *s: e.stack(s, -1), lambda *x: np.stack(x, -1), ["N, A", "2, B", "M, A"]),
    "split": (lambda e, a: e.split(a, 2, 1)[1], lambda a: np.split(a, 2, 1)[1], ["A, B"]),
    "split by sizes": (lambda e, a: e.split(a, (1, 2))[1], lambda a: split_at(a, (1, 2))[1], ["A, B"]),
    "slice": (lambda e, a: e.slice(a, [1, -2], [-1, None]), lambda a: a[1:-1, -2:], ["A, B"]),
    "slice in steps": (
        lambda e, a: e.slice(a, [None, 2, -1], [None, 0, -9], steps=[2, -1, -2]),
        lambda a: a[::2, 2:0:-1, -1:-9:-2],
        ["A, B, C"],
    ),
    "slice backwards": (lambda e, a: e.slice(a, None, None, 1, -1), lambda a: a[:, ::-1], ["A, B"]),
    "slice from before": (lambda e, a: e.slice(a, -3, None, 0, -1), lambda a: a[-3::-1], ["A"]),
    "slice to a size": (lambda e, a: e.slice(a, ["K", 0], ["K + 2", "A"]), None, ["A, B"]),
    "slice between sizes": (lambda e, a: e.slice(a, "K", "D", 0, 2), None, ["A"]),
    "slice from a size": (lambda e, a: e.slice(a, "K", None), None, ["A, B"]),
    "slice backwards from a size": (lambda e, a: e.slice(a, "K", None, 0, -1), None, ["A"]),
    "slice backwards to a size": (lambda e, a: e.slice(a, None, "K", 0, -2), None, ["A"]),
    "gather": (lambda e, a, i: e.gather(a, i, 1), lambda a, i: np.take(a, np.zeros(i.shape, int), 1), ["A, B", "C, D"]),
    "pad": (lambda e, a: e.pad(a, [(1, 2), 0]), lambda a: np.pad(a, [(1, 2), (0, 0)]), ["A, B"]),
    "pad at the edge": (
        lambda e, a: e.pad(a, [(1, 2), 0], "edge"),
        lambda a: np.pad(a, [(1, 2), (0, 0)], "edge"),
        ["A, B"],
    ),
}
BY_SIZES = {
    "reshape to sizes": lambda a, at: a.reshape(at["M"], at["N"]),
    "reshape inferred beside a size": lambda a, at: a.reshape(at["N"], -1),
    "reshape inferred beside another": lambda a, at: a.reshape(at["K"], -1),
    "reshape to text": lambda a, at: a.reshape(-1, at["K"]),
    "expand": lambda a, at: np.broadcast_to(a, (at["K"], at["M"], 3)),
    "slice between sizes": lambda a, at: a[at["K"] : at["D"] : 2],
    "slice from a size": lambda a, at: a[at["K"] :],
    "slice backwards from a size": lambda a, at: a[at["K"] :: -1],
    "slice backwards to a size": lambda a, at: a[: at["K"] : -2],
    "slice to a size": lambda a, at: a[at["K"] : at["K"] + 2, 0 : at["A"]],
}
"""What NumPy does where sizes other than those of the shapes are asked for."""


@pytest.mark.parametrize("case", CASES)
def test_an_operator_works_where_its_condition_holds(case):
    ask, run, texts = CASES[case]
    env = sb.ShapeEnv()
    shapes = [sb.shape(t) for t in texts]
    output = ask(env, *shapes)
    names = dict.fromkeys(n for n in "NMKPABCD" if any(n in t for t in texts) or n in env.names.values())
    guard = env.guard()
    tried = set()
    for sizes in product(range(LARGEST + 1), repeat=len(names)):
        binding = dict(zip(names, sizes, strict=True))
        arrays = [zeros(at(s, binding)) for s in shapes]
        try:
            found = run(*arrays).shape if run else BY_SIZES[case](*arrays, binding).shape
        except (ValueError, IndexError, AssertionError, TypeError):
            found = None
        works = guard(**{n: s for n, s in binding.items() if n in env.names.values()})
        assert works == (found is not None), (case, binding, found, env.condition)
        if works:
            assert at(output, binding) == found, (case, binding, output)
        tried.add(works)
    assert True in tried
    assert tried == {True, False} or env.verdict is sb.Verdict.ALWAYS, case


def at(shape, binding):
    return sb.broadcast(shape).evaluate({s: binding[str(s)] for s in shape.symbols})


NUMBERS = {
    "matmul": (lambda e, a, b: e.matmul(a, b), np.matmul),
    "concat": (lambda e, a, b: e.concat([a, b], 0), lambda a, b: np.concatenate([a, b], 0)),
    "stack": (lambda e, a, b: e.stack([a, b], 1), lambda a, b: np.stack([a, b], 1)),
    "expand": (lambda e, a, b: e.expand(a, b), lambda a, b: np.broadcast_to(a, b.shape)),
    "reshape": (lambda e, a, b: e.reshape(a, b), lambda a, b: a.reshape(b.shape)),
    "tile": (lambda e, a, b: e.tile(a, b), lambda a, b: np.tile(a, b.shape)),
    "gather": (lambda e, a, b: e.gather(a, b, 0), lambda a, b: np.take(a, np.zeros(b.shape, int), 0)),
    "einsum": (lambda e, a, b: e.einsum("...i,...i", a, b), lambda a, b: np.einsum("...i,...i", a, b)),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_an_operator_of_integers_is_refused_where_numpy_refuses_it(case):
    ask, run = NUMBERS[case]
    shapes = [s for rank in range(4) for s in product((0, 1, 2), repeat=rank)]
    for left in shapes:
        for right in shapes if left or case != "gather" else ():  # numpy.take gives a number an axis
            try:
                expected = run(zeros(left), zeros(right)).shape
            except (ValueError, IndexError):
                expected = None
            try:
                found = tuple(ask(sb.ShapeEnv(), left, right))
            except sb.SymbcastError:
                found = None
            assert found == expected, (case, left, right)
