"""What is suggested to torch, and the faults of known models that are found without being told where."""

from __future__ import annotations

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
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


class Quarters(torch.nn.Module):
    def forward(self, x):
        return x[::2][::2] + x[::4]


def test_an_axis_is_left_to_torch_if_a_guard_holds_for_all_sizes():
    """Torch could not prove the guard, and it proves no more about a `Dim`."""
    program = torch.export.export(Quarters(), (torch.ones(37),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
    assert any("==" in guard for guard in program._guards_code)
    assert sb.torch.check(program).suggest().shapes == "{'x': {0: Dim.AUTO}}"
