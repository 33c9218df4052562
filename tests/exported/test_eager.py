"""Modules that torch does not export, traced, and held against calls with real tensors at all small sizes."""

import itertools
import logging
import warnings

import pytest

torch = pytest.importorskip("torch")

from eager_modules import CASES  # noqa: E402

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
