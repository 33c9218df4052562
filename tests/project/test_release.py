"""The state of a release: one version everywhere, and what each command executes."""

from __future__ import annotations

import re
from pathlib import Path

import symbcast as sb
from symbcast.cli.command import command_names, load_command

ROOT = Path(__file__).parents[2]


def test_the_version_is_the_same_everywhere():
    pattern = {
        "pyproject.toml": r'^version = "(.+)"',
        "CITATION.cff": r"^version: (.+)",
        "CHANGELOG.md": r"^## (\d[\d.]*)",
    }
    for name, found in pattern.items():
        assert re.search(found, (ROOT / name).read_text("utf-8"), re.M)[1] == sb.__version__, name


def test_the_dates_of_the_release_are_the_same():
    released = re.search(r"^date-released: (.+)", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)[1]
    assert f"## {sb.__version__} ({released})" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_security_notes_say_of_every_command_what_it_executes():
    """Or the file of the command does, with ``executes=``, which its page of the site repeats."""
    notes = (ROOT / "docs/security.md").read_text("utf-8")
    commands = " ".join(line.split("|")[2] for line in notes.splitlines() if line.startswith("|"))
    left = {c for c in command_names() if not re.search(rf"(?<![\w-]){c}(?![\w-])", commands)}
    assert {c for c in left if not load_command(c).executes} == set()
