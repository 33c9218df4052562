"""A module that is exported for a range of sizes: its dynamic shapes, bounds, input checks and texts for runtimes."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

import symbcast as sb

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")

pytestmark = pytest.mark.filterwarnings("ignore")
DIM = torch.export.Dim


class Decoder(torch.nn.Module):
    """The table ends at 64 positions, which torch's guards do not say; both batches must be equal, which they do."""

    def __init__(self):
        super().__init__()
        self.table, self.last = torch.nn.Embedding(64, 8), torch.nn.Linear(8, 6)

    def forward(self, ids, state):
        h = self.table(torch.arange(ids.shape[1]))[None] + ids[..., None]
        return self.last(h).reshape(ids.shape[0], -1, 3, 2).sum(1) + state.view(-1, 3, 2)


EXAMPLE = torch.zeros(3, 5), torch.zeros(3, 6)
NAMED = {"ids": {0: DIM("B", max=16), 1: DIM("T")}, "state": {0: DIM("C")}}


@pytest.fixture(scope="module")
def deployed():
    return sb.torch.deploy(Decoder(), EXAMPLE, dynamic_shapes=NAMED)


def test_a_deployment_is_for_graph_guards_and_ranges(deployed):
    assert str(deployed.condition) == "B >= 2 and B <= 16 and T >= 2 and T <= 64"
    assert deployed.ranges == {"B": (2, 16), "T": (2, 64)}
    assert "{'ids': {0: B, 1: T}, 'state': {0: B}}" in str(deployed.suggestion)
    assert deployed.bounds().values["embedding"].bytes.greatest == 64 * 8 * 4
    space = {}
    exec(deployed.to("torch"), space)
    torch.export.export(Decoder(), EXAMPLE, dynamic_shapes=space["dynamic_shapes"])


def test_what_the_checks_take_runs(deployed):
    space, program = {}, deployed.program.module()
    exec(deployed.to_python(), space)
    rows = [
        ((b, t), (c, w)) for b, t, c, w in itertools.product((1, 2, 3, 16, 17), (1, 2, 64, 65), (2, 3, 16, 17), (5, 6))
    ]
    taken = [row for row in rows if space["accepts"](row)]
    assert taken == [((b, t), (b, 6)) for b in (2, 3, 16) for t in (2, 64)]
    for row in taken:
        program(*map(torch.zeros, row))
    assert deployed.accepts(*map(torch.zeros, taken[0])) and not deployed.accepts(torch.zeros(taken[0][0]))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_the_check_in_cpp_is_that_in_python(deployed, tmp_path):
    rows = [((b, t), (c, 6)) for b, t, c in itertools.product((0, 1, 2, 16, 17), (2, 64, 65), (2, 16))]
    rows += [((2, 2, 1), (2, 6)), ((2, 2),), ((2, 2), (2, 5))]
    space, calls = {}, []
    exec(deployed.to_python(), space)
    for row in rows:
        shapes = ", ".join("{" + ", ".join(map(str, shape)) + "}" for shape in row)
        calls.append(f"    std::cout << accepts({{{shapes}}});")
    main = "\n".join(["#include <iostream>", "int main() {", *calls, "}", ""])
    (tmp_path / "check.cpp").write_text(f"{deployed.to('aoti')}\n{main}", "utf-8")
    command = ["g++", "-std=c++17", "-Wall", "-Werror", str(tmp_path / "check.cpp"), "-o", str(tmp_path / "check")]
    subprocess.run(command, check=True)
    answers = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=True).stdout
    assert [answer == "1" for answer in answers] == [space["accepts"](row) for row in rows]


def test_texts_for_runtimes(deployed):
    assert "upper_bounds = {'ids': (16, 64), 'state': (16, 6)}" in deployed.to("executorch")
    assert "min_shape=(2, 2), opt_shape=(16, 64), max_shape=(16, 64)" in deployed.to("torch_tensorrt")
    marks = [line for line in deployed.to("vllm").splitlines() if line.startswith("mark")]
    assert marks[0] == "mark_unbacked(ids, 0, shape_id='B', min=2, max=16)" and "shape_id='B'" in marks[2]
    endless = sb.torch.deploy(torch.nn.ReLU(), (torch.zeros(3, 4),))
    with pytest.raises(sb.TargetError, match="input_dim_0 has none"):
        endless.to("executorch")
    with pytest.raises(sb.TargetError, match="aoti, executorch, torch_tensorrt, vllm"):
        endless.to("coreml")


