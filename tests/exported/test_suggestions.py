"""What is suggested to torch, and the faults of known models that are found without being told where."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")

from symbcast.torch.guards.suggestions import ranges_of  # noqa: E402

pytest.importorskip("torch.export")
import exported_models  # noqa: E402
import exported_others  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


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
    "tcn": "{0: batch, 2: 8*_time + 6}",
    "fpn": "{0: batch, 2: Dim.AUTO, 3: Dim.AUTO}",
    "segmenter": "{0: batch, 2: Dim.AUTO, 3: Dim.AUTO}",
    "spectrum": "{0: batch, 1: Dim.AUTO}",
    "blocks": "{0: batch, 2: 8*_H, 3: 8*_W}, 'place': {1: Dim.STATIC}",
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


def again(function, args, spec):
    """Export a function with the dynamic shapes that are suggested after an export with others."""

    class Module(torch.nn.Module):
        def forward(self, *args):
            return function(*args)

    report = sb.torch.check(Module(), args, dynamic_shapes=(spec,))
    space = {}
    exec(str(report.suggest()), space)
    return torch.export.export(Module(), args, dynamic_shapes=space["dynamic_shapes"])


def accepts(program, *args):
    try:
        program.module()(*args)
    except Exception:  # whatever it says
        return False
    return True


def test_a_suggestion_keeps_the_range_that_was_given():
    program = again(lambda x: x.reshape(100, -1), (torch.ones(200),), ({0: torch.export.Dim("n", max=5000)},))
    assert accepts(program, torch.ones(4900)) and not accepts(program, torch.ones(5100))
    a = torch.export.Dim("a", min=2, max=16)
    args = torch.ones(3, 4), torch.ones(6, 4)
    program = again(lambda x, y: torch.cat([x, x]) * y, args, ({0: a}, {0: 2 * a}))
    assert accepts(program, torch.ones(9, 4), torch.ones(18, 4))
    assert not accepts(program, torch.ones(20, 4), torch.ones(40, 4))


F, AUTO = torch.nn.functional, torch.export.Dim.AUTO
UNPROVEN = {
    "a remainder by a size": (
        lambda x: torch.linalg.vector_norm(F.max_pool2d(x[None, None], (4, 2), 3, (1, 1)), 1, dim=2),
        torch.ones(2, 6),
        {1: AUTO},
    ),
    "a size times a float": (lambda x: F.interpolate(x, scale_factor=0.75) + 0, torch.ones(1, 2, 8), {2: AUTO}),
    "a rounded size": (lambda x: torch.ones(int(x.shape[0] * 0.5)), torch.ones(6), {0: AUTO}),
    "a size that floats round": (lambda x: torch.ones(int(x.shape[0] * 0.7)), torch.ones(9), {0: AUTO}),
    "a root": (lambda x: torch.ones(int(x.shape[0] ** 0.5)), torch.ones(9), {0: AUTO}),
}


@pytest.mark.parametrize("name", UNPROVEN)
def test_an_axis_whose_guard_torch_does_not_prove_is_left_to_torch(name):
    """Without the module nothing is tried, so a `Dim` is suggested only where torch surely proves the guards."""
    function, example, spec = UNPROVEN[name]

    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    space = {}
    program = torch.export.export(Module(), (example,), dynamic_shapes={"x": spec})
    exec(str(sb.torch.check(program).suggest()), space)
    torch.export.export(Module(), (example,), dynamic_shapes=space["dynamic_shapes"])


class Quarters(torch.nn.Module):
    def forward(self, x):
        return x[::2][::2] + x[::4]


def test_an_axis_is_left_to_torch_if_a_guard_holds_for_all_sizes():
    """Torch could not prove the guard, and it proves no more about a `Dim`."""
    program = torch.export.export(Quarters(), (torch.ones(37),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
    assert any("==" in guard for guard in program._guards_code)
    assert sb.torch.check(program).suggest().shapes == "{'x': {0: Dim.AUTO}}"


class Larger(torch.nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] > 4 else x


def test_a_contract_is_exported_again_before_it_is_given():
    report = sb.torch.check(Larger(), (torch.ones(6),), dynamic_shapes={"x": {0: torch.export.Dim("n")}})
    assert "min=5, max=9" in report.contract(n="5..9").to("torch")
    with pytest.raises(sb.TargetError, match="torch refuses it"):
        report.contract(n="2..9").to("torch")
    assert report.contract(n="2..9").to("json")


class Folded(torch.nn.Module):
    def forward(self, x):
        return x.unflatten(-1, (-1, 4)).sum(-2)


def test_a_contract_has_only_sizes_that_its_program_takes():
    """Torch exports the text for 4 to 64, but the program refuses 4: a part of size 1 would broadcast."""
    report = sb.torch.check(Folded(), (torch.ones(3, 8),), dynamic_shapes={"x": {1: torch.export.Dim("H")}})
    with pytest.raises(sb.TargetError, match="takes only sizes at which H >= 8"):
        report.contract(H="4..64", form="steps").to("torch")
    assert "4*_H" in report.contract(H="8..64", form="steps").to("torch")


DIM = torch.export.Dim
KEPT = {
    "a multiple": (
        lambda x, y: torch.cat([x, x]) * y,
        ((3, 4), (6, 4)),
        ({0: DIM.AUTO(max=16)}, {0: AUTO}),
        "{0: x}, 'y': {0: 2*x}",
    ),
    "a sum": (
        lambda x, y: x[3:] + y,
        ((8,), (5,)),
        ({0: DIM.AUTO(max=20)}, {0: DIM.AUTO(min=4)}),
        "{0: y + 3}, 'y': {0: y}",
    ),
    "multiples of one size": (
        lambda x, y: x.view(-1, 4)[:, 0] + y.view(-1, 6)[:, 0],
        ((16,), (24,)),
        ({0: DIM.AUTO(max=41)}, {0: AUTO}),
        "{0: 4*_x}, 'y': {0: 6*_x}",
    ),
    "three axes": (
        lambda x, y: torch.cat([x[1:], x]) + y.reshape(3, -1)[0],
        ((5,), (27,)),
        ({0: AUTO}, {0: DIM.AUTO(max=63)}),
        "{0: x}, 'y': {0: 6*x - 3}",
    ),
    "no line": (lambda x, y: x + y[::2], ((4,), (8,)), ({0: DIM.AUTO(max=9)}, {0: AUTO}), "Dim.AUTO(max=9)"),
}


@pytest.mark.parametrize("name", KEPT)
def test_ranges_and_relations_of_axes_are_kept(name):
    function, shapes, (x, y), said = KEPT[name]

    class Module(torch.nn.Module):
        def forward(self, x, y):
            return function(x, y)

    args = tuple(map(torch.ones, shapes))
    report = sb.torch.check(Module(), args, dynamic_shapes={"x": x, "y": y})
    for suggestion in (report.suggest(), sb.torch.check(report.program).suggest()):
        text = str(suggestion).replace("_dim_0", "")
        assert said in text, text
        space = {}
        exec(str(suggestion), space)
        program = torch.export.export(Module(), args, dynamic_shapes=space["dynamic_shapes"])
        now = sb.torch.check(program, dynamic_shapes={"x": {0: DIM("x_dim_0")}, "y": {0: DIM("y_dim_0")}}).guards
        assert (now.condition & report.guards.condition).equivalent(report.guards.condition)
        assert accepts(program, *args)


def test_a_range_that_torch_cannot_keep_leaves_the_others():
    """The code needs n >= 10, so the given range of n is lost, and that of B stays."""

    class Module(torch.nn.Module):
        def forward(self, x):
            return x[:, 8:].view(x.shape[0], -1, 2)

    shapes = {"x": {0: DIM("B", max=8), 1: DIM("n", max=9)}}
    report = sb.torch.check(Module(), (torch.ones(3, 12),), dynamic_shapes=shapes)
    assert report.refusal is not None and report.guards.condition.implies("B <= 8")
    assert "max=8" in str(report.suggest())


def test_repaired_shapes_keep_the_ranges_that_they_had():
    class Module(torch.nn.Module):
        def forward(self, xs):
            return xs[0]["a"].reshape(4, -1).sum() + xs[1]["b"].reshape(5, -1).sum()

    args = ([{"a": torch.ones(8)}, {"b": torch.ones(10)}],)
    shapes = {"xs": [{"a": {0: DIM("n", max=50)}}, {"b": {0: DIM("m", min=7, max=40)}}]}
    with pytest.raises(Exception, match="Constraints violated") as error:
        torch.export.export(Module(), args, dynamic_shapes=shapes)
    (n, m) = (next(iter(inner.values()))[0] for inner in sb.torch.read_error(error.value).repaired(shapes)["xs"])
    assert (n.__name__, n.min, n.max, m.__name__, m.min, m.max) == ("4*_n", 8, 48, "5*_m", 10, 40)
    assert "_n = Dim('_n', min=2, max=12)" in str(sb.torch.read_error(error.value).suggest())


def test_a_hint_that_torch_refuses_is_opened_with_its_range():
    shapes = {"input": {0: DIM.DYNAMIC(max=50), 1: DIM.DYNAMIC}}
    report = sb.torch.check(torch.nn.Linear(6, 2), (torch.ones(3, 6),), dynamic_shapes=shapes)
    assert report.refusal is not None and str(report.guards.condition) == "input_dim_0 <= 50"


def test_a_minimum_is_written_unless_guards_refuse_all_sizes_below_it():
    class Halved(torch.nn.Module):
        def forward(self, x, y):
            return x.reshape(-1, 2), y[8:].sum() if y.shape[0] > 7 else y

    shapes = {"x": {0: DIM.AUTO(min=8, max=48)}, "y": {0: DIM.AUTO(min=8)}}
    report = sb.torch.check(Halved(), (torch.ones(12), torch.ones(12)), dynamic_shapes=shapes)
    declared = report._model.declared
    texts = ranges_of(declared, report.guards, [axis.source for axis in declared.axes]).texts
    # 7 is odd, but 6 is not.
    assert list(texts.values()) == ["Dim.AUTO(min=8, max=48)", "Dim.AUTO"]


def test_an_error_of_torch_about_its_own_words_leaves_the_dims_to_torch():
    refusal = sb.torch.read_error("Cannot create Dim with inconsistent min=1, max=1")
    (hint,) = refusal.repaired({"x": {0: DIM("n", max=9)}})["x"].values()
    assert "torch refuses the Dims" in refusal.explain() and (hint.max, hint.type) == (9, AUTO.type)


@pytest.mark.parametrize("number", [48, 81, 82, 84, 356, 21, 1050, 1306])
def test_a_drawn_module_keeps_its_sizes(number):
    """Each was wrong once; 21 relates the axes of its inputs."""
    script = Path(__file__).parents[1] / "surveys" / "suggested_shapes.py"
    command = [sys.executable, "-P", str(script), "1", "--start", str(number), "--within"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["faults"] == [] and found["counts"]["accepted points"]


ENDS = """
import os
import torch
import symbcast as sb

exports = []

class Ends(torch.nn.Module):
    def forward(self, x):
        exports.append(x.shape)
        if len(exports) > 1:
            os._exit(3)
        return x.view(-1, 4)

report = sb.torch.check(Ends(), (torch.ones(8),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
print(report.suggest().shapes, len(exports))
"""


def test_an_export_that_ends_its_process_is_no_acceptance():
    """In a process without other threads: beside some, an export stays in its process."""
    done = subprocess.run([sys.executable, "-P", "-c", ENDS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "{'x': {0: Dim.AUTO}} 1\n"), done.stderr
