"""Many files: findings come as files end, and one bad file never holds up the others."""

import os
import subprocess
import sys

import pytest

import symbcast as sb

pytest.importorskip("numpy")

HEAD = "from typing import Annotated\nimport numpy as np\nimport symbcast as sb\n"
WRONG = HEAD + (
    'def f(x: Annotated[np.ndarray, sb.shape("N, M")]) -> Annotated[np.ndarray, sb.shape("N")]:\n'
    "    return x.sum(axis=0)\n"
)
RIGHT = WRONG.replace("axis=0", "axis=1")
BAD = {
    "a_exits.py": ("import os\nos._exit(3)\n" + RIGHT, "importing the file killed the process: status 3"),
    "a_killed.py": (
        RIGHT.replace("return x", "import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)\n    return x"),
        "f killed the process that traced it: signal 9",
    ),
    "a_syntax.py": ("def f(:\n", "the file cannot be read: invalid syntax"),
    "a_deep.py": ("x = " + "-" * 200_000 + "1\n", "the file cannot be read: it is nested too deeply"),
    "a_large.py": ("#" * 4_000_001, "the file cannot be read: it is longer than 4,000,000 bytes"),
    "a_zero.py": ("\0", "the file cannot be read: source code string cannot contain null bytes"),
}
ENDLESS = HEAD + "while True:\n    pass\n" + RIGHT + RIGHT.replace("def f", "def g")


def made(folder, files):
    """Write files into a package."""
    package = folder / "package"
    package.mkdir()
    for name, text in {"__init__.py": "", **files}.items():
        (package / name).write_text(text, "utf-8")
    return package


def test_each_bad_file_is_one_finding_and_the_others_are_checked(tmp_path):
    good = {f"good_{n}.py": WRONG if n % 4 == 0 else RIGHT for n in range(12)}
    package = made(tmp_path, {**{name: text for name, (text, _) in BAD.items()}, **good})
    (package / "a_link.py").symlink_to(tmp_path / "absent.py")
    os.mkfifo(package / "a_pipe.py")
    report = sb.lint(package, cache=False, jobs=2)
    found = {finding.path.rpartition("/")[2]: finding.message for finding in report.findings}
    assert len(report.findings) == len(found) == len(BAD) + 2 + 3
    assert all(message in found[name] for name, (_, message) in BAD.items())
    assert "No such file" in found["a_link.py"] and "it is not a regular file" in found["a_pipe.py"]
    assert report.counts["proved"] == 9 and {"good_0.py", "good_4.py", "good_8.py"} < set(found)


CHILD = """
import sys
from symbcast.linting.running import run
run._PATIENCE = 0.5
from symbcast.cli import main
sys.argv = ["symbcast", "lint", *sys.argv[1:]]
sys.exit(main())
"""


def test_findings_come_before_an_import_without_end_is_given_up(tmp_path):
    package = made(tmp_path, {"a_endless.py": ENDLESS, **{f"good_{n}.py": WRONG for n in range(3)}})
    options = ["--no-cache", "--jobs", "1", "--timeout", "60", "--strict"]
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(package), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        lines = [child.stdout.readline() for _ in range(3)]
        is_running = child.poll() is None
        child.kill()
        assert child.stderr.read() == "", "no progress is shown where stderr is no terminal"
    assert is_running and all(": SYM101 f returns" in line for line in lines)


def test_an_import_without_end_leaves_all_functions_of_its_file_unknown(tmp_path):
    package = made(tmp_path, {"endless.py": ENDLESS, "good.py": RIGHT})
    report = sb.lint(package, cache=False, timeout=4)
    assert report.counts == {"proved": 1, "partly": 0, "finding": 0, "unknown": 2, "skipped": 0}
    assert all("took more than 8 seconds: the import of its file" in line for line in report.unproved)


PLAIN = """
class Plain:
    axis = 0
    def total(self, x: Annotated[np.ndarray, sb.shape("N, M")]) -> Annotated[np.ndarray, sb.shape("N")]:
        return self.helped(x)
    def helped(self, x):
        return x.sum(axis=self.axis)
class Child(Plain):
    axis = 1
class Mixin:
    def total(self, x: Annotated[np.ndarray, sb.shape("N, M")]) -> Annotated[np.ndarray, sb.shape("N")]:
        return self.helped(x)
    def helped(self, x):
        return x.sum(axis=self.set_by_others)
class Built:
    def __init__(self):
        raise RuntimeError
    def total(self, x: Annotated[np.ndarray, sb.shape("N, M")]) -> Annotated[np.ndarray, sb.shape("N")]:
        return x.sum(axis=0)
"""


def test_methods_of_classes_without_a_constructor_are_traced(tmp_path):
    (tmp_path / "classes.py").write_text(HEAD + PLAIN, "utf-8")
    report = sb.lint(tmp_path / "classes.py", cache=False)
    assert [(c.function, c.status) for c in report.functions] == [
        ("Plain.total", "finding"),
        ("Mixin.total", "skipped"),
        ("Built.total", "skipped"),
    ]
    assert 'Plain.total returns "N" only if N == M' in report.findings[0].message
    assert report.functions[1].reason.endswith("an object of Mixin, as set_by_others is set elsewhere")
