"""Operators of exported graphs, held against torch at all small sizes, and what is not followed."""

from __future__ import annotations

import itertools

import pytest

import symbcast as sb
from symbcast.answers.findings import dims_at
from symbcast.core.algebra.formulas import all_of
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
from graph_runs import checked, dynamic, run  # noqa: E402
from torch import nn  # noqa: E402

from symbcast.torch.guards.comparison import ArgumentMaker  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class Chosen(nn.Module):
    """Rows or columns of three, as data decide."""

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.view(-1, 3).sum(0), lambda x: x.view(3, -1).sum(1), (x,))


def test_branches_that_data_choose():
    """Each branch asks the same, so that it is asked whatever data choose; lines are those of the call."""
    program = torch.export.export(Chosen(), (torch.zeros(6, 6),), dynamic_shapes=dynamic(2))
    report = sb.torch.check(program)
    assert str(report.condition) == "x_dim_0*x_dim_1 % 3 == 0" and not report.unanalysed
    assert all("test_operators.py" in f.where for f in report.findings)


def test_a_loop_over_rows_keeps_its_state_and_stacks_what_it_makes():
    from torch._higher_order_ops.scan import scan

    def function(x):
        return scan(lambda held, row: (held + row, held * row), torch.zeros(x.shape[1]), x)[1]

    report = checked(function, torch.zeros(4, 3), shapes=dynamic(2))
    assert not report.unanalysed and report.verdict is sb.Verdict.ALWAYS
    assert [str(s) for s in report.outputs.values()] == ["(args_0_dim_0, args_0_dim_1)"]


def test_a_factor_whose_products_floats_round_leaves_the_verdict_open():
    def enlarged(factor):
        return checked(
            lambda x: nn.functional.interpolate(x, scale_factor=factor),
            torch.zeros(1, 2, 9),
            shapes=({2: torch.export.Dim.AUTO},),
        )

    exact, rounded = enlarged(2.5), enlarged(0.7)
    assert [str(s) for s in exact.outputs.values()] == ["(1, 2, 5*args_0_dim_2//2)"]
    assert exact.verdict is sb.Verdict.ALWAYS
    # 1 times 0.7 is 0, which torch refuses.
    assert rounded.verdict is sb.Verdict.UNKNOWN


def test_an_operator_that_is_not_known_has_the_shape_that_torch_recorded():
    report = checked(lambda x: torch.hash_tensor(x @ x.mT, 0, keepdim=True), torch.randn(3, 5, 4), shapes=dynamic(3))
    assert [u.op_type for u in report.unanalysed] == ["aten.hash_tensor"]
    (shape,) = report.outputs.values()
    assert len(shape) == 3
    assert report.verdict is not sb.Verdict.ALWAYS


def test_operators_in_place_are_those_whose_result_they_write():
    def written(x, y):
        return (x * 1).abs_().addmm_(x, y).masked_fill_(x > 0, 1.0).clamp_(min=y[0])

    report = checked(written, torch.randn(4, 4), torch.randn(4, 4), shapes=dynamic(2, 2), min_size=2)
    assert not report.unanalysed
    assert str(report.condition) == "args_0_dim_1 == args_1_dim_0 and args_0_dim_1 == args_1_dim_1"
    strided = checked(lambda x: (x * 1).as_strided_((2, 2), (1, 2)), torch.randn(3, 3), shapes=dynamic(2))
    assert str(strided.condition) == "args_0_dim_0*args_0_dim_1 >= 4" and not strided.unanalysed
    limited = checked(lambda x, y: (x * 1).clamp_(min=y), torch.randn(4, 5), torch.randn(5), shapes=dynamic(2, 1))
    assert str(limited.condition) == "args_1_dim_0 == 1 or args_1_dim_0 == args_0_dim_1"


def test_strides_beyond_a_part_of_a_tensor_are_left_open():
    """A part of a tensor shares the storage of the whole tensor."""
    report = checked(lambda x: x[1:].as_strided((4,), (2,)), torch.ones(9), shapes=dynamic(1))
    assert [u.op_type for u in report.unanalysed] == ["aten.as_strided"]
    whole = checked(lambda x: (x + 1).as_strided((4,), (2,)), torch.ones(9), shapes=dynamic(1))
    assert not whole.unanalysed and str(whole.condition) == "args_0_dim_0 >= 7"


