"""Programs that torch exports in this run: graphs, guards, suggestions and comparisons, held against torch itself."""

from __future__ import annotations

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
import exported_models  # noqa: E402
from graph_runs import dynamic  # noqa: E402
from torch import nn  # noqa: E402

from symbcast.torch.export import evaluated_shapes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
Dim = torch.export.Dim


@pytest.fixture(scope="module")
def unet():
    case = exported_models.CASES["unet"]()
    return case, sb.torch.check(case.module, case.args, dynamic_shapes=case.named())


def test_a_graph_has_its_condition_shapes_and_lines(unet):
    _, report = unet
    assert report.verdict is sb.Verdict.SOMETIMES
    assert str(report.condition) == "H % 4 == 0 and W % 4 == 0"
    assert str(*report.outputs.values()) == "(batch, 2, 4*(H//4), 4*(W//4))"
    assert report.witness() == {"batch": 1, "H": 4, "W": 4}
    assert all("exported_models.py" in f.where for f in report.findings)
    assert "what PyTorch does on the CPU" in report.explain()
    assert not report.unanalysed


def test_guards_come_to_few_clauses(unet):
    _, report = unet
    assert len(report.guards) > len(report.guards.clauses)
    assert [c.text for c in report.guards.clauses] == ["H >= 8", "H % 4 == 0", "W >= 8", "W % 4 == 0"]
    assert all("exported_models.py" in c.where for c in report.guards.clauses)
    assert report.guards.ranges["H"] == (4, None)
    assert [str(s) for s in report.guards.specialised] == ["image.shape[1] == 3"]
    for text in ("torch wants", "H >= 8", "torch did not export it as requested"):
        assert text in report.explain()


def test_what_is_suggested_is_accepted(unet):
    case, report = unet
    assert report.refusal is not None
    suggestion = report.suggest()
    assert "{0: batch, 2: 4*_H, 3: 4*_W}" in str(suggestion)
    torch.export.export(case.module, case.args, dynamic_shapes=evaluated_shapes(suggestion))


def test_guards_that_refuse_what_runs(unet):
    case, report = unet
    found = report.compare(eager=case.module)
    assert {d.kind for d in found.disagreements} == {"too narrow"}
    for disagreement in found.disagreements:
        sizes = disagreement.sizes
        case.module(torch.zeros(sizes["batch"], 3, sizes["H"], sizes["W"]))
        assert not report.guards.condition.guard()(**sizes) and str(disagreement) in str(found)
    assert [d.sizes for d in found.disagreements] == [{"batch": 1, "H": 4, "W": 8}, {"batch": 1, "H": 8, "W": 4}]


def test_guards_in_other_languages(unet):
    _, report = unet
    assert report.guard()(batch=1, H=4, W=8) and not report.guard()(batch=1, H=6, W=8)
    assert "def accepts" in report.to_python("accepts") and "std::int64_t" in report.to_cpp()
    assert "define-fun" in report.to_smtlib()
    assert report.assertions() == "torch._check((image.shape[2] % 4) == 0)\ntorch._check((image.shape[3] % 4) == 0)"


class Picked(nn.Module):
    """Rows of the one tensor at the places of the other: the guards say nothing of how many there are."""

    def forward(self, x, y):
        return y[torch.arange(x.shape[0])] + x


def test_guards_that_let_through_what_fails():
    both = {0: Dim.AUTO}
    program = torch.export.export(
        Picked(), (torch.zeros(3, 4), torch.zeros(5, 4)), dynamic_shapes={"x": both, "y": both}
    )
    report = sb.torch.check(program)
    assert str(report.condition) == "x_dim_0 <= y_dim_0"
    assert not report.guards.clauses
    (found,) = report.compare().disagreements
    assert found.kind == "too wide" and found.sizes == {"x_dim_0": 2, "y_dim_0": 1}
    assert "IndexError" in found.error
    with pytest.raises(IndexError):
        program.module()(torch.zeros(2, 4), torch.zeros(1, 4))


