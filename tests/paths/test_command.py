"""``symbcast trace``: exit statuses, formats, and where a function's own output goes."""

import json
import subprocess
import sys

import pytest

SOURCE = """import numpy as np
print("loaded")


def distances(x, y):
    print("called")
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))


def total(x):
    return {n: row.sum() for n, row in enumerate(x)}


def steps(n, k):
    return np.linspace(0, 1, n)[::k]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("functions")
    (path / "functions_of_mine.py").write_text(SOURCE)
    (path / "leaves.py").write_text("raise SystemExit(4)")
    return path


def command(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "symbcast", "trace", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["functions_of_mine:distances", "N, D", "M, D"], 0, "works for all sizes"),
        (["functions_of_mine:distances", "N, D", "float32:M, K"], 1, "works only for some sizes"),
        (["functions_of_mine:distances", "N, D", "M, K", "--fail-on", "never"], 0, "works only for some sizes"),
        (["functions_of_mine:distances", "N, D", "M, K", "--assume", "D == K"], 0, "works for all sizes"),
        (["functions_of_mine:total", "N, D"], 3, "not proved beyond"),
        (["functions_of_mine:total", "N, D", "--no-observe"], 3, "open for some sizes"),
        (["functions_of_mine:steps", "size:N", "=2"], 0, "works for all sizes"),
        (["functions_of_mine:steps", "n=size:N", "k==2"], 0, "works for all sizes"),
        (["functions_of_mine:distances", "N, D", "y=M, K", "--fail-on", "never"], 0, "works only for some sizes"),
    ],
)
def test_the_status_says_for_which_sizes_it_works(folder, arguments, status, said):
    done = command(folder, *arguments)
    assert (done.returncode, said in done.stdout) == (status, True), done
    assert "loaded" in done.stderr
    assert "loaded" not in done.stdout
    assert "called" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["functions_of_mine"], "write the module and the function"),
        (["functions_of_mine:nothing", "N"], "has no nothing"),
        (["nowhere_to_be_found:f", "N"], "cannot be imported"),
        (["functions_of_mine:np", "N"], "is not a function"),
        (["functions_of_mine:steps", "size:N", "=2 +"], "write a Python literal"),
        (["functions_of_mine:steps", "sort:N", "=2"], "is not a type"),
        (["functions_of_mine:distances", "N, D"], "give a shape or a value for y too"),
        (["functions_of_mine:distances", "N, D", "y=N, D", "y=M, D"], "is given twice by its name"),
        (["functions_of_mine:distances", "N, D", "z=N, D"], "distances has no argument z; its arguments are x and y"),
        (["functions_of_mine:distances", "N", "M", "K"], "leave out the last one"),
        (["functions_of_mine:steps", "size:N, M", "=2"], "is not a size"),
        (["functions_of_mine.py:steps", "size:N", "=2"], "write the module as Python imports it"),
        (["./functions_of_mine:steps", "size:N", "=2"], "write the module as Python imports it"),
        (["functions_of_mine:steps", "size:N", "=2", "--max-paths", "0"], "write 1 or more"),
        (["leaves:steps", "size:N"], "SystemExit: 4"),
    ],
)
def test_wrong_usage_is_one_message(folder, arguments, said):
    done = command(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_formats_for_tools(folder):
    arguments = ["functions_of_mine:distances", "N, D", "M, K", "--format"]
    assert json.loads(command(folder, *arguments, "json").stdout)["condition"] == "D == K or D == 1 or K == 1"
    (result,) = json.loads(command(folder, *arguments, "sarif").stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("functions_of_mine.py", 7)
    assert command(folder, *arguments, "github").stdout.startswith("::warning file=functions_of_mine.py,line=7,")


def test_a_guard_is_printed_alone(folder):
    done = command(folder, "functions_of_mine:distances", "N, D", "M, K", "--guard", "python", "--fail-on", "never")
    assert done.returncode == 0
    assert done.stdout.startswith("def ") and "def guard(N, D, M, K):" in done.stdout
