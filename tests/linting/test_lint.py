"""Lint finds what is wrong in annotated functions, and nothing else; the cases are files with their codes."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import symbcast as sb

DATA = Path(__file__).parents[1] / "data" / "lint"
NEEDED = {
    "numpy_cases": ("jaxtyping", "beartype", "typeguard"),
    "jax_cases": ("jax", "jaxtyping"),
    "unreadable": ("jaxtyping",),
    "torch_cases": ("torch", "jaxtyping"),
}


def expected(path):
    """Return the codes that a file's comments expect, by function."""
    lines, found = path.read_text("utf-8").splitlines(), {}

    def is_checked(node):  # lint does not check constructors
        annotations = [node.returns, *(a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg))]
        return node.name != "__init__" and any(annotations)

    def visit(body, prefix):
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef) and is_checked(node):
                signature = "\n".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
                found[prefix + node.name] = set(re.findall(r"SYM\d+", signature))

    visit(ast.parse("\n".join(lines)).body, "")
    return found


@pytest.fixture(scope="module", params=NEEDED)
def linted(request):
    for package in NEEDED[request.param]:
        pytest.importorskip(package)
    path = DATA / f"{request.param}.py"
    return path, sb.lint(path, cache=False, jobs=1)


def test_every_function_has_the_findings_that_its_comment_expects(linted):
    path, report = linted
    wanted = expected(path)
    found = {name: set() for name in wanted}
    for finding in report.findings:
        found[finding.function].add(finding.code)
    assert {n: c for n, c in found.items() if c != wanted[n]} == {}
    assert {c.function for c in report.functions} == set(wanted)


def test_nothing_is_unknown_or_left_out(linted):
    assert [c for c in linted[1].functions if c.status in ("unknown", "skipped")] == []


def test_every_finding_about_sizes_names_them_and_what_a_call_did(linted):
    for finding in linted[1].findings:
        if finding.code in ("SYM101", "SYM102", "SYM103", "SYM105"):
            assert finding.sizes and finding.called
            assert all(f"{name}={size}" in finding.message for name, size in finding.sizes.items())


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_formats_have_every_finding(linted, format):
    path, report = linted
    text = report.report(format)
    if format == "json":
        assert json.loads(text)["findings"] == [f.to_dict() for f in report.findings]
    elif format == "sarif":
        results = json.loads(text)["runs"][0]["results"]
        assert [r["ruleId"] for r in results] == [f.code for f in report.findings]
        assert all(r["locations"][0]["physicalLocation"]["region"]["startColumn"] for r in results)
    else:
        assert len(text.splitlines()) == len(report.findings)
    if format == "text":
        assert all(re.match(rf"{re.escape(str(path))}:\d+:\d+: SYM\d+ ", line) for line in text.splitlines())


def command(*arguments, cwd=None):
    environment = {**os.environ, "PYTHONPATH": str(Path(sb.__file__).parents[1])}
    line = [sys.executable, "-m", "symbcast", "lint", *arguments]
    done = subprocess.run(line, check=False, capture_output=True, text=True, cwd=cwd, env=environment)
    return done.returncode, done.stdout, done.stderr


WRONG = """
from typing import TypeVar
import numpy as np
N, M = TypeVar("N"), TypeVar("M")
def f(x: np.ndarray[tuple[N, M], np.dtype[np.float64]]) -> np.ndarray[tuple[N], np.dtype[np.float64]]:
    return x.sum(0)
"""
RIGHT = WRONG.replace("sum(0)", "sum(1)")


