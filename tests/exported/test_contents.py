"""Integers that sizes decide, as indices: what they require, and that nothing of theirs is left open in silence."""

from __future__ import annotations

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
import random_index_modules  # noqa: E402
from graph_runs import checked, dynamic  # noqa: E402
from random_modules import drawn  # noqa: E402
from survey_exported_modules import held, held_trace  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional


def places(x):
    return torch.ones(x.shape[0], dtype=torch.int64).cumsum(0) - 1


FOLLOWED = {
    "a constant": (lambda x: x[torch.tensor([0, 2])], "x >= 3"),
    "a ramp": (lambda x: F.embedding(places(x), torch.ones(40, 3)), "x <= 40"),
    "a ramp with gaps": (lambda x: torch.ones(9, 2)[torch.arange(x.shape[0]) * 2], "x <= 5"),
    "from the end": (lambda x: torch.ones(4, 2)[torch.arange(x.shape[0]) - x.shape[0]], "x <= 4"),
    "clamped": (lambda x: torch.ones(4, 2)[torch.arange(x.shape[0]).clamp(max=3)], "True"),
    "a remainder": (lambda x: torch.ones(4, 2)[torch.arange(x.shape[0]) % 4], "True"),
    "classes": (lambda x: F.one_hot(torch.arange(x.shape[0]), 5), "x <= 5"),
    "gather": (lambda x: torch.ones(4).gather(0, torch.arange(x.shape[0])), "x <= 4"),
    "scatter": (lambda x: torch.ones(4).scatter(0, torch.arange(x.shape[0]), 1.0), "x <= 4"),
    "index_put": (lambda x: torch.ones(4).index_put((torch.arange(x.shape[0]),), x), "x <= 4"),
    "index_fill": (lambda x: torch.ones(4).index_fill(0, torch.arange(x.shape[0]), 0.0), "x <= 4"),
    "an element": (lambda x: torch.ones(4).narrow(0, 0, torch.tensor(3).item()) + x[0], "True"),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_indices_that_sizes_decide_are_followed(name):
    function, condition = FOLLOWED[name]
    report = checked(function, torch.zeros(4), shapes=dynamic(1))
    assert str(report.condition).replace("args_0_dim_0", "x") == condition and not report.unanalysed


def test_indices_below_0_count_from_the_end_for_few_operators():
    def before(x):
        return torch.arange(x.shape[0]) - 1

    from_end = checked(lambda x: x[before(x)], torch.zeros(4), shapes=dynamic(1))
    assert from_end.verdict is sb.Verdict.ALWAYS and not from_end.unanalysed
    refused = checked(lambda x: x.index_select(0, before(x)), torch.zeros(4), shapes=dynamic(1))
    assert refused.verdict is sb.Verdict.NEVER


POSITIONS = {
    "a slice of an order": (lambda b, s: b[s.argsort()[:2]], "min(s, 2) <= b"),
    "the rest of an order": (lambda b, s: b[s.argsort()[1:]], "s <= b + 1"),
    "a part of an order": (lambda b, s: b[s.argsort().narrow(0, 0, 2)], "b >= 2 and s >= 2"),
    "the largest": (lambda b, s: b[s.topk(2).indices], "b >= 2 and s >= 2"),
    "the order of a sort": (lambda b, s: b[s.sort().indices], "s <= b"),
    "an order turned": (lambda b, s: b[s.argsort().flip(0)], "s <= b"),
    "the order of rows": (lambda b, s: b[s.expand(3, -1).argsort(-1)[:, :2]], "min(s, 2) <= b"),
    "the place of the largest": (lambda b, s: b[s.argmax()], "True"),
    "a sum": (lambda b, s: b[(s > 0).sum()], "True"),
    "a random place": (lambda b, s: b[torch.randint(0, s.shape[0], (2,))], "True"),
    "groups": (lambda b, s: b[s.unique(return_inverse=True)[1]], "True"),
    "buckets": (lambda b, s: b[torch.bucketize(b[:, 0], s)], "True"),
    "places of some": (lambda b, s: b[(s > 0).nonzero()[:, 0]], "True"),
    "rounded": (lambda b, s: b[(s.sigmoid() + 2).long()], "True"),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_positions_that_a_size_bounds_are_no_plain_data(name):
    function, condition = POSITIONS[name]
    report = checked(function, torch.zeros(6, 2), torch.zeros(5), shapes=({0: torch.export.Dim.AUTO},) * 2)
    said = str(report.condition).replace("args_0_dim_0", "b").replace("args_1_dim_0", "s")
    assert said == condition
    assert report.verdict is not sb.Verdict.ALWAYS


def test_each_order_within_its_own_axis_is_no_question():
    for function in (lambda s: s[s.argsort()], lambda s: s[s.argmax()], lambda s: s.gather(0, s.topk(1).indices)):
        report = checked(function, torch.zeros(5), shapes=dynamic(1))
        assert report.verdict is sb.Verdict.ALWAYS and not report.unanalysed


SPLIT = {
    "tensor_split": (lambda x: x.tensor_split([2, 5]), ("min(x, 2)", "min(x, 5) - min(x, 2)", "x - min(x, 5)")),
    "hsplit": (lambda x: x.hsplit([2]), ("min(x, 2)", "x - min(x, 2)")),
}


@pytest.mark.parametrize("name", SPLIT)
def test_parts_at_places_are_never_negative(name):
    function, shapes = SPLIT[name]
    report = checked(lambda x: [p + 0 for p in function(x)], torch.zeros(9), shapes=dynamic(1))
    said = tuple(str(d)[1:-2].replace("args_0_dim_0", "x") for d in report.outputs.values())
    assert said == shapes and report.verdict is sb.Verdict.ALWAYS


STEPS = {
    "a step": (lambda x: torch.arange(0, 12, x.shape[0] - 1), "x >= 2"),
    "a step of either sign": (lambda x: torch.arange(0, 12, x.shape[0] - 3), "x >= 4"),
    "down": (lambda x: torch.arange(12, 0, -x.shape[0]), "True"),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_sizes_decide_is_not_0(name):
    function, condition = STEPS[name]
    report = checked(function, torch.zeros(5), shapes=dynamic(1))
    assert str(report.condition).replace("args_0_dim_0", "x") == condition


def test_a_count_is_at_most_the_number_of_elements():
    report = checked(lambda x: x.unique().unfold(0, 2, 2), torch.arange(12.0).reshape(3, 4), shapes=dynamic(2))
    assert str(report.condition) == "args_0_dim_0*args_0_dim_1 >= 2"


OPEN = {
    "squares": lambda x: torch.ones(9, 2)[torch.arange(x.shape[0]) * torch.arange(x.shape[0])],
    "count": lambda x: torch.ones(x.shape[0]).nonzero() + torch.zeros(4, 1),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_sizes_may_decide_is_never_always(name):
    report = checked(OPEN[name], torch.zeros(4), shapes=dynamic(1))
    assert report.verdict is not sb.Verdict.ALWAYS and report.reason


def test_indices_that_data_decide_are_not_asked_about():
    ids = torch.zeros(4, dtype=torch.int64)
    for function in (lambda i: F.embedding(i, torch.ones(5, 2)), lambda i: torch.ones(5, 2)[i.flip(0)]):
        report = checked(function, ids, shapes=dynamic(1))
        assert report.verdict is sb.Verdict.ALWAYS and not report.unanalysed


def test_tensors_that_a_program_writes_are_data():
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("place", torch.tensor([7]))

        def forward(self, x):
            self.place.copy_((self.place + 1) % 2)
            return x[self.place]

    report = sb.torch.check(Counting(), (torch.zeros(4),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    assert report.guard()(x_dim_0=2)


def test_a_batch_without_channels_is_convolved():
    report = checked(
        lambda x: F.conv1d(x, torch.ones(2, x.shape[1], 2)), torch.zeros(3, 4, 5), shapes=dynamic(3), min_size=0
    )
    assert report.guard()(args_0_dim_0=3, args_0_dim_1=0, args_0_dim_2=2)
    assert F.conv1d(torch.zeros(3, 0, 2), torch.ones(2, 0, 2)).shape == (3, 0, 1)


@pytest.mark.parametrize("number", [9, 1010, 1032, 1080, 1122, 1260])
def test_random_modules(number):
    """Modules of ``survey_exported_modules.py`` of which something wrong was said once."""
    found = held(drawn(number), number)
    assert not found["faults"] and found["counts"]["runs"] + found["counts"]["noted"]


KINDS = ("zeros", "random", "positive", "rising")


@pytest.mark.parametrize("number", [72, 129, 267, *range(6)])
def test_random_index_modules(number):
    """Modules of ``random_index_modules.py``: those that once had a wrong answer, and the first ones."""
    found = held(random_index_modules.drawn(number), number, KINDS)
    assert "unexported" in found or (not found["faults"] and sum(found["counts"].values()))


@pytest.mark.parametrize("number", range(3))
def test_random_index_modules_are_traced(number):
    assert not held_trace(random_index_modules.drawn(number), number, KINDS).get("faults")


def test_many_random_index_modules():
    for number in range(6, 36):
        found = held(random_index_modules.drawn(number), number, KINDS)
        assert not found.get("faults"), (number, found["faults"])
    for number in range(36, 56):
        found = held_trace(random_index_modules.drawn(number), number, KINDS)
        assert not found.get("faults"), (number, found["faults"])


def test_a_sort_has_each_position_and_its_inverse_too():
    """Mixtures of experts sort the tokens of a batch by expert, and put the results back."""

    def mixed(x, scores):
        order = scores.topk(2, -1)[1].reshape(-1).sort()[1]
        back = torch.empty_like(order)
        back[order] = torch.arange(order.shape[0])
        return x[order // 2][back]

    report = checked(mixed, torch.randn(7, 3), torch.randn(7, 5), shapes=dynamic(2, 2))
    assert not report.unanalysed
    assert str(report.condition) == "args_1_dim_0 <= args_0_dim_0 and args_1_dim_1 >= 2"
    picked = checked(lambda x, s: x[s.argsort()], torch.randn(7, 3), torch.randn(7), shapes=dynamic(2, 1))
    assert str(picked.condition) == "args_1_dim_0 <= args_0_dim_0"


def _written(indices):
    indices[0] = 100


def _written_by_view(indices):
    indices.view(-1).add_(3)


def _written_by_part(indices):
    with torch.no_grad():
        indices[:1].fill_(100)


@pytest.mark.parametrize("write", [_written, _written_by_view, _written_by_part])
@pytest.mark.parametrize("make", [lambda x: torch.arange(x.shape[0]), lambda x: x[:, 0].argsort()])
def test_elements_that_a_later_node_changes_are_unknown(write, make):
    def changed(x):
        indices = make(x)
        write(indices)
        return x[indices]

    report = checked(changed, torch.randn(7, 3), shapes=dynamic(2))
    assert report.verdict is not sb.Verdict.ALWAYS
    assert {u.op_type for u in report.unanalysed} == {"aten.index"}


def test_a_count_of_elements_is_at_most_the_size_of_its_axis():
    """Flaubert asserts that no sequence has more tokens than the batch has columns."""

    def longest(ids):
        return (ids != 2).sum(dim=1).max().item()

    def fits(ids):
        torch._check(longest(ids) <= ids.shape[1])
        return ids * 2

    def is_long(ids):
        torch._check(longest(ids) > 3)
        return ids * 2

    ids = torch.ones(3, 7, dtype=torch.int64)
    report = checked(fits, ids, shapes=dynamic(2))
    assert report.verdict is sb.Verdict.ALWAYS and not report.unanalysed
    assert str(checked(is_long, ids, shapes=dynamic(2)).condition) == "args_0_dim_1 >= 4"
