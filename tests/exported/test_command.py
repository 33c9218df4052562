"""``symbcast model exported.pt2``: what it prints, and what it tells other programs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from symbcast.cli import Exit, run

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
jsonschema = pytest.importorskip("jsonschema")
import exported_models  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "tests" / "data" / "sarif-2.1.0.schema.json.gz"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A U-Net, exported to a file with all axes left open."""
    case = exported_models.CASES["unet"]()
    path = tmp_path_factory.mktemp("exported") / "unet.pt2"
    torch.export.save(torch.export.export(case.module, case.args, dynamic_shapes=case.auto()), path)
    return path


def line_of(text):
    """Return the number of the line of the models' file that has some text."""
    lines = (ROOT / "tests" / "support" / "exported_models.py").read_text("utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def said(program, capsys, monkeypatch, *options):
    monkeypatch.chdir(ROOT)
    assert run(["model", str(program), *options]) == Exit.FAILS
    return capsys.readouterr().out


def test_it_says_what_the_graph_and_the_guards_ask(program, capsys, monkeypatch):
    out = said(program, capsys, monkeypatch)
    for text in ("image_dim_2 is a multiple of 4", "torch wants", "image_dim_2 >= 8", "exported_models.py"):
        assert text in out


def test_github_is_told_the_lines(program, capsys, monkeypatch):
    lines = said(program, capsys, monkeypatch, "--format", "github").splitlines()
    place = f"::warning file=tests/support/exported_models.py,line={line_of('torch.cat([self.up2(d)')},"
    assert lines and all(line.startswith(place) for line in lines)
    monkeypatch.chdir(program.parent)  # the code is of no repository there
    run(["model", program.name, "--format", "github"])
    assert all(line.startswith("::warning file=unet.pt2,") for line in capsys.readouterr().out.splitlines())


def test_sarif_has_the_lines(program, capsys, monkeypatch):
    log = json.loads(said(program, capsys, monkeypatch, "--format", "sarif"))
    jsonschema.validate(log, json.loads(gzip.decompress(SCHEMA.read_bytes())))
    (found,) = log["runs"]
    for result in found["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "tests/support/exported_models.py"
        assert place["region"] == {"startLine": line_of("torch.cat([self.up2(d)")}
        assert result["analysisTarget"]["uri"].endswith("unet.pt2")


def test_names_of_sizes_are_taken(program, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert run(["model", str(program), "--shapes", "image=(N, 3, 4*h, 4*w)"]) == Exit.ALWAYS
    assert run(["model", str(program), "--assume", "image_dim_3 % 4 == 0", "--bind", "image_dim_2=8"]) == Exit.ALWAYS
    capsys.readouterr()


def test_what_is_no_program(tmp_path, capsys):
    path = tmp_path / "other.pt2"
    path.write_bytes(b"no program")
    assert run(["model", str(path)]) == Exit.USAGE
    assert "torch cannot read it" in capsys.readouterr().err