def test_a_program_from_a_file_is_the_same(tmp_path, unet):
    case, report = unet
    path = tmp_path / "unet.pt2"
    torch.export.save(report.program, path)
    read = sb.torch.check(path, dynamic_shapes=case.named())
    assert (read.condition, read.guards.condition) == (report.condition, report.guards.condition)
    assert sb.torch.check(str(path)).witness() == {"image_dim_0": 1, "image_dim_2": 4, "image_dim_3": 4}
    path.write_bytes(b"no program")
    with pytest.raises(sb.ModelError, match="torch cannot read it"):
        sb.torch.check(path)
    with pytest.raises(sb.ModelError, match="no such file"):
        sb.torch.check(tmp_path / "other.pt2")
    with pytest.raises(sb.ShapeTypeError):
        sb.torch.check(3)


def test_what_is_known_is_put_in(unet):
    _, report = unet
    given = sb.torch.check(report.program, shapes={"image": "N, 3, 4*h, 4*w"})
    assert given.verdict is sb.Verdict.ALWAYS
    assert str(*given.outputs.values()) == "(N, 2, 4*h, 4*w)"
    assert sb.torch.check(report.program, bind={"image_dim_2": 6}).verdict is sb.Verdict.NEVER
    assumed = sb.torch.check(report.program, assume="image_dim_2 % 8 == 0")
    assert str(assumed.condition) == "image_dim_3 % 4 == 0"


def test_nested_arguments_are_named_by_the_way_into_them():
    case = exported_models.CASES["cached_attention"]()
    report = sb.torch.check(case.module, case.args, dynamic_shapes=case.named())
    suggestion = report.suggest()
    assert "'cache': {'k': {0: batch, 2: Dim.AUTO}, 'v': {0: batch, 2: Dim.AUTO}}" in suggestion.shapes
    torch.export.export(case.module, case.args, dynamic_shapes=evaluated_shapes(suggestion))
    assert set(report.guards.condition.guard().names.values()) == {"batch", "step", "total", "past"}
    assert report.guards.clauses[0].text in ("past + step == total", "step + past == total", "total == past + step")


class Gathered(nn.Module):
    def forward(self, a, *args, k):
        return a + args[0] + args[1]["z"] + k


@pytest.mark.parametrize("strict", [False, True])
def test_all_kinds_of_arguments_are_named(strict):
    axes = {0: Dim("n")}
    given = (torch.zeros(3, 7), torch.zeros(3, 7), {"z": torch.zeros(3, 7)}), {"k": torch.zeros(7)}
    shapes = {"a": axes, "args": (axes, {"z": {0: Dim.AUTO}}), "k": {0: Dim.AUTO}}
    try:
        program = torch.export.export(Gathered(), *given, dynamic_shapes=shapes, strict=strict)
    except Exception as error:
        pytest.skip(f"torch does not export it: {type(error).__name__}")
    report = sb.torch.check(program)
    assert not report.guards.unread
    texts = [a.text for a in report._model.declared.axes if a.is_dynamic]
    assert (
        texts == ["a.shape[0]", "args_0.shape[0]", "args_1['z'].shape[0]"]
        and "n" in report.guards.condition.guard().names.values()
    )


class Scaled(nn.Module):
    def forward(self, x, times=3, wide=True):
        return x[:, ::2] * times if wide else x


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        (torch.zeros(3, 4), None, "is not a tuple of arguments; give a tuple"),
        ((torch.zeros(3, 4),), [3], "(list) is not a dictionary of arguments"),
    ],
)
def test_arguments_of_another_kind_are_refused(args, kwargs, told):
    with pytest.raises(sb.ShapeTypeError) as error:
        sb.torch.check(Scaled(), args, kwargs)
    assert told in str(error.value)


def test_integers_and_truth_values_among_the_arguments():
    shapes = {"x": {0: Dim("n"), 1: Dim("m", min=3)}, "times": Dim.AUTO, "wide": None}
    report = sb.torch.check(Scaled(), (torch.zeros(3, 4),), {"times": 7, "wide": True}, dynamic_shapes=shapes)
    assert "Scaled" in report.explain() and report.verdict is sb.Verdict.ALWAYS
    assert report.suggest().shapes == "{'x': {0: n, 1: m}, 'times': Dim.AUTO, 'wide': None}"


