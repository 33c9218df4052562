"""The documents of the repository: every path in them is real, and the walks in CONTRIBUTING.md are walked."""

import re
import subprocess
import sys

import pytest
from documents import DOCUMENTS, ROOT, name_of, text_of

WALK = re.compile(r"\*\*(?P<name>[^*]+)\*\* \((?P<count>\d+) files\): (?P<files>[^\n]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_paths_are_real(document):
    text = text_of(document)
    for path in re.findall(r"`((?:symbcast|tests|notebooks)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
    if document.parent != ROOT:
        beside = (document.parent, ROOT, ROOT / "tests", ROOT / "symbcast")
        for path in re.findall(r"`([\w/-]+\.(?:py|md|lark|json))`", text):
            found = any((folder / path).exists() for folder in (*beside, *document.parent.iterdir()))
            assert found, path


def test_the_walks_are_walked():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    told = {m["name"]: re.findall(r"`([^`]+)`", m["files"]) for m in WALK.finditer(text)}
    # In its own process, where nothing was asked before.
    lines = "import walks\nfor name, ask in walks.WALKS.items(): print(name, *walks.files_of(ask), sep=';')"
    said = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=True, cwd=ROOT / "tests"
    ).stdout
    walked = {name: files for name, *files in (line.split(";") for line in said.splitlines())}
    assert {name: [f"symbcast/{f}" for f in files] for name, files in told.items()} == walked
    assert [int(m["count"]) for m in WALK.finditer(text)] == [len(files) for files in walked.values()]


def test_the_slow_tests_are_there():
    """Each line of the list names a test that is there, so that none is skipped by a name that is gone."""
    ids = [line for line in (ROOT / "tests" / "slow_tests.txt").read_text().splitlines() if not line.startswith("#")]
    assert len(ids) == len(set(ids)) > 100
    for name in ids:
        file, _, test = name.partition("::")
        assert (ROOT / file).is_file(), name
        function = test.partition("[")[0].split("::")[-1]
        assert (
            file.endswith((".ipynb", ".md")) or "symbcast/" in name or f"def {function}(" in (ROOT / file).read_text()
        ), name