def test_statuses_of_the_command(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert command("right.py", cwd=tmp_path)[:2] == (0, "1 annotated function: 1 proved; 0 findings\n")
    status, text, _ = command("wrong.py", cwd=tmp_path)
    assert status == 1
    assert text.startswith('wrong.py:5:60: SYM101 f returns "N" only if N == M: at N=1, M=2 it returns (2,)\n')
    assert command("wrong.py", "--ignore", "broken-promise", cwd=tmp_path)[0] == 0
    assert command("wrong.py", "--ignore", "SYM101", "--strict", cwd=tmp_path)[0] == 3
    assert command("broken.py", cwd=tmp_path)[1].startswith("broken.py:1:7: SYM202 the file cannot be read")
    assert command("absent.py", cwd=tmp_path)[0] == 2
    assert command("right.py", "--select", "SYM999", cwd=tmp_path)[0] == 2


def test_a_file_that_cannot_be_imported_is_one_finding(tmp_path):
    (tmp_path / "stopping.py").write_text("import sys\nsys.exit(4)\n" + WRONG)
    report = sb.lint(tmp_path / "stopping.py", cache=False)
    assert [f.code for f in report.findings] == ["SYM202"]
    assert "SystemExit: 4" in report.findings[0].message


def test_results_are_kept_until_a_file_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, helper = tmp_path / "user.py", tmp_path / "helper.py"
    helper.write_text("axis = 1\n")
    file.write_text("from helper import axis\n" + WRONG.replace("sum(0)", "sum(axis)"))
    first = sb.lint("user.py")
    assert first.findings == () and list((tmp_path / ".symbcast_cache").glob("*.json"))
    again = sb.lint("user.py")
    assert again.functions == first.functions, "also the seconds are those of the first run"
    helper.write_text("axis = 0\n")
    assert [f.code for f in sb.lint("user.py").findings] == ["SYM101"]


def test_only_functions_that_changed_since_a_commit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, cwd=tmp_path)

    git("init", "-q")
    (tmp_path / "old.py").write_text(WRONG + WRONG.replace("def f", "def g"))
    git("add", ".")
    git("commit", "-q", "-m", "one")
    assert sb.lint(".", since="HEAD").functions == ()
    (tmp_path / "old.py").write_text(WRONG + WRONG.replace("def f", "def g").replace("sum(0)", "sum(-2)"))
    (tmp_path / "new.py").write_text(RIGHT)
    report = sb.lint(".", since="HEAD")
    assert [(Path(c.path).name, c.function) for c in report.functions] == [("new.py", "f"), ("old.py", "g")]
    with pytest.raises(sb.ShapeTypeError, match="a commit"):
        sb.lint(".", since="no-such-commit")


def test_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(WRONG)
    (tmp_path / "src" / "b.py").write_text(WRONG)
    table = "[tool.symbcast.lint]\npaths = ['src']\nexclude = ['src/b.py']\nignore = ['SYM105']\ncache = false\n"
    (tmp_path / "pyproject.toml").write_text(table)
    report = sb.lint()
    assert report.files == ("src/a.py",) and len(report.findings) == 1
    assert not (tmp_path / ".symbcast_cache").exists()
    assert sb.lint(ignore=["SYM101"]).findings == ()
    (tmp_path / "pyproject.toml").write_text(table + "path = ['src']\n")
    with pytest.raises(sb.ShapeTypeError, match=r"tool\.symbcast\.lint"):
        sb.lint()


