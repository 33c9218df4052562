"""Loops that torch exports in this run, held against torch itself at small sizes."""

from itertools import product

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
from torch._higher_order_ops import map as mapped  # noqa: E402
from torch._higher_order_ops import scan, while_loop  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class While(torch.nn.Module):
    def forward(self, x, y, z):
        return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + y @ z), (torch.tensor(0), x))


class Scan(torch.nn.Module):
    def forward(self, state, x, y):
        return scan(lambda c, v: (c + v[0], torch.matmul(c * v[0], v[1])), state, (x, y), dim=0)


class Map(torch.nn.Module):
    def forward(self, x, y):
        return mapped(lambda v, w: v @ w, x, y)


CASES = {"scan": (Scan(), {"state": "a", "x": "ba", "y": "bad"}), "map": (Map(), {"x": "abc", "y": "cd"})}


def program(case):
    module, shapes = CASES[case]
    sizes = {"a": 5, "b": 4, "c": 3, "d": 6}
    args = tuple(torch.zeros([sizes[n] for n in s]) for s in shapes.values())
    dynamic = tuple(dict.fromkeys(range(len(s)), torch.export.Dim.AUTO) for s in shapes.values())
    return torch.export.export(module, args, dynamic_shapes=dynamic)


@pytest.mark.parametrize("case", CASES)
def test_a_loop_runs_where_torch_runs_it(case):
    exported = program(case)
    shapes = CASES[case][1]
    names = {n: [f"{n}{axis}" for axis in range(len(s))] for n, s in shapes.items()}
    report = sb.torch.check(exported, shapes={n: ", ".join(found) for n, found in names.items()}, min_size=0)
    assert not report.unanalysed
    guard = report.guard()
    every = [name for found in names.values() for name in found]
    run = exported.graph_module
    worked = set()
    for sizes in product((0, 1, 2), repeat=len(every)):
        at = dict(zip(every, sizes, strict=True))
        args = [torch.zeros([at[d] for d in found]) for found in names.values()]
        held = [v for n, v in exported.constants.items()]
        try:
            outputs = [tuple(o.shape) for o in run(*held, *args)]
        except (RuntimeError, IndexError, AssertionError):
            outputs = None
        works = guard(**at)
        assert works == (outputs is not None), (at, outputs, report.condition)
        worked.add(works)
    assert worked == {True, False}


def test_values_that_a_loop_carries_keep_their_shapes():
    module, shapes = While(), ((5, 4), (5, 3), (3, 4))
    dynamic = ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},) * 3
    exported = torch.export.export(module, tuple(map(torch.zeros, shapes)), dynamic_shapes=dynamic)
    report = sb.torch.check(exported, shapes={"x": "a, b", "y": "c, d", "z": "e, f"}, min_size=2)
    assert not report.unanalysed
    assert list(map(str, report.outputs.values())) == ["()", "(a, b)"]
    assert {str(f.condition) for f in report.findings} == {"a == c", "b == f", "d == e"}
