"""`symbcast contract`: what it prints, and its exit status."""

import json

import jsonschema
import pytest
from documents import ROOT

import symbcast as sb
from symbcast.answers.contracts.targets import targets
from symbcast.cli.app import run
from symbcast.cli.command import load_command

pytest.importorskip("onnx")
MODEL = str(ROOT / "tests/data/onnx/models/ppocr_v4_det.onnx.gz")
RANGES = ["--range", "N=1..16", "--range", "H=64..1280", "--range", "W=320", "--runtime", "onnxruntime"]

LINES = [
    # arguments, exit status, what stdout has, what stderr has
    ([*RANGES], 0, "box          N=1..16, H=93..96, W=320", ""),
    ([*RANGES, "--typical", "H=640,1024", "--form", "profiles", "--most", "2"], 0, "H=637..640", ""),
    ([*RANGES, "--to", "trtexec"], 0, "--minShapes=x:1x3x93x320 --optShapes=x:16x3x96x320", ""),
    ([*RANGES, "--form", "steps", "--to", "openvino"], 1, "", "it takes every size of a range"),
    ([*RANGES, "--form", "steps", "--to", "triton"], 1, "", "dims: [3, 1280, 320]"),
    ([*RANGES, "--check"], 1, "(p2o.Add.252) fails at H=65: a run stops at p2o.Add.248", ""),
    (["--range", "N=2", "--range", "H=64", "--range", "W=96..160 step 32", "--check"], 0, "every size works", ""),
    (["--range", "H=33..60"], 1, "none of the wanted sizes work", ""),
    (["--range", "H=33..60", "--to", "torch"], 1, "", "none of the wanted sizes work"),
    (["--bind", "H=64", "--range", "W=64..1280 step 32", "--check"], 0, "every size works", ""),
    (
        ["--assume", "H % 32 == 0", "--range", "H=64..128", "--range", "W=64", "--form", "steps"],
        0,
        "H=64..128 step 32",
        "",
    ),
    (["--range", "N=1..4", "--range", "H=64", "--range", "W=96", "--to", "webnn"], 0, '"maxSize": 4', ""),
    (["--range", "N=1..4", "--range", "H=64", "--form", "derived"], 0, "W=32..4096 step 32", ""),
    (["--range", "H=64..", "--check"], 2, "", "write a size or a range from small to large"),
    (["--range", "X=3"], 2, "", "there is no size X; the sizes are N, H, W"),
    (["--range", "H"], 2, "", "write a size and its values, as in --range H=64..1280"),
    (["--range", "H=3..2"], 2, "", "write a size or a range from small to large"),
    (["--typical", "H=a"], 2, "", "write numbers"),
    (["--most", "0"], 2, "", "1 or more"),
    (["--to", "trtexc"], 2, "", "did you mean trtexec"),
    (["--to", "json", "--check"], 2, "", "give one of them"),
    (["--runtime", "tvm"], 2, "", "it is one of spec or onnxruntime"),
    (["--shapes", "x=B, 3, 64, 96", "--range", "B=1..4"], 0, "box          B=1..4, H=64, W=96", ""),
    (["--shapes", "y=B, 3, 64, 96"], 2, "", "no input named 'y'"),
    (["--shapes", "B, 3, 64, 96"], 2, "", 'write --shapes "x=B, 3, 64, 96"'),
    (["--range", "H=512,640"], 2, "", "write --range H=512..640 --typical H=512,640 --form profiles"),
    ([*RANGES, "--form", "steps", "--to", "trtexec"], 1, "", "tip: use --form profiles or --form list"),
    ([*RANGES, "--form", "steps", "--to", "trtexec"], 1, "", 'symbcast model --free "N, H, W" --pad zero'),
]


@pytest.mark.parametrize(
    ("arguments", "status", "shown", "told"), LINES, ids=[" ".join(line[0][-4:]) for line in LINES]
)
def test_lines(arguments, status, shown, told, capsys):
    assert run(["contract", MODEL, *arguments]) == status
    out, err = capsys.readouterr()
    assert shown in out
    assert bool(out) == (status < 2 and not told)
    assert told in " ".join(err.split())


def test_a_target_gets_the_text_and_the_user_what_it_leaves_out(capsys):
    ranges = ["--range", "N=1..8", "--range", "H=345..400", "--range", "W=320"]
    assert run(["contract", MODEL, *ranges, "--runtime", "onnxruntime", "--to", "trtexec"]) == 0
    out, err = capsys.readouterr()
    assert out == "--minShapes=x:1x3x349x320 --optShapes=x:8x3x352x320 --maxShapes=x:8x3x352x320\n"
    assert "left out     H <= 4 or H % 32 == 0 or H % 32 >= 29 fails at H=345 (p2o.Add.252)" in err
    assert "other sizes work too" in err


@pytest.mark.parametrize(("arguments", "status", "verdict"), [(["H=33..60"], 1, "never"), (["H=64"], 0, "always")])
def test_json_is_written_for_every_verdict(arguments, status, verdict, capsys):
    assert run(["contract", MODEL, "--range", *arguments, "--range", "W=64", "--to", "json"]) == status
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict


def test_a_model_of_fixed_sizes(tmp_path, capsys):
    path = tmp_path / "fixed.onnxtxt"
    path.write_text('<ir_version: 8, opset_import: ["" : 17]> m (float[1, 3] x) => (float[1, 3] y) { y = Relu(x) }')
    assert run(["contract", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "box all sizes are fixed" in out and "the fixed sizes work" in out
    assert run(["contract", str(path), "--to", "trtexec"]) == 1
    err = capsys.readouterr().err
    assert "all inputs are fixed" in err and "symbcast model --free" in err and "symbcast.onnx" not in err
    assert run(["model", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "all of its sizes are fixed" in out and "tip: use --free N --output free.onnx" in err
    assert run(["model", str(path), "--bind", "H=3"]) == 2
    err = capsys.readouterr().err
    assert "all sizes are fixed" in err and "tip: use --free" in err


def test_one_model_is_needed(capsys):
    assert run(["contract"]) == run(["contract", MODEL, MODEL]) == run(["contract", "no.onnx"]) == 2
    assert "give one model" in capsys.readouterr().err


def test_json(capsys):
    assert run(["contract", MODEL, *RANGES, "--form", "list", "--most", "3", "--to", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, type(sb.Condition("N >= 1").contract()).json_schema())
    assert len(found["boxes"]) == 3


def test_a_model_that_is_not_decided(tmp_path, capsys):
    import onnx

    text = '<ir_version: 9, opset_import: ["" : 18, "own" : 1]> g (float[N] a) => (float[P] y) { y = own.What(a) }'
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    assert run(["contract", str(path)]) == 3
    assert "open" in capsys.readouterr().out
    assert run(["contract", str(path), "--check"]) == 3
    assert run(["contract", str(path), "--to", "trtexec"]) == 3
    capsys.readouterr()
    assert run(["contract", str(path), "--to", "json"]) == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "unknown"


def test_the_command_takes_each_target():
    (option,) = (o for o in load_command("contract").options() if o.parameter == "to")
    assert option.choices == tuple(targets()) and option.choices[0] == "trtexec"
