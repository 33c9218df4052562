"""Models of LiteRT through the public API: names of sizes, resizing, fixes, guards, the command, damaged files."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import pytest

pytest.importorskip("tflite")

import symbcast as sb
from symbcast.cli import Exit, run

DATA = Path(__file__).parents[1] / "data" / "litert"
MODELS = DATA / "models"


def recorded():
    """Return the content of the first recorded model of each operator."""
    lines = map(json.loads, gzip.decompress((DATA / "nodes.jsonl.gz").read_bytes()).splitlines())
    return {line["op"]: b64decode(line["model"]) for line in reversed(list(lines))}


def unpacked(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.decompress((MODELS / f"{name}.gz").read_bytes()))
    return path


def test_an_open_axis_has_the_name_of_its_input():
    report = sb.litert.check(recorded()["BATCH_MATMUL"])
    assert str(report.condition) == "x0_dim_1 == 3"
    assert [str(s) for s in report.outputs.values()] == ["(x1_dim_0, x0_dim_0, x1_dim_2)"]


def test_the_blamed_operator_has_the_number_that_litert_prints(tmp_path):
    report = sb.litert.check(unpacked(tmp_path, "classifier.tflite"), resize={"image": "N, H, W, 3"})
    assert str(report.condition) == "H >= 2 and W >= 2 and N*(H//2)*(W//2) % 16 == 0"
    assert [f.node for f in report.findings] == ["node 2", "node 2", "node 3"]
    assert str(report.outputs["scores"]) == "(N*(H//2)*(W//2)//16, 10)"


def test_fixed_axes_are_freed_by_a_resize_unless_it_is_strict(tmp_path):
    path = unpacked(tmp_path, "classifier.tflite")
    assert sb.litert.check(path).verdict is sb.Verdict.ALWAYS
    assert sb.litert.check(path, resize={"image": "1, 8, 10, 3"}).verdict is sb.Verdict.NEVER
    for shape in ("1, 9, 8, 3", "1, N, 8, 3"):
        with pytest.raises(sb.BindingError, match="on axis 1, which the file fixes at 8; write 8 there, or leave out"):
            sb.litert.check(path, resize={"image": shape}, strict=True)
    assert sb.litert.check(path, resize={"image": "1, ?, 8, 3"}, strict=True).verdict is sb.Verdict.ALWAYS
    with pytest.raises(sb.BindingError, match="rank 3, but in the model it has rank 4"):
        sb.litert.check(path, resize={"image": "8, 8, 3"})
    with pytest.raises(sb.BindingError, match="did you mean 'image'"):
        sb.litert.check(path, resize={"images": "1, 8, 8, 3"})
    with pytest.raises(sb.ShapeTypeError, match=r"write resize=\{'image': '1, 8, 8, 3'\}"):
        sb.litert.check(path, resize="image=1, 8, 8, 3")


def test_a_compressed_model_is_read(tmp_path, capsys):
    packed = MODELS / "classifier.tflite.gz"
    assert sb.litert.check(packed).verdict is sb.litert.check(packed.read_bytes()).verdict is sb.Verdict.ALWAYS
    for name in ("model.tflite.gz", "model.bin"):
        (tmp_path / name).write_bytes(packed.read_bytes())
        assert run(["model", str(tmp_path / name)]) == Exit.ALWAYS
    with pytest.raises(sb.ModelError, match="cannot be unzipped"):
        sb.litert.check(packed.read_bytes()[:100])


def test_the_command_reads_and_resizes_models(tmp_path, capsys):
    path = unpacked(tmp_path, "classifier.tflite")
    assert run(["model", str(path)]) == Exit.ALWAYS
    assert run(["model", str(path), "--shapes", "image=N, H, 8, 3"]) == Exit.FAILS
    assert "node 3 (RESHAPE)" in capsys.readouterr().out
    assert run(["model", str(path), "--shapes", "image=N, 8, 8, 3", "--guard", "python"]) == Exit.ALWAYS


def test_reports_pickle_and_give_guards(tmp_path):
    report = sb.litert.check(unpacked(tmp_path, "classifier.tflite"), resize={"image": "N, H, W, 3"})
    again = pickle.loads(pickle.dumps(report))
    assert str(again.explain()) == str(report.explain())
    assert again.guard()(N=1, H=8, W=8) and not again.guard()(N=1, H=9, W=10)
    assert "node 3" in again.plot().html


def test_signatures_name_inputs_and_can_be_chosen(tmp_path):
    path = unpacked(tmp_path, "two_signatures.tflite")
    assert str(sb.litert.check(path, signature="decode").outputs["state"]) == "(decoded_dim_0, 4)"
    with pytest.raises(sb.ModelError, match=r"has no signature 'run'; its signatures are decode, encode$"):
        sb.litert.check(path, signature="run")
    assert run(["model", str(path), "--function", "decode"]) == Exit.ALWAYS


def test_loops_and_branches_require_what_litert_prepares(tmp_path):
    """LiteRT 2.3 fails for both branches, whichever runs; its loop joins a row of 2 columns in each turn."""
    loop = sb.litert.check(unpacked(tmp_path, "loop.tflite"))
    assert str(loop.condition) == "x_dim_1 == 2" and str(loop.outputs["y"]) == "(x_dim_0 + 3, 2)"
    assert loop.findings[0].node == "node 1 of subgraph 2"
    # A first size that grows from 0 to 1 is the same to LiteRT, which then cannot copy the rows.
    empty = sb.litert.check(unpacked(tmp_path, "loop.tflite"), min_size=0)
    assert str(empty.condition) == "x_dim_0 >= 1 and x_dim_1 == 2"
    branch = sb.litert.check(unpacked(tmp_path, "branch.tflite"))
    assert branch.condition.equivalent("(x_dim_1 == 1 or x_dim_1 == 2) and (x_dim_0 == 1 or x_dim_0 == 3)")


def test_operators_without_a_rule_are_not_analysed(tmp_path):
    report = sb.litert.check(unpacked(tmp_path, "custom.tflite"))
    assert report.verdict is sb.Verdict.UNKNOWN
    assert [(u.node, u.op_type) for u in report.unanalysed] == [("node 0", "Mine")]


@pytest.mark.parametrize("name", ["a\ud800b", "x" * 5000, "a\0b", "missing"])
def test_a_path_that_no_file_has_is_an_error_with_the_path(name):
    with pytest.raises(sb.ModelError):
        sb.litert.check(name + ".tflite")


def test_what_is_no_model_is_an_error():
    with pytest.raises(sb.ShapeTypeError):
        sb.litert.check(3)
    with pytest.raises(sb.ModelError, match="no model of LiteRT"):
        sb.litert.check(b"")


DAMAGED = """
import random, sys, symbcast as sb
models = [bytes.fromhex(line) for line in sys.stdin.read().split()]
draw = random.Random(5)
for model in models:
    damaged = [model[:n] for n in range(0, len(model), 37)]
    for _ in range(60):
        some = bytearray(model)
        place = draw.randrange(len(some) - 4) // 4 * 4
        some[place : place + 4] = draw.choice((0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 1000000, 0)).to_bytes(4, "little")
        damaged.append(bytes(some))
    for one in damaged:
        try:
            str(sb.litert.check(one))
        except sb.ModelError:
            pass
