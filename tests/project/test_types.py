"""What type checkers say of a user's file: the errors that it marks, and no others."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
USER = Path(__file__).parents[1] / "data" / "types" / "user.py"


def marked() -> set[int]:
    return {n for n, line in enumerate(USER.read_text().splitlines(), 1) if line.endswith("# error")}


def test_a_users_file_has_the_errors_that_it_marks_and_no_others(tmp_path):
    pytest.importorskip("mypy")
    config = tmp_path / "mypy.ini"
    config.write_text(
        "[mypy]\nstrict = True\n"
        "[mypy-symbcast.*]\nfollow_imports = silent\n"  # as of an installed package
        "[mypy-sympy.*,openvino.*,torch.*]\nignore_missing_imports = True\n"
    )
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", tmp_path / "cache", USER],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"MYPYPATH": str(PROJECT), "PATH": ""},
        check=False,
    )
    found = {int(line) for line in re.findall(r"user\.py:(\d+): error", said.stdout)}
    assert found == marked(), said.stdout + said.stderr
    assert "symbcast/" not in said.stdout


def test_pyright_finds_the_same_errors(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "user.py").write_text(USER.read_text())
    config = {"include": ["user.py"], "extraPaths": [str(PROJECT)], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    said = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    found = {d["range"]["start"]["line"] + 1 for d in json.loads(said.stdout)["generalDiagnostics"]}
    assert found == marked(), said.stdout + said.stderr