def test_marked_axes_are_compiled_once():
    """The marks and checks for vLLM make one entry serve all sizes."""
    from torch._dynamo.testing import CompileCounter

    def double(x, y):
        return torch.cat([x, x]) * y

    class Double(torch.nn.Module):
        def forward(self, x, y):
            return double(x, y)

    args = torch.ones(3, 4), torch.ones(6, 4)
    text = sb.torch.deploy(
        Double(), args, ranges={"x_dim_0": "2..9"}, dynamic_shapes=({0: DIM.AUTO}, {0: DIM.AUTO})
    ).to("vllm")
    marks, _, checks = text.partition("# at the start of forward:")
    lines = [line.removeprefix("# ") for line in checks.splitlines() if line]
    assert lines == ["torch._check(2*x.shape[0] == y.shape[0])"]

    def checked(x, y):
        torch._check(2 * x.shape[0] == y.shape[0])
        return double(x, y)

    counter = CompileCounter()
    compiled = torch.compile(checked, backend=counter, fullgraph=True)
    for size in (3, 2, 9, 5):
        x, y = torch.ones(size, 4), torch.ones(2 * size, 4)
        exec(marks, {"x": x, "y": y})
        assert compiled(x, y).shape == (2 * size, 4)
    assert counter.frame_count == 1


def test_ranges_and_examples_that_do_not_fit():
    with pytest.raises(sb.BindingError, match="the example has B=3"):
        sb.torch.deploy(Decoder(), EXAMPLE, dynamic_shapes=NAMED, ranges={"B": "4..8"})
    with pytest.raises(sb.BindingError, match="Q is no open size"):
        sb.torch.deploy(Decoder(), EXAMPLE, dynamic_shapes=NAMED, ranges={"Q": "4..8"})
    stepped = sb.torch.deploy(torch.nn.ReLU(), (torch.zeros(32, 4),), ranges={"input_dim_0": "32..96 step 32"})
    assert "{0: 32*_input_dim_0" in str(stepped.suggestion) and stepped.accepts(torch.zeros(64, 9))
    assert not stepped.accepts(torch.zeros(33, 9)) and not stepped.accepts(torch.zeros(128, 9))


def test_ranges_come_from_several_examples():
    examples = [(torch.zeros(1, 5), torch.zeros(1, 6)), (torch.zeros(4, 20), torch.zeros(4, 6))]
    found = sb.torch.deploy(Decoder(), EXAMPLE, examples=examples)
    assert found.ranges == {"ids_dim_0": (2, 4), "ids_dim_1": (5, 20)}
    assert found.accepts(torch.zeros(4, 5), torch.zeros(4, 6)) and not found.accepts(
        torch.zeros(5, 5), torch.zeros(5, 6)
    )
    with pytest.raises(sb.BindingError, match="differ in structure"):
        sb.torch.deploy(Decoder(), EXAMPLE, examples=[(torch.zeros(2, 3, 4), torch.zeros(2, 6))])


def test_the_example_of_the_reference():
    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(64, 8)

        def forward(self, ids, state):
            return self.table(torch.arange(ids.shape[1]))[None] * ids[..., None] + state[:, None]

    shapes = {"ids": {0: DIM("B"), 1: DIM("T")}, "state": {0: DIM.AUTO}}
    example = torch.zeros(3, 5), torch.zeros(3, 8)
    deployed = sb.torch.deploy(Decoder(), example, dynamic_shapes=shapes, ranges={"B": "2..16"})
    said = (Path(sb.__file__).parent / "torch" / "README.md").read_text("utf-8")
    assert str(deployed) in said and deployed.bounds().alive.value == 66048


def test_sizes_of_a_guard_that_is_not_read_are_those_of_the_example():
    class Rounds(torch.nn.Module):
        def forward(self, x, shapes):
            return x[: round(x.shape[0] * 0.5)] * shapes.sum()

    deployed = sb.torch.deploy(
        Rounds(),
        (torch.ones(16),),
        {"shapes": torch.ones(3)},
        dynamic_shapes={"x": {0: DIM("n")}, "shapes": {0: DIM("shapes")}},
    )
    assert deployed.report.guards.open and str(deployed.condition) == "n == 16 and shapes >= 2"
    assert deployed.accepts(shapes=torch.ones(9), x=torch.ones(16)) and not deployed.accepts(
        torch.ones(14), torch.ones(9)
    )
