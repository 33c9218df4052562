"""Every document says what is so: what it shows on a command line is printed, its links lead somewhere, once is enough.

Its Python is run as doctests, and paths are looked at in `test_contributing.py`.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache

import pytest
from documents import DOCUMENTS, NOTEBOOKS, READMES, ROOT, anchors, blocks, links, name_of, sentences, text_of

README = text_of(READMES[0])
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
MOST_LINES = 120
"""README.md is one page."""


def run(*arguments):
    command = [sys.executable, "-m", "symbcast", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)


@cache
def printed_by(line):
    done = run(*shlex.split(line))
    assert done.stderr == ""
    return done.stdout.rstrip()


@cache
def options_of(command):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", run(command, "--help").stdout))


@pytest.mark.parametrize("block", blocks("console"), ids=lambda b: f"{name_of(b.document)}: {b.text[:40].strip()}")
def test_commands(block):
    command, printed = block.text.split("\n", 1)
    assert printed_by(command.removeprefix("$ symbcast ")) == printed.rstrip()


def test_options_in_scripts_are_there():
    lines = [line for block in blocks("sh") for line in block.text.splitlines() if line.startswith("symbcast ")]
    assert lines
    for line in lines:
        _, command, *words = shlex.split(line)
        assert {word for word in words if word.startswith("-")} <= options_of(command), line


@pytest.mark.parametrize("document", [*DOCUMENTS, *NOTEBOOKS], ids=name_of)
def test_extras_are_written_as_they_are_installed_from_a_clone(document):
    """The package is not on PyPI: a name there would install nothing, or something else; "once published" says so."""
    text = " ".join(text_of(document).split())
    assert "symbcast[" not in text
    for before in text.split("pip install symbcast")[:-1]:
        assert "Once it is published" in before[-60:]
    for extras in re.findall(r"pip install[^`\n]*'\.\[([^\]]*)\]'", text):
        assert set(extras.split(",")) <= EXTRAS, extras


def test_the_number_of_targets_is_that_of_the_command():
    from symbcast.answers.contracts.targets import targets

    assert f"[{len([*targets()])} targets]" in README
    guide = text_of(ROOT / "docs/guides/contracts.md")
    assert set(targets()) <= set(re.findall(r"`([a-z_-]+)`", guide))


def test_the_two_commands_are_there():
    lines = README.splitlines()
    main = next(line for line in lines if line.startswith("python3 -m venv .venv &&"))
    shown = blocks("console", READMES[:1])[0].text.splitlines()[0]
    assert main.endswith(f"symbcast {shown.removeprefix('$ symbcast ')}"), "the first command prints what is shown"
    assert sum(line.startswith("python3 -m venv .venv-test &&") for line in lines) == 1, "the line that .ci/run takes"


def test_the_readme_is_one_page():
    assert len(README.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("document", [*DOCUMENTS, *NOTEBOOKS], ids=name_of)
def test_links_lead_somewhere(document):
    for link in links(document):
        target, _, anchor = link.partition("#")
        leads_to = (document.parent / target).resolve() if target else document
        assert leads_to.is_relative_to(ROOT) and leads_to.exists(), link
        assert not anchor or anchor in anchors(leads_to), link


def test_every_folder_readme_can_be_reached_from_the_first():
    reached, open_ = set(), [READMES[0]]
    while open_:
        document = open_.pop()
        if document not in reached and document in DOCUMENTS:
            reached.add(document)
            open_ += [(document.parent / link.partition("#")[0]).resolve() for link in links(document)]
    assert reached == set(DOCUMENTS)


def test_every_notebook_is_named_in_the_readme():
    named = {(ROOT / link).resolve() for link in links(READMES[0])}
    assert {*NOTEBOOKS} <= named


@pytest.mark.parametrize("document", NOTEBOOKS, ids=name_of)
def test_a_saved_notebook_shows_its_outputs_without_running(document):
    outputs = [o for cell in json.loads(document.read_text("utf-8"))["cells"] for o in cell.get("outputs", ())]
    kinds = {kind for output in outputs for kind in output.get("data", ())}
    assert kinds <= {"text/plain", "text/html", "text/latex", "image/png"}
    assert not any(output["output_type"] == "error" for output in outputs)


def test_the_first_notebook_leads_to_all_others():
    first, *others = sorted(NOTEBOOKS)
    assert {(first.parent / link).resolve() for link in links(first) if link.endswith(".ipynb")} == {*others}


def test_no_sentence_stands_in_two_places():
    places = defaultdict(list)
    for document in DOCUMENTS:
        for sentence in sentences(document):
            if len(sentence) > 40 and not sentence.startswith(("|", "<picture>")):
                places[sentence].append(name_of(document))
    assert {sentence: found for sentence, found in places.items() if len(found) > 1} == {}


def test_python_that_is_no_session_is_an_excerpt():
    """A fence without prompts is copied from the code, but for two that are run: on a cluster, and below."""
    code = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "symbcast").rglob("*.py")))
    others = [b for b in blocks("python") if ">>> " not in b.text and b.text.strip() not in code]
    assert [name_of(b.document) for b in others] == ["symbcast/onnx/README.md", "docs/guides/lint.md"]
    assert "Client(" in others[0].text


def test_lint_finds_in_the_guides_file_what_the_guide_prints(tmp_path):
    pytest.importorskip("jaxtyping")
    guide = [ROOT / "docs/guides/lint.md"]
    (source,), printed = blocks("python", guide), blocks("text", guide)[0].text
    (tmp_path / "src").mkdir()
    (tmp_path / "src/losses.py").write_text(source.text)
    done = subprocess.run(
        [sys.executable, "-m", "symbcast", "lint", "src"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[: len(printed.splitlines())] == printed.splitlines(), done.stderr


def test_lines_that_a_diff_adds_are_in_its_files():
    for block in blocks("diff"):
        for file, lines in re.findall(r"^\+\+\+ b/(\S+)\n((?:(?!---).*\n)*)", block.text, re.M):
            for line in re.findall(r"^\+(.*)$", lines, re.M):
                assert line in (ROOT / file).read_text("utf-8").splitlines(), line


def test_the_detector_runs_on_256_and_not_on_250():
    runtime, np = pytest.importorskip("onnxruntime"), pytest.importorskip("numpy")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    model = gzip.decompress((ROOT / "tests/data/onnx/models/ppocr_v4_det.onnx.gz").read_bytes())
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    image = session.get_inputs()[0]
    assert [type(size) for size in image.shape] == [str, int, str, str], "any size, it says"
    (out,) = session.run(None, {image.name: np.zeros((1, 3, 256, 256), np.float32)})
    assert out.shape == (1, 1, 256, 256)
    with pytest.raises(Exception, match=r"running Add node. Name:'p2o\.Add\.252'"):
        session.run(None, {image.name: np.zeros((1, 3, 250, 250), np.float32)})


def test_what_others_answer_is_what_they_answered():
    """The table beside others says of each what was recorded, and in which release."""
    table = text_of(ROOT / "docs/tools.md").partition("## One question, eight tools")[2].partition("\n## ")[0]
    recorded = json.loads((ROOT / "tests/data/peers.json").read_text("utf-8"))
    for package, kept in recorded.items():
        assert re.search(rf"(?<![\w-]){package} {re.escape(kept['release'])}(?![\d.]*\d)", table), package
        row = next(line for line in table.splitlines() if f"{package} {kept['release']}" in line)
        if "error" in kept:
            assert "an error" in row
        elif " of " in kept["shape"]:
            assert "one name for both sizes" in row
            (operands,) = re.findall(r"\((\w), 3\) \+ \((\w), 1\)", kept["shape"])
            assert operands[0] == operands[1]
        else:
            assert f"`{kept['shape']}`" in row


def test_the_table_of_an_environment_names_all_that_it_has():
    from symbcast import ShapeEnv

    text = text_of(ROOT / "symbcast/core/programs/README.md")
    table = text.partition("## What `ShapeEnv` has")[2].partition("\n\n[")[0]
    named = {word for row in table.splitlines() for word in re.findall(r"`(?:with )?(\w+)", row.rpartition(" | ")[0])}
    assert named - {"call", "pickle"} == {name for name in dir(ShapeEnv) if not name.startswith("_")}
