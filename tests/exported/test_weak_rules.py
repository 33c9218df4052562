"""Rules that require less than torch does: what its guards and kernels say of them; and what is no such rule."""

from __future__ import annotations

from random import Random

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
import exported_models  # noqa: E402
from graph_runs import checked, dynamic  # noqa: E402

from symbcast.torch.calls import OPERATORS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional
WEAKENED = {
    "kthvalue": (lambda x: x.kthvalue(3, dim=1)[0], (4, 8), "x_dim_1 >= 3"),
    "pad": (lambda x: F.pad(x, (2, 3), mode="circular"), (4, 5, 8), "x_dim_2 >= 3"),
    "unfold": (lambda x: x.unfold(0, 3, 1), (8,), "x_dim_0 >= 3"),
}


def condition(report):
    return str(report.condition).replace("args_0", "x")


@pytest.mark.parametrize("name", WEAKENED)
def test_a_rule_that_requires_too_little_is_told_of(name, monkeypatch):
    """Each rule is right, so it is replaced by one that requires nothing."""
    function, shape, right = WEAKENED[name]
    report = checked(function, torch.zeros(shape), shapes=dynamic(len(shape)))
    assert condition(report) == right and not report.unanalysed

    monkeypatch.setitem(OPERATORS, ("", f"aten.{name}"), lambda call: list(call.recorded("a test")))
    weak = checked(function, torch.zeros(shape), shapes=dynamic(len(shape)))
    assert weak.verdict is sb.Verdict.UNKNOWN
    (found,) = weak.unanalysed
    assert found.op_type == f"aten.{name}" and "does not require" in found.reason


@pytest.mark.parametrize("name", ["unet", "fpn", "cached_attention", "tcn"])
def test_guards_on_ways_that_both_work_are_no_alarm(name):
    case = exported_models.CASES[name]()
    report = sb.torch.check(case.module, case.args, case.kwargs, dynamic_shapes=case.auto())
    assert not report.unanalysed


def test_leading_axes_of_sorted_sequences():
    report = checked(torch.searchsorted, torch.zeros(4, 8), torch.zeros(4, 5), shapes=dynamic(2, 2))
    assert str(report.condition) == "args_0_dim_0 == args_1_dim_0" and not report.unanalysed


def test_a_transposed_convolution_may_give_nothing():
    def function(x, w):
        return F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1)

    axes = {0: torch.export.Dim.AUTO, 2: torch.export.Dim.AUTO}
    report = checked(function, torch.zeros(2, 3, 4), torch.zeros(3, 4, 1), shapes=(axes, None))
    assert report.guard()(args_0_dim_0=2, args_0_dim_2=1)
    assert function(torch.zeros(2, 3, 1), torch.zeros(3, 4, 1)).shape == (2, 4, 0)


def test_every_axis_fixed_is_an_answer():
    report = checked(lambda x: x.view(4, 8), torch.zeros(4, 8), shapes=dynamic(2))
    assert [s.size for s in report.guards.specialised] == [4, 8] and not report.guards.clauses
    assert "torch fixed" in str(report) and "dynamic_shapes" in str(report.suggest())


def test_integers_are_sizes_of_the_guard():
    class Cut(torch.nn.Module):
        def forward(self, x, n):
            return x.narrow(1, 0, n)

    both = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    shapes = {"x": both, "n": torch.export.Dim.AUTO}
    report = sb.torch.check(Cut(), (torch.zeros(4, 8), 3), dynamic_shapes=shapes)
    assert str(report.condition) == "n <= x_dim_1" and not report.data_sizes
    assert report.guard()(x_dim_0=1, x_dim_1=4, n=4) and not report.guard()(x_dim_0=1, x_dim_1=4, n=5)


def test_what_data_decide_is_no_size_of_the_guard():
    def function(x):
        found = x.nonzero()
        return found + torch.zeros(found.shape[0], 1)

    report = checked(function, torch.ones(4, 8), shapes=dynamic(2))
    assert report.guard()(args_0_dim_0=2, args_0_dim_1=3)
    assert list(report.data_sizes) == ["nonzero_count"] and "count" not in report.to_python()


@pytest.mark.parametrize("shapes", [((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)), ((3, 5), (4, 5), (4, 6))])
def test_attention_on_empty_tensors_leaves_early_as_torch_does(shapes):
    axes = dynamic(*map(len, shapes))
    report = checked(F.scaled_dot_product_attention, *map(torch.zeros, shapes), shapes=axes, min_size=0)
    guard, random, ran = report.guard(), Random(1), 0
    for _ in range(300):
        query, key, value = ([random.choice([0, 1, 1, 2]) for _ in shape] for shape in shapes)
        if random.random() < 0.6:
            key[:-2], key[-1], value[-2] = query[:-2], query[-1], key[-2]
        at = {f"args_{n}_dim_{axis}": d for n, s in enumerate((query, key, value)) for axis, d in enumerate(s)}
        try:
            F.scaled_dot_product_attention(*map(torch.ones, (query, key, value)))
            runs = True
        except RuntimeError:
            runs = False
        ran += runs
        assert guard(**{name: at[name] for name in guard.parameters}) is runs, (query, key, value)
    assert 0 < ran < 300