def test_functions_can_be_given(tmp_path):
    (tmp_path / "given.py").write_text(WRONG + RIGHT.replace("def f", "def g"))
    spec = importlib.util.spec_from_file_location("given", tmp_path / "given.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert [c.function for c in sb.lint(module.g).functions] == ["g"]
    assert len(sb.lint(module.f).findings) == 1
    with pytest.raises(sb.ShapeTypeError, match="a function of a source file"):
        sb.lint(len)


OF_DATA = """
from jaxtyping import Float
from torch import Tensor
def refuse():
    raise ValueError("the rank of the data is 0")
def normalized(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    if x.sum() <= 1:
        refuse()
    return x / x.sum()
def centred(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    if x.std() <= 0:
        refuse()
    return x - x.mean()
"""


def test_failures_of_some_data_are_no_findings_about_sizes(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("jaxtyping")
    (tmp_path / "of_data.py").write_text(OF_DATA)
    report = sb.lint(tmp_path / "of_data.py", cache=False)
    assert [c.status for c in report.functions] == ["partly", "partly"] and not report.findings


PAIRED = """
from jaxtyping import Float
from torch import Tensor
def loss(x: Float[Tensor, "n"], y: Float[Tensor, "n 1"]) -> Float[Tensor, ""]:
    return ((x - y) ** 2).mean()
def rows(x: Float[Tensor, "n m"]) -> Float[Tensor, "n k"]:
    return x[:, None]
"""


def test_messages_about_torch_functions_have_the_names_of_the_annotations(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("jaxtyping")
    (tmp_path / "paired.py").write_text(PAIRED)
    messages = [f.message for f in sb.lint(tmp_path / "paired.py", cache=False).findings]
    assert messages == [
        "loss broadcasts (n,) with (n, 1), which puts n on two axes",
        'rows returns (n, 1, m), never "n k": at n=1, m=1 it returns (1, 1, 1)',
    ]


PROMISES = """import symbcast as sb

@sb.checked("N, 3", "M, 1", returns="N, 3")
def broken(x, y):
    return x + y

@sb.checked("N, 3", "N, 1", returns="N, 3")
def kept(x, y):
    return x + y
"""


def test_promises_are_checked_as_annotations_are(tmp_path):
    (tmp_path / "promises.py").write_text(PROMISES)
    report = sb.lint(tmp_path / "promises.py", cache=False)
    assert report.counts["proved"] == 1 and report.counts["finding"] == 1
    assert [(f.function, f.code) for f in report.findings] == [("broken", "SYM101"), ("broken", "SYM102")]


KEYS = """import jax
from jaxtyping import Array, Float, PRNGKeyArray

class Checked:
    def __init__(self, x):
        assert x.shape, "no array"
        self.x = x

jax.tree_util.register_pytree_node(Checked, lambda c: ((c.x,), None), lambda _, children: Checked(*children))

def square(x: Float[Array, "n 1"]) -> Float[Array, "n n"]:
    return x @ x.T

def kept(x: Float[Array, "n"]) -> Checked:
    return Checked(x)

def draw(key: PRNGKeyArray, x: Float[Array, "n"]) -> Float[Array, "n"]:
    return x + jax.random.normal(jax.random.split(key, 2)[0], x.shape)
"""


def test_keys_products_and_classes_of_users_are_no_findings(tmp_path):
    pytest.importorskip("jaxtyping")
    (tmp_path / "keys.py").write_text(KEYS)
    report = sb.lint(tmp_path / "keys.py", cache=False)
    assert [c.status for c in report.functions] == ["proved", "proved", "partly"] and not report.findings


BRANCH = """
from jaxtyping import Array, Float

def by_data(x: Float[Array, "n 3"], y: Float[Array, "n"]) -> Float[Array, "n"]:
    return y if (x > 0).all() else -y
"""


def test_errors_of_tracers_confirm_nothing(tmp_path):
    pytest.importorskip("jax")
    pytest.importorskip("jaxtyping")
    (tmp_path / "branch.py").write_text(BRANCH)
    assert sb.lint(tmp_path / "branch.py", cache=False).findings == ()


def test_a_result_of_another_rank_at_one_small_size_is_no_finding(tmp_path):
    pytest.importorskip("jaxtyping")
    (tmp_path / "cov.py").write_text(
        "import numpy as np\nfrom jaxtyping import Float\n\n"
        'def cov(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "d d"]:\n    return np.cov(x, rowvar=False)\n'
    )
    report = sb.lint(tmp_path / "cov.py", cache=False)
    assert report.findings == () and report.functions[0].status == "partly"
    assert len(sb.lint(tmp_path / "cov.py", cache=False, strict_sizes=True).findings) == 1


def test_keys_and_numbers_without_a_shape_are_one_of_them(tmp_path):
    pytest.importorskip("jax")
    pytest.importorskip("jaxtyping")
    (tmp_path / "keys.py").write_text(
        "import jax\nfrom jaxtyping import Array, Float, Int, Key\n\n"
        'def noise(key: Key[Array, "..."], x: Float[Array, "n d"], scale: Float, k: Int) -> Float[Array, "n d"]:\n'
        "    return x + scale * jax.random.normal(key, x.shape[1:]) + k\n\n"
        'def named(rng_key: jax.Array, key: Key, name: str, x: Float[Array, "n d"]) -> Float[Array, "d n"]:\n'
        "    return x * jax.random.normal(rng_key, x.shape) + jax.random.normal(key, ())\n"
    )
    report = sb.lint(tmp_path / "keys.py", cache=False)
    assert [(c.status, len(c.findings)) for c in report.functions] == [("partly", 0), ("finding", 1)]
