"""The documents of the repository: every path in them is real, and the walks in CONTRIBUTING.md are walked."""

import re
import subprocess
import sys

import pytest
from documents import DOCUMENTS, ROOT, name_of, text_of


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


def test_the_walk_is_walked():
    """The files of the walk are entered in its order."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    walk = text.partition("<!-- walk -->")[2].partition("<!-- end of the walk -->")[0]
    named = [f"symbcast/{path}" for path in re.findall(r"`([\w/]+\.py)`", walk)]
    # In its own process, where nothing was asked before.
    run = [sys.executable, "-c", "import walks; print(*walks.files_of(walks.call), sep=';')"]
    folder = ROOT / "tests" / "support"
    entered = subprocess.run(run, capture_output=True, text=True, check=True, cwd=folder).stdout.strip().split(";")
    assert len(named) >= 8
    assert [path for path in entered if path in named] == named


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
