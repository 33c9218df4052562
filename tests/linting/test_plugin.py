"""The plugin of pytest, the hook and the Action, each run as its tool runs it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import symbcast as sb

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "lint"


def run(*arguments, cwd):
    environment = {**os.environ, "PYTHONPATH": str(Path(sb.__file__).parents[1]), "PYTEST_ADDOPTS": ""}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    environment["PRE_COMMIT_HOME"] = str(cwd / ".pre-commit")
    return subprocess.run(arguments, check=False, capture_output=True, text=True, cwd=cwd, env=environment)


@pytest.fixture
def project(tmp_path):
    text = (DATA / "example.py").read_text("utf-8")
    (tmp_path / "shapes.py").write_text(text)
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    return tmp_path


def pytest_of(project, *options):
    plugin = ("-p", "symbcast.cli.pytest_plugin", "-p", "no:cacheprovider", "-rA", "-q")
    return run(sys.executable, "-m", "pytest", *plugin, *options, cwd=project)


def test_each_annotated_function_is_an_item(project):
    done = pytest_of(project, "--symbcast")
    assert done.returncode == 1
    results = {line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED"))}
    assert results == {
        "PASSED test_it.py::test_it",
        "PASSED shapes.py::lengths",
        "FAILED shapes.py::total",
        "FAILED shapes.py::squared_error",
    }
    assert '\nshapes.py:12:49: SYM101 total returns "N" only if N == M: at N=1, M=2 it returns (2,)' in done.stdout


def test_without_the_option_nothing_is_collected(project):
    done = pytest_of(project)
    assert done.returncode == 0 and "1 passed" in done.stdout


def test_one_function_can_be_selected(project):
    assert pytest_of(project, "--symbcast", "shapes.py::lengths").returncode == 0


def test_a_file_that_cannot_be_imported_is_an_error(project):
    (project / "broken.py").write_text("import no_such_module\n" + (project / "shapes.py").read_text())
    done = pytest_of(project, "--symbcast", "broken.py")
    assert done.returncode == 2 and "no_such_module" in done.stdout


def test_the_hook_runs_its_entry_on_files(project):
    lines = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8").splitlines()
    (entry,) = [line.split(": ", 1)[1] for line in lines if line.strip().startswith("entry: ")]
    done = run(sys.executable, *entry.split()[1:], "shapes.py", "test_it.py", cwd=project)
    assert done.returncode == 1 and len([x for x in done.stdout.splitlines() if ": SYM" in x]) == 2


def test_pre_commit_runs_the_hook(project):
    pytest.importorskip("pre_commit")
    if not (ROOT / ".git").exists():
        pytest.skip("the hook is taken from a repository")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        run(*git, *arguments, cwd=project)
    done = run(
        *(sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "symbcast-lint", "--files", "shapes.py"),
        cwd=project,
    )
    assert done.returncode == 1, done.stderr
    assert "shapes.py:12:49: SYM101 total returns" in done.stdout


def test_the_last_step_of_the_action_annotates_lines(project):
    text = (ROOT / "action.yml").read_text("utf-8")
    script = text.rsplit("run: python ", 1)[1].strip()
    environment = {"PATHS": "shapes.py", "COMMIT": ""}
    line = " ".join(f"{n}={v!r}" for n, v in environment.items()) + f"; {sys.executable} {script}"
    done = run("bash", "-e", "-c", line, cwd=project)
    assert done.returncode == 1
    found = done.stdout.splitlines()
    assert len(found) == 2
    assert found[0].startswith("::error file=shapes.py,line=12,col=")
    assert found[1].startswith("::warning file=shapes.py,line=23,col=")


def test_code_scanning_takes_the_report_of_a_repository(project):
    jsonschema = pytest.importorskip("jsonschema")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        run(*git, *arguments, cwd=project)
    (project / "new.py").write_text((project / "shapes.py").read_text("utf-8"))
    done = run(sys.executable, "-m", "symbcast", "lint", "--diff", "HEAD", "--format", "sarif", cwd=project)
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    schema = DATA.parent / "sarif-2.1.0.schema.json.gz"
    jsonschema.validate(document, json.loads(gzip.decompress(schema.read_bytes())))
    places = [r["locations"][0]["physicalLocation"] for r in document["runs"][0]["results"]]
    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("new.py", 12),
        ("new.py", 23),
    ]
