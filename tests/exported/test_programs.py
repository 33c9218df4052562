"""Programs that torch exports in this run: graphs, guards, suggestions and comparisons, held against torch itself."""

from __future__ import annotations

import itertools

import pytest

import symbcast as sb
from symbcast.algebra.symbols import symbol
from symbcast.logic.formulas import all_of
from symbcast.report.failures import dims_at
from symbcast.solver.evaluation import holds_at

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
import exported_models  # noqa: E402
import exported_others  # noqa: E402
from graph_runs import run  # noqa: E402
from torch import nn  # noqa: E402

from symbcast.torch.arguments import Arguments  # noqa: E402
from symbcast.torch.export import shapes_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
Dim = torch.export.Dim


def checked(function, *args, shapes, **options):
    """Return the report about a function of tensors, some of whose axes are dynamic."""

    class Module(nn.Module):
        def forward(self, *args):
            return function(*args)

    program = torch.export.export(Module(), args, dynamic_shapes=(shapes,))
    return sb.torch.check(program, **options)


def dynamic(*ranks):
    return tuple(dict.fromkeys(range(rank), Dim.AUTO) for rank in ranks)


@pytest.fixture(scope="module")
def unet():
    case = exported_models.CASES["unet"]()
    return case, sb.torch.check(case.module, case.args, dynamic_shapes=case.named())


def test_a_graph_has_its_condition_shapes_and_lines(unet):
    _, report = unet
    assert report.verdict is sb.Verdict.SOMETIMES
    assert str(report.condition) == "Eq(Mod(H, 4), 0) & Eq(Mod(W, 4), 0)"
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
    for text in ("torch wants", "H >= 8", "torch did not export it as it was asked to"):
        assert text in report.explain()


def test_what_is_suggested_is_accepted(unet):
    case, report = unet
    assert report.refusal is not None
    suggestion = report.suggest()
    assert "{0: batch, 2: 4*_H, 3: 4*_W}" in str(suggestion)
    torch.export.export(case.module, case.args, dynamic_shapes=shapes_of(suggestion))


def test_guards_that_refuse_what_runs(unet):
    case, report = unet
    found = report.compare(eager=case.module)
    assert {d.kind for d in found.disagreements} == {"too narrow"}
    for disagreement in found.disagreements:
        sizes = disagreement.sizes
        case.module(torch.zeros(sizes["batch"], 3, sizes["H"], sizes["W"]))
        assert not report.guards.env.guard()(**sizes) and str(disagreement) in str(found)
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


