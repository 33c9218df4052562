"""What README.md shows on a command line is what the command line prints. (Its Python is run as doctests.)"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import symbcast as sb

README = (Path(__file__).parent.parent / "README.md").read_text()
CONSOLE = re.findall(r"```console\n\$ symbcast (.*)\n((?:.*\n)*?)```", README)


@pytest.mark.parametrize(("arguments", "printed"), CONSOLE, ids=lambda v: v.splitlines()[0][:40])
def test_commands(arguments, printed):
    command = [sys.executable, "-m", "symbcast", *shlex.split(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip() == printed.rstrip()
    assert done.stderr == ""


def test_the_two_commands_are_there():
    assert CONSOLE
    lines = README.splitlines()
    main = next(line for line in lines if line.startswith("python3 -m venv .venv &&"))
    assert f"symbcast {CONSOLE[0][0]}" in main, "the first command prints what is shown"
    assert sum(line.startswith("python3 -m venv .venv-test &&") for line in lines) == 1, "the line that .ci/run takes"


def test_the_table_of_rules_names_every_rule():
    for rule in sb.rules():
        for name in (rule.name, *rule.aliases, *(f"{p.name}=" for p in rule.parameters)):
            assert f"`{name}`" in README, name