def test_a_range_without_the_example_is_refused_in_torchs_words():
    report = sb.torch.check(Scaled(), (torch.zeros(3, 8),), dynamic_shapes={"x": {0: Dim("n", min=5)}})
    assert report.refusal is not None and "3 not in range [5, int_oo]" in " ".join(report.explain().split())


def test_dimensions_that_are_arithmetic_on_one():
    half = Dim("half", min=2)
    module = type("Sliced", (nn.Module,), {"forward": lambda self, x, y: x + y[::2]})()
    args = torch.zeros(4, 3), torch.zeros(8, 3)
    report = sb.torch.check(module, args, dynamic_shapes=({0: half}, {0: 2 * half}))
    assert [c.text for c in report.guards.clauses][-1] == "2*half == y_dim_0"
    assert report.guard()(half=3, y_dim_0=5) and not report.guard()(half=3, y_dim_0=7)


def test_sizes_that_torch_takes_for_1_too():
    from torch.fx.experimental import _config

    module = type("Sum", (nn.Module,), {"forward": lambda self, x, y: x + y})()
    with _config.patch(backed_size_oblivious=True):
        program = torch.export.export(module, (torch.zeros(1, 3), torch.zeros(1, 3)), dynamic_shapes=(dynamic(2) * 2))
    report = sb.torch.check(program)
    assert [c.text for c in report.guards.clauses] == ["x_dim_0 == y_dim_0", "x_dim_1 == y_dim_1"]
    assert not report.guard()(x_dim_0=2, x_dim_1=3, y_dim_0=3, y_dim_1=3)


def test_a_module_that_torch_does_not_export():
    class Prints(nn.Module):
        def forward(self, x):
            return x[: int(x.sum())].reshape(7, -1).nothing()

    with pytest.raises(sb.ModelError, match="torch does not export it"):
        sb.torch.check(Prints(), (torch.ones(3),))


def test_dynamic_shapes_by_place_name_sizes_too(unet):
    case, by_name = unet
    by_place = sb.torch.check(case.module, case.args, dynamic_shapes=tuple(case.named().values()))
    assert str(by_place.suggest()) == str(by_name.suggest())
    assert by_place.witness() == by_name.witness()


@pytest.mark.parametrize("axis", [4, -1, "H"])
def test_an_axis_that_there_is_not_is_refused(unet, axis):
    case, _ = unet
    with pytest.raises(sb.BindingError, match=r"has no axis .*; its 4 axes are counted from 0"):
        sb.torch.check(case.module, case.args, dynamic_shapes=({axis: Dim("H")},))


class Baked(nn.Module):
    """A module with a size written into a view."""

    def forward(self, x):
        heads = (x * 2).view(4, x.shape[1], 2, 4)
        return heads.transpose(1, 2)


class Looped(nn.Module):
    """A module with a loop over an axis."""

    def forward(self, x):
        return torch.stack([x[n] * n for n in range(x.shape[0])])


@pytest.mark.parametrize(("module", "needed", "line"), [(Baked(), True, False), (Looped(), False, True)])
def test_a_size_that_torch_fixed_has_the_line_that_needs_it(module, needed, line):
    report = sb.torch.check(module, (torch.zeros(4, 16, 8),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
    batch = report.guards.specialised[0]
    assert (batch.axis, batch.size, batch.was_open) == ("x.shape[0]", 4, True)
    first = type(module).forward.__code__.co_firstlineno + 1
    place = batch.needed_by if needed else batch.line
    assert place.endswith(f"test_programs.py:{first}")
    assert (bool(batch.needed_by), bool(batch.line)) == (needed, line)
    assert f"x.shape[0] == 4  ({'needed by view, ' if needed else ''}line " in " ".join(str(report).split("\n"))