print("done")
"""


def test_damaged_files_are_errors_with_a_name(tmp_path):
    """A child process reads them: an error that is none of ours, or a crash, would end it."""
    models = [recorded()["CONV_2D"], recorded()["RESHAPE"], gzip.decompress((MODELS / "loop.tflite.gz").read_bytes())]
    text = "\n".join(m.hex() for m in models)
    command = [sys.executable, "-c", DAMAGED]
    done = subprocess.run(command, check=False, input=text, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


@pytest.mark.parametrize("name", ["recursive", "nested"])
def test_graphs_that_run_themselves_or_double_are_errors(tmp_path, name):
    with pytest.raises(sb.ModelError, match=r"runs itself|nested too deeply"):
        sb.litert.check(unpacked(tmp_path, f"{name}.tflite"))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("N, *s, 3", "in the model it has rank 4; give each size"),
        ("2147483648, 8, 8, 3", "no size of LiteRT is above 2147483647"),
    ],
)
def test_a_shape_that_the_interpreter_cannot_take_is_refused(shape, message, tmp_path):
    with pytest.raises(sb.BindingError, match=message):
        sb.litert.check(unpacked(tmp_path, "classifier.tflite"), resize={"image": shape})
    with pytest.raises(sb.BindingError, match="no size of LiteRT is above 2147483647"):
        sb.litert.check(unpacked(tmp_path, "two_signatures.tflite"), bind={"encoded_dim_0": 2**31})


def test_a_guessed_name_says_how_to_resize(tmp_path):
    with pytest.raises(AttributeError, match=r"no attribute 'suggest': use contract.*to\(\"litert\"\)"):
        sb.litert.check(unpacked(tmp_path, "classifier.tflite")).suggest()
