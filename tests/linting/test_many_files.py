"""Many files: findings come as files end, and one bad file never holds up the others."""

import os
import re
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
        ("Built.total", "unknown"),
    ]
    assert 'Plain.total returns "N" only if N == M' in report.findings[0].message
    assert report.functions[1].reason.endswith("an object of Mixin, as set_by_others is set elsewhere")
    assert report.functions[2].reason.startswith("no object could be made: Built raises RuntimeError")


OBJECTS = """
import abc
import dataclasses
from typing import Annotated
import numpy as np
import symbcast as sb
A = Annotated[np.ndarray, sb.shape("N, D")]
class Scaler:
    def __init__(self, scale: Annotated[np.ndarray, sb.shape("D")], power: float = 2.0):
        if len(scale) < 2:
            raise ValueError("two columns at least")
        self.scale = scale ** power
    def __call__(self, x: A) -> A:
        return x * self.scale
    def rows(self, x: A) -> Annotated[np.ndarray, sb.shape("D")]:
        return x.sum(1)
class Kernel:
    def __init__(self, width: float = 1.0):
        self.width = width
    @abc.abstractmethod
    def distances(self, x: A) -> Annotated[np.ndarray, sb.shape("N, N")]: ...
    def gram(self, x: A) -> Annotated[np.ndarray, sb.shape("N, N")]:
        return np.exp(-self.distances(x) / self.width)
class Squares(Kernel):
    def distances(self, x: A) -> Annotated[np.ndarray, sb.shape("N, N")]:
        return ((x[:, None] - x) ** 2).sum(-1)
@dataclasses.dataclass
class Model:
    kernel: Kernel
    def fitted(self, x: A, y: Annotated[np.ndarray, sb.shape("N")]) -> Annotated[np.ndarray, sb.shape("D")]:
        return self.kernel.gram(x) @ y
def of_kernel(kernel: Kernel, x: A) -> Annotated[np.ndarray, sb.shape("N, N")]:
    return kernel.gram(x)
"""


def test_objects_are_made_by_their_constructors_and_by_concrete_classes(tmp_path):
    (tmp_path / "objects.py").write_text(OBJECTS, "utf-8")
    report = sb.lint(tmp_path / "objects.py", cache=False)
    assert [(c.function, c.status) for c in report.functions] == [
        ("Scaler.__call__", "partly"),
        ("Scaler.rows", "finding"),
        ("Kernel.gram", "partly"),
        ("Squares.distances", "partly"),
        ("Model.fitted", "finding"),
        ("of_kernel", "partly"),
    ]
    assert [f.message for f in report.findings] == [
        'Scaler.rows returns "D" only if D == N: at D=2, N=1 it returns (1,)',
        'Model.fitted returns "D" only if N == D: at N=1, D=2 it returns (1,)',
    ]


SMALL = """
def neighbours(x: Annotated[np.ndarray, sb.shape("N")]) -> Annotated[np.ndarray, sb.shape("N - 2")]:
    return x[2:] - x[:-2]
def third(x: Annotated[np.ndarray, sb.shape("N, D")]) -> Annotated[np.ndarray, sb.shape("N")]:
    return x[:, 2]
def both(x: Annotated[np.ndarray, sb.shape("N, M")], y: Annotated[np.ndarray, sb.shape("N")]):
    return x + y
def different(x: Annotated[np.ndarray, sb.shape("N, M")]) -> Annotated[np.ndarray, sb.shape("N, M//2")]:
    return x.reshape(len(x), 4, -1).sum(1)
"""


def test_small_sizes_are_reported_if_that_is_asked_for(tmp_path):
    (tmp_path / "small.py").write_text(HEAD + SMALL, "utf-8")
    report = sb.lint(tmp_path / "small.py", cache=False)
    assert [f"{f.code} {f.message.partition(': at ')[0]}" for f in report.findings] == [
        "SYM102 both works only if M == N or M == 1 or N == 1",
        'SYM103 different returns (N, M//4), never "N M//2"',
        "SYM102 different works only if M % 4 == 0",
    ]
    reasons = {c.function: c.reason for c in report.functions}
    assert reasons["third"] == "only if D >= 3" and report.functions[1].status == "partly"
    strict = sb.lint(tmp_path / "small.py", cache=False, strict_sizes=True)
    assert [f.function for f in strict.findings if f not in report.findings] == ["third"]


def test_imports_that_fail_alike_are_one_finding(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.py").write_text(f"import no_such_module\n{HEAD}{SMALL}", "utf-8")
    (tmp_path / "d.py").write_text(f"import another_one\n{HEAD}{SMALL}", "utf-8")
    report = sb.lint(tmp_path, cache=False)
    missing = "the file cannot be imported: ModuleNotFoundError: No module named"
    assert [f.message for f in report.findings] == [
        f"{missing} 'no_such_module'; nor can 2 others",
        f"{missing} 'another_one'",
    ]
    assert [c.status for c in report.functions] == ["finding", "skipped", "skipped", "finding"]


SUMMED = """
def summed(
    x: Annotated[np.ndarray, sb.shape("N, M")], y: Annotated[np.ndarray, sb.shape("K")]
) -> Annotated[np.ndarray, sb.shape("N")]:
    return (x + y).sum(0)
"""


@pytest.mark.parametrize("min_size", [1, 2])
def test_a_second_mistake_is_a_second_finding(tmp_path, min_size):
    """Whichever way the two arrays fit each other, the sum is over the wrong axis."""
    (tmp_path / "summed.py").write_text(HEAD + SUMMED, "utf-8")
    report = sb.lint(tmp_path / "summed.py", cache=False, min_size=min_size)
    assert {f.code for f in report.findings} >= {"SYM101"} and len(report.findings) == 2


def test_stats_say_codes_reasons_and_times(tmp_path):
    (tmp_path / "small.py").write_text(HEAD + SMALL, "utf-8")
    command = [sys.executable, "-m", "symbcast", "lint", str(tmp_path / "small.py"), "--no-cache", "--stats"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    codes, *reasons, times, _ = done.stdout.splitlines()[3:]
    assert codes == "findings: SYM102 2, SYM103 1"
    assert "1 proved in part: only if D >= 3" in reasons
    assert re.fullmatch(r"processor time of a function: median [\d.]+ s, largest [\d.]+ s \(.*small\.py: \w+\)", times)