FAULTS = {
    # Ids of more batches than the mask has are let through, and then fail.
    "bert": ("too wide", {"input_ids_dim_0": 2, "attention_mask_dim_0": 1}, "IndexError"),
    # Images of 32 x 32 and less, down to one pixel, run and are refused.
    "resnet18": ("too narrow", {"x_dim_2": 1, "x_dim_3": 33}, ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_known_models_are_found_at_the_smallest_sizes(name):
    pytest.importorskip({"bert": "transformers", "resnet18": "timm"}[name])
    kind, sizes, error = FAULTS[name]
    case = exported_models.CASES[name]()
    report = sb.torch.check(case.module, case.args, case.kwargs, dynamic_shapes=case.auto())
    found = [d for d in report.compare().disagreements if d.kind == kind]
    assert any(sizes.items() <= d.sizes.items() and error in d.error for d in found), found
    assert all(d.sizes[other] == 1 for d in found[:1] for other in set(d.sizes) - set(sizes))


SUGGESTED = {
    "unet": "{0: batch, 2: 4*_H, 3: 4*_W}",
    "tcn": "{0: batch, 2: Dim.AUTO}",
    "fpn": "{0: batch, 2: Dim.AUTO, 3: Dim.AUTO}",
    "segmenter": "{0: batch, 2: Dim.AUTO, 3: Dim.AUTO}",
    "spectrum": "{0: batch, 1: Dim.AUTO}",
    "blocks": "{0: batch, 2: 8*_H, 3: 8*_W}, 'place': {1: None}",
}


@pytest.mark.parametrize("name", SUGGESTED)
def test_the_text_that_is_suggested_makes_torch_export_what_it_refused(name):
    case = {**exported_models.CASES, **exported_others.OTHERS}[name]()
    report = sb.torch.check(case.module, case.args, case.kwargs, dynamic_shapes=case.named())
    assert report.refusal is not None
    space = {}
    exec(str(report.suggest()), space)
    torch.export.export(case.module, case.args, case.kwargs, dynamic_shapes=space["dynamic_shapes"])
    assert SUGGESTED[name] in str(report.suggest())


def test_a_program_from_a_file_is_the_same(tmp_path, unet):
    case, report = unet
    path = tmp_path / "unet.pt2"
    torch.export.save(report.program, path)
    read = sb.torch.check(path, dynamic_shapes=case.named())
    assert (read.condition, read.guards.condition) == (report.condition, report.guards.condition)
    assert sb.torch.check(str(path)).witness() == {"image_dim_0": 1, "image_dim_2": 4, "image_dim_3": 4}
    path.write_bytes(b"no program")
    with pytest.raises(sb.ModelError, match="torch does not read it"):
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
    assert str(assumed.condition) == "Eq(Mod(image_dim_3, 4), 0)"


def test_nested_arguments_are_named_by_the_way_into_them():
    case = exported_models.CASES["cached_attention"]()
    report = sb.torch.check(case.module, case.args, dynamic_shapes=case.named())
    suggestion = report.suggest()
    assert "'cache': {'k': {0: batch, 2: Dim.AUTO}, 'v': {0: batch, 2: Dim.AUTO}}" in suggestion.shapes
    torch.export.export(case.module, case.args, dynamic_shapes=shapes_of(suggestion))
    assert set(report.guards.env.shown.values()) == {"batch", "step", "total", "past"}
    assert report.guards.clauses[0].text in ("past + step == total", "step + past == total", "total == past + step")


def test_an_operator_that_is_not_known_has_the_shape_that_torch_recorded():
    report = checked(lambda x: torch.linalg.qr(x)[0] + 1, torch.randn(3, 5, 4), shapes=dynamic(3))
    assert [u.op_type for u in report.unanalysed] == ["aten.linalg_qr"]
    (shape,) = report.outputs.values()
    assert len(shape) == 3
    assert report.verdict is not sb.Verdict.ALWAYS


def test_what_the_program_asserts_is_asked():
    def function(x):
        torch._check(x.shape[0] * 2 <= x.shape[1] + 4)
        return x.sum()

    report = checked(function, torch.zeros(3, 7), shapes=dynamic(2))
    assert not report.guards.unread
    accepts = report.guards.env.guard()
    assert [accepts(args_0_dim_0=n, args_0_dim_1=m) for n, m in ((3, 2), (4, 3), (5, 6))] == [True, False, True]


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
    texts = [a.text for a in report._question.inputs.axes if a.is_dynamic]
    assert (
        texts == ["a.shape[0]", "args_0.shape[0]", "args_1['z'].shape[0]"] and "n" in report.guards.env.shown.values()
    )


class Scaled(nn.Module):
    def forward(self, x, times=3, wide=True):
        return x[:, ::2] * times if wide else x


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        (torch.zeros(3, 4), None, "is not a tuple of arguments; give args=(x,)"),
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
    "window": (lambda x: x.unfold(1, 3, 2).amax(-1), (3, 9)),
    "repeated": (lambda x: x.repeat(2, 3)[1:-1, ::2], (3, 5)),
    "scaled": (lambda x: torch.nn.functional.interpolate(x, scale_factor=1.5, mode="linear"), (2, 3, 8)),
    "adaptive": (lambda x: torch.nn.functional.adaptive_avg_pool1d(x, 3).argmax(1), (2, 3, 8)),
    "chosen": (lambda x: x.topk(3, 1)[0].cumsum(1), (2, 6)),
    "counted": (lambda x: x + torch.arange(x.shape[1])[None, 1:].sum(), (2, 6)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_run_where_they_are_said_to(name):
    """Each is run at all sizes from 1 to 7 of two axes, whatever the guards say, and all shapes are compared."""
    function, shape = FUNCTIONS[name]
    report = checked(function, torch.randn(shape), shapes=dynamic(len(shape)))
    assert not report.unanalysed
    names = [a.size.name for a in report._question.inputs.axes if a.is_dynamic]
    arguments = Arguments(report.program, report._question.inputs)
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