def test_what_the_program_asserts_is_asked():
    def function(x):
        torch._check(x.shape[0] * 2 <= x.shape[1] + 4)
        return x.sum()

    report = checked(function, torch.zeros(3, 7), shapes=dynamic(2))
    assert not report.guards.unread
    accepts = report.guards.condition.guard()
    assert [accepts(args_0_dim_0=n, args_0_dim_1=m) for n, m in ((3, 2), (4, 3), (5, 6))] == [True, False, True]


FUNCTIONS = {
    "halves": (lambda x: x[:, : x.shape[1] // 2] + x[:, x.shape[1] // 2 :], (4, 6)),
    "heads": (lambda x: x.reshape(x.shape[0], -1, 4).transpose(1, 2).flatten(1), (3, 8)),
    "pool": (lambda x: torch.nn.functional.max_pool1d(x, 3, 2, 1, ceil_mode=True), (2, 3, 9)),
    "average": (lambda x: torch.nn.functional.avg_pool1d(x, 2).mean(-1), (2, 3, 8)),
    "padded": (lambda x: torch.nn.functional.pad(x, (2, 1), mode="reflect"), (2, 3, 8)),
    "outer": (lambda x: (x[:, None] @ x[:, :, None]).squeeze(-1), (3, 4)),
    "chunks": (lambda x: torch.cat(x.chunk(2, 1)[::-1], 1), (3, 8)),
    "stacked": (lambda x: torch.stack([x, x * 2], 1).sum(0).expand(3, 2, -1), (3, 5)),
    "einsum": (lambda x: torch.einsum("ij,kj->ik", x, x).tril(), (3, 5)),
    "stacks": (lambda x: torch.vstack([torch.hstack([x, x]), torch.column_stack([x, x * 2])]), (3, 5)),
    "blocks": (lambda x: torch.block_diag(x, x[0], x.T), (3, 5)),
    "uneven": (lambda x: torch.cat(x.tensor_split(3, 1)[::-1], 1).cummax(0).values, (3, 8)),
    "losses": (lambda x: torch.nn.functional.mse_loss(x, x[:1]) + x.floor_divide(2), (3, 5)),
    "strided": (lambda x: x.as_strided((x.shape[0], 2), (x.shape[1], 1)), (3, 5)),
    "window": (lambda x: x.unfold(1, 3, 2).amax(-1), (3, 9)),
    "repeated": (lambda x: x.repeat(2, 3)[1:-1, ::2], (3, 5)),
    "scaled": (lambda x: torch.nn.functional.interpolate(x, scale_factor=1.5, mode="linear"), (2, 3, 8)),
    "adaptive": (lambda x: torch.nn.functional.adaptive_avg_pool1d(x, 3).argmax(1), (2, 3, 8)),
    "chosen": (lambda x: x.topk(3, 1)[0].cumsum(1), (2, 6)),
    "branches": (
        lambda x: torch.cond(x.shape[0] > 4, lambda x: x.view(-1, 3).sum(0), lambda x: x.view(3, -1).sum(1), (x,)),
        (6, 6),
    ),
    "counted": (lambda x: x + torch.arange(x.shape[1])[None, 1:].sum(), (2, 6)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_run_where_they_are_said_to(name):
    """Each is run at all sizes from 1 to 7 of two axes, whatever the guards say, and all shapes are compared."""
    function, shape = FUNCTIONS[name]
    report = checked(function, torch.randn(shape), shapes=dynamic(len(shape)))
    assert not report.unanalysed
    names = [a.size.name for a in report._model.declared.axes if a.is_dynamic]
    arguments = ArgumentMaker(report.program, report._model.declared)
    for sizes in exhausted(names):
        real, error = run(report.program, arguments.at(sizes))
        at = {symbol(n): size for n, size in sizes.items()}
        assert (real is not None) is holds_at(all_of(report._env.clauses), at), (sizes, error)
        for value, found in (real or {}).items():
            if report.shapes.get(value) is not None:
                assert tuple(dims_at(report.shapes[value].dims, at)) == found, (value, sizes)


def exhausted(names):
    for point in itertools.product(range(1, 8), repeat=min(len(names), 2)):
        yield {name: point[n] if n < len(point) else 5 for n, name in enumerate(reversed(names))}


def holds_where_it_runs(function, *tensors, sizes_of_axes=(1, 2, 3, 4)):
    """Hold the condition and the outputs of a function against calls with random tensors of small sizes."""
    report = checked(function, *tensors, shapes=dynamic(*(t.dim() for t in tensors)))
    assert not report.unanalysed, report.unanalysed
    names = [f"args_{n}_dim_{axis}" for n, t in enumerate(tensors) for axis in range(t.dim())]
    guard = report.condition.guard()
    known = set(guard.names.values())
    (output,) = report.outputs.values()
    for sizes in itertools.product(sizes_of_axes, repeat=len(names)):
        left = iter(sizes)
        given = [torch.randn([next(left) for _ in t.shape]) for t in tensors]
        at = dict(zip(names, sizes, strict=True))
        try:
            expected = tuple(function(*given).shape)
        except RuntimeError:
            assert not guard({n: v for n, v in at.items() if n in known}), at
            continue
        assert guard({n: v for n, v in at.items() if n in known}), at
        assert tuple(dims_at(output.dims, {symbol(n): v for n, v in at.items()})) == expected


def test_linear_algebra_of_tensors_with_several_axes():
    torch.manual_seed(0)
    holds_where_it_runs(lambda x: torch.linalg.tensorinv(x, ind=1), torch.randn(6, 2, 3))
    holds_where_it_runs(lambda x: torch.linalg.tensorinv(x, ind=2), torch.randn(2, 3, 6))
    holds_where_it_runs(torch.linalg.tensorsolve, torch.randn(2, 3, 6), torch.randn(2, 3))
    holds_where_it_runs(lambda x, y: torch.linalg.tensorsolve(x, y, dims=(0,)), torch.randn(6, 2, 3), torch.randn(2, 3))


def test_a_size_is_the_number_of_groups():
    def blurred(x, weight):
        return nn.functional.conv1d(x, weight[:, None].repeat(x.shape[1], 1, 1), groups=x.shape[1])

    def spread(x, weight):
        return nn.functional.conv_transpose1d(x, weight[None].expand(x.shape[1], -1, -1), groups=x.shape[1])

    sizes = (1, 2, 4)
    holds_where_it_runs(blurred, torch.randn(2, 3, 5), torch.randn(2, 3), sizes_of_axes=sizes)
    holds_where_it_runs(spread, torch.randn(2, 3, 4), torch.randn(2, 3), sizes_of_axes=sizes)


def test_positions_stay_within_their_bounds_where_they_are_joined_and_padded():
    def function(x):
        first, second = x.argmax(-1).unbind(0)
        found = nn.utils.rnn.pad_sequence([first.unique(), second.unique()], batch_first=True)
        return x.sum(1).gather(1, nn.functional.pad(found, (1, 0), value=0))

    report = checked(function, torch.randn(2, 5, 4), shapes=dynamic(3))
    assert not report.unanalysed


def test_a_mapped_function_is_read_without_its_mapped_axis():
    batch = torch.export.Dim("B")

    class Mapped(nn.Module):
        def forward(self, x, y):
            return torch.vmap(lambda a, b: a @ b + b.sum())(x, y)

    auto = torch.export.Dim.AUTO
    example = torch.zeros(5, 3, 4), torch.zeros(5, 4, 2)
    shapes = {0: batch, 1: auto, 2: auto}, {0: batch, 1: auto, 2: auto}
    report = sb.torch.check(Mapped(), example, dynamic_shapes=shapes)
    assert not report.unanalysed and str(report.condition) == "x_dim_2 == y_dim_1"
    assert [str(s) for s in report.outputs.values()] == ["(B, x_dim_1, y_dim_2)"]
    # Torch broadcasts mapped axes that differ, so they may also run where one of them is 1.
    report = sb.torch.check(Mapped(), example, dynamic_shapes=({0: auto}, {0: auto}))
    assert any("mapped over must be equal" in u.reason for u in report.unanalysed)
    assert torch._C._functorch.maybe_current_level() is None  # torch's run that failed within the map is over


@pytest.mark.parametrize(("limit", "condition"), [(0.5, "True"), (-0.5, "False")])
def test_an_assertion_about_constants_is_computed(limit, condition):
    def function(x):
        limits = torch.tensor([limit, 2.0])
        torch._assert_async((limits >= 0).all() & (limits.sqrt() < 2).all())
        return x * limits

    report = checked(function, torch.ones(3, 2), shapes=dynamic(2))
    assert not report.unanalysed and str(report.condition) == condition


def test_a_common_element_type_asks_for_nothing():
    def function(x, y):
        return x.to(torch.promote_types(x.dtype, y.dtype)) + y

    report = checked(function, torch.ones(3), torch.ones(3, dtype=torch.float64), shapes=dynamic(1, 1))
    assert not report.unanalysed
