"""Modules that torch does not export, traced, and held against calls with real tensors at all small sizes."""

import itertools
import logging
import warnings

import pytest

torch = pytest.importorskip("torch")

from eager_modules import CASES  # noqa: E402
from torch._higher_order_ops.map import map as mapping  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

import symbcast as sb  # noqa: E402
from symbcast.arrays.arguments import TraceArguments  # noqa: E402
from symbcast.paths.real_calls import RaisedError  # noqa: E402
from symbcast.torch.eager.trace import RealTorchCalls  # noqa: E402

MOST = {1: 7, 2: 7, 3: 4, 4: 3}
CONDITIONS = {
    "gated": "True",
    "found": "True",
    "counted": "M == 4 or M == 6",
    "cached": "M == 5",
    "boxes": "M == N",
    "lengths": "T >= 2",
    "speech": "B == M and B == N",
    "wrapped": "K == M",
    "pyramid": "H >= 3 and W >= 3",
    "named": "True",
    "memory": "N <= 6 and (M == 1 or M == 4)",
}


@pytest.mark.parametrize("name", CASES)
def test_a_module_works_where_its_trace_says(name):
    make, args, named = CASES[name]
    report = sb.torch.trace(make(), *args, **named)
    if name in CONDITIONS:
        assert report.complete, report.reason
        assert report.condition.equivalent(CONDITIONS[name])
    given = TraceArguments(args, named, dtype="float32")
    calls = RealTorchCalls(make(), given, report._conclusions.scope.shapes)
    names = report._conclusions.scope.names
    guard = report.guard()
    for point in itertools.product(range(1, MOST[len(names)] + 1), repeat=len(names)):
        at = dict(zip(names, point, strict=True))
        sizes = {names[s]: n for s, n in at.items()}
        runs = any(not isinstance(result, RaisedError) for result in calls.results(at))
        if report.complete:
            assert guard(**sizes) == runs, sizes
        elif runs:  # what is known may be of some data only
            assert guard(**sizes) or report.unexplored, sizes


@pytest.mark.parametrize("name", CASES)
def test_torch_does_not_export_it(name, capfd):
    make, args, named = CASES[name]
    given = TraceArguments(args, named, dtype="float32")
    args, kwargs = given.build(
        given.shapes, lambda dims, dtype: torch.ones([d if isinstance(d, int) else 6 for d in dims],
                                                     dtype=getattr(torch, dtype)), int)  # fmt: skip
    axes = [dict.fromkeys(range(v.dim()), torch.export.Dim.AUTO) for v in args]
    logging.disable(logging.CRITICAL)
    with pytest.raises(Exception), warnings.catch_warnings():  # noqa: B017 - torch's errors are of many types
        warnings.simplefilter("ignore")
        torch.export.export(make(), tuple(args), kwargs, dynamic_shapes=None if kwargs else tuple(axes))
    logging.disable(logging.NOTSET)


def test_a_refused_export_names_the_trace():
    make, _, _ = CASES["gated"]
    with pytest.raises(sb.ModelError, match=r"symbcast\.torch\.trace"):
        sb.torch.check(make(), (torch.ones(2, 4),))


def branches(x, y):
    return torch.cond(x.sum() > 0, lambda a, b: a[:, :2] + b, lambda a, b: a[:, :1] * b, (x, y))


def summed(x, y):
    return scan(lambda c, v: (c + v, (c * v).sum(-1)), y[0], x)


def mapped(x, y):
    return mapping(lambda v, w: (v @ w, v.view(2, -1) * 1.0), x, y)


def repeated(x, y):
    return while_loop(lambda i, a: (i < x.shape[0]).all(), lambda i, a: (i + 1, a + x[:1]), (torch.tensor(0), y))


def together(x, y):
    return scan(lambda c, v: (c * 1, (v[0] + v[1]).clone()), x[0], [x, y])


LOOPS = {
    branches: "(N == K or N == 1 or K == 1) and (L == min(M, 2) or M == 1 or L == 1)",
    summed: "M == 1 or M == L",
    mapped: "M == K and M % 2 == 0",
    repeated: "M == 1 or M == L",
    together: "N <= K and (M == L or M == 1 or L == 1)",
}


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_bodies_of_branches_and_loops_run_once(function):
    report = sb.torch.trace(function, "N, M", "K, L")
    assert report.complete, report.reason
    assert report.condition.equivalent(LOOPS[function])
    guard = report.guard()
    # Each call compiles the bodies, so few points are tried.
    for at in ((1, 1, 1, 1), (3, 2, 3, 2), (2, 4, 4, 4), (3, 2, 2, 2), (2, 3, 3, 1), (2, 1, 2, 3), (2, 2, 3, 4)):
        ran = True
        for fill in (1.0, -1.0):
            try:
                function(torch.full(at[:2], fill), torch.full(at[2:], fill))
            except Exception:  # dynamo wraps torch's errors in its own
                ran = False
        assert guard(**dict(zip("NMKL", at, strict=True))) == ran, at


def test_branches_that_sizes_choose_need_only_run_where_they_are_taken():
    def function(x):
        return torch.cond(x.shape[0] > 4, lambda a: a.view(-1, 5), lambda a: a[:, None] * 2, (x,))

    report = sb.torch.trace(function, "N")
    assert report.complete and report.condition.equivalent("N <= 4 or N % 5 == 0")


def test_what_a_loop_carries_keeps_its_shape():
    def grown(x):
        return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, torch.cat([a, a])), (torch.tensor(0), x))

    assert sb.torch.trace(grown, "N").verdict is sb.Verdict.NEVER


def test_least_squares():
    report = sb.torch.trace(lambda x, y: torch.linalg.lstsq(x, y).solution, "M, N", "K, L")
    assert report.complete and str(report.condition) == "K == M"
    assert str(report.shapes) == "(N, L)"
    # A right side with the shape of the stack without its last axis holds vectors; tall matrices have residuals.
    stacked = sb.torch.trace(lambda x, y: torch.linalg.lstsq(x, y, driver="gels")[:2], "A, M, N", "A, M")
    assert stacked.complete and stacked.verdict is sb.Verdict.ALWAYS
    assert sorted(tuple(map(str, case.value)) for case in stacked.cases) == [("(A, N)", "(0,)"), ("(A, N)", "(A, 1)")]
