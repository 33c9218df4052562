"""Command lines right and wrong, as a table: the exit status, and what is said, above all what to write instead."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from model_files import HEAD, MODELS

from symbcast.cli import Exit, run
from symbcast.cli.command import command_names, load_command
from symbcast.cli.help import print_help

ROOT = Path(__file__).parents[2]
with (ROOT / "tests/data/command_lines.tsv").open(encoding="utf-8", newline="") as table:
    ROWS = [tuple(row) for row in csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]


with (ROOT / "tests/data/command_mistakes.tsv").open(encoding="utf-8", newline="") as table:
    MISTAKES = [tuple(row) for row in csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]


FUNCTIONS = """def add(x, y):
    return x + y

def total(x, axis):
    return x.sum(axis)

class Net:
    def forward(self, x):
        return x
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return files by name: models where onnx is there to make them."""
    try:
        from onnx.parser import parse_model
    except ImportError:
        return {}
    return {f"{name}.onnx": parse_model(HEAD + text).SerializeToString() for name, text in MODELS.items()}


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """Work in a folder with the files that the table speaks of."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder").mkdir()
    texts = {"broken.onnx": b"hello", "here.onnx": b"x", "folder/one.onnx": files.get("always.onnx", b"")}
    for name, data in {**files, **texts}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def on_one_line(err):
    """Return an error with its tip behind it, as it was raised, and without the excerpt between the two."""
    lines = [line for line in err.splitlines() if not line.startswith("    ")]
    return re.sub(r"\n  tip: ", "; ", "\n".join(lines))


def test_the_table_is_large():
    assert sum(row[0] != "2" for row in ROWS) >= 30 and sum(row[0] == "2" for row in ROWS) >= 70


@pytest.mark.parametrize(("status", "arguments", "stdin", "says"), ROWS, ids=[row[1][:60] for row in ROWS])
def test_command_line(status, arguments, stdin, says, folder, files, monkeypatch, capsys):
    if not files and arguments.startswith(("model", "always.onnx")):
        pytest.skip("onnx is not installed")
    read = files.get(stdin.removeprefix("@"), b"") if stdin.startswith("@") else stdin.replace("\\n", "\n").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(read)))
    assert run(shlex.split(arguments)) == int(status)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err and "the check itself failed" not in out + err
    if int(status) == Exit.USAGE:
        assert err.startswith("error: ") and says in on_one_line(err)
        assert len(err.splitlines()) <= 4
    else:
        notes = [line for line in err.splitlines() if not line.startswith(("note: ", "  tip: "))]
        assert not notes and out.splitlines()[0] == says


@pytest.mark.parametrize(("arguments", "says"), MISTAKES, ids=[row[0][:60] for row in MISTAKES])
def test_a_mistake_is_answered_by_what_was_meant(arguments, says, folder, files, capsys):
    if not files and ".onnx" in arguments:
        pytest.skip("onnx is not installed")
    (folder / "function.py").write_text(FUNCTIONS)
    assert run(shlex.split(arguments)) == Exit.USAGE
    out, err = capsys.readouterr()
    assert not out and says in " ".join(on_one_line(err).split())


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] == "2"][::8], ids=lambda row: row[1][:60])
@pytest.mark.parametrize("columns", [30, 60])
def test_what_is_wrong_is_told_in_the_columns_that_there_are(row, columns, folder, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    run(shlex.split(row[1]))
    out, err = capsys.readouterr()
    assert max(map(len, (out + err).splitlines())) <= columns


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["model", "-h"], ["rules"]])
@pytest.mark.parametrize("columns", [40, 80])
def test_help_is_as_wide_as_there_are_columns(arguments, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(arguments) == Exit.ALWAYS
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


def test_help_lists_the_options_that_each_command_takes(capsys):
    for name in command_names():
        print_help(load_command(name), with_plugins=True)
        listed = re.findall(r"^  (--[\w-]+)", capsys.readouterr().out, re.MULTILINE)
        assert listed == [*(o.names[0] for o in load_command(name).options(with_plugins=True)), "--help"], name


@pytest.mark.parametrize("columns", ["0", "5", "-3", "wide", "99999999"])
@pytest.mark.parametrize("arguments", [["help"], ["check", "N"], ["check", "N^2"]])
def test_any_number_of_columns_is_taken(columns, arguments, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    assert run(arguments) in (Exit.ALWAYS, Exit.USAGE)
    assert "Traceback" not in capsys.readouterr().err


def test_stderr_that_is_full_leaves_the_status(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    command = f"{sys.executable} -m symbcast check 'N^2' 2>/dev/full"
    assert subprocess.run(command, shell=True, timeout=60, check=False, cwd=ROOT).returncode == Exit.USAGE


# What is in the place of a shape or a file, and what is left alone.


def test_a_file_that_is_there_stays_as_it_is(folder, files, capsys):
    pytest.importorskip("onnx")
    assert run(["model", "always.onnx", "--output", "here.onnx"]) == Exit.USAGE
    assert Path("here.onnx").read_bytes() == b"x"
    assert run(["model", "always.onnx", "--output", "here.onnx", "--overwrite"]) == Exit.ALWAYS
    assert Path("here.onnx").read_bytes() != b"x"
    assert not list(Path().glob(".*.part"))


def test_a_page_is_written_for_one_model(folder, files, capsys):
    pytest.importorskip("onnx")
    assert run(["model", "sometimes.onnx", "--html", "pages/here.html"]) == Exit.FAILS
    out, err = capsys.readouterr()
    assert "runs only for some sizes" in out and err == "note: the page is pages/here.html\n"
    assert Path("pages/here.html").read_text().startswith("<!doctype html>")
    for wrong in (
        ["--html", "pages/here.html"],
        ["--html", "pages"],
        ["--html", "-"],
        ["--html", "sometimes.onnx", "--overwrite"],
        ["always.onnx", "--html", "two.html"],
        ["--html", "a.html", "--results", "a.jsonl"],
    ):
        assert run(["model", "sometimes.onnx", *wrong]) == Exit.USAGE
        assert capsys.readouterr().err.startswith("error: --html ")
    assert run(["model", "sometimes.onnx", "--html", "pages/here.html", "--overwrite"]) == Exit.FAILS


@pytest.mark.parametrize("packed", ["", "gz", "txt", "json"])
def test_a_model_is_read_from_standard_input(packed, folder, files, monkeypatch, capsys):
    onnx = pytest.importorskip("onnx")
    import gzip

    from google.protobuf import json_format

    data = files["sometimes.onnx"]
    forms = {
        "": data,
        "gz": gzip.compress(data),
        "txt": (HEAD + MODELS["sometimes"]).encode(),
        "json": json_format.MessageToJson(onnx.load_from_string(data)).encode(),
    }
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(forms[packed])))
    assert run(["model", "-", "--assume", "N >= 2"]) == Exit.FAILS
    assert capsys.readouterr().out.startswith("-: runs only for some sizes")


MODULE = b"module { func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> { return %x : tensor<?x3xf32> } }"


def test_a_folder_has_models_of_every_format_and_a_file_needs_no_ending(folder, files, capsys):
    pytest.importorskip("jaxlib")
    if not files:
        pytest.skip("onnx is not installed")
    mixed = folder / "mixed"
    mixed.mkdir()
    (mixed / "module.mlir").write_bytes(MODULE)
    (mixed / "always.onnx").write_bytes(files["always.onnx"])
    (mixed / "notes.xml").write_bytes(b"<notes/>")
    (folder / "module").write_bytes(MODULE)
    assert run(["model", "mixed"]) == Exit.ALWAYS
    assert "2 models: 2 always" in capsys.readouterr().out
    assert run(["model", "module"]) == Exit.ALWAYS
    assert capsys.readouterr().out.startswith("module: runs for all sizes")


# Completion.


@pytest.mark.parametrize(
    ("shell", "written"),
    [
        ("bash", {".bashrc", ".local/share/bash-completion/completions/symbcast"}),
        ("zsh", {".zshrc", ".zsh/completions/_symbcast"}),
        ("fish", {".config/fish/completions/symbcast.fish"}),
    ],
)
def test_completion_writes_what_it_says(shell, written, tmp_path, monkeypatch, capsys):
    for name in ("ZSH", "ZSH_CUSTOM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run(["--install-completion", "--shell", shell]) == Exit.ALWAYS
    out, err = capsys.readouterr()
    assert {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()} == written
    assert not err and all(str(tmp_path / name) in out for name in written)
    script = max(((tmp_path / name).read_text() for name in written), key=len)
    assert all(word in script for word in ("check", "--fail-on"))


def test_completion_says_where_it_cannot_write(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    assert run(["--install-completion", "--shell", "bash"]) == Exit.USAGE
    assert "cannot be written: Not a directory" in capsys.readouterr().err


# The end of the process: after an answer, interrupts, and pipes that are closed.


BEGUN = """import sys; sys.argv[0] = 'symbcast'
import symbcast.core.interrupts; print('begun', flush=True)
from symbcast.cli import main; main()"""
"""Runs the command, and tells when it has begun; before, Python itself is not up yet."""


def started(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, env=environment, start_new_session=True, **pipes)


ENDING = """import atexit, sys, threading; sys.argv[0] = 'symbcast'; over = threading.Event()
from symbcast.cli import main
{}
atexit.register(print, 'registered')
try:
    main(['check', {!r}, '3'])
finally:
    print('raised'); over.set()"""
WAITS = "threading.Thread(target=lambda: (over.wait(60), print('waited'))).start()"


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ("", ["registered"]),
        ("sys.setprofile(lambda *_: None)", ["raised", "registered"]),
        (WAITS, ["raised", "waited", "registered"]),
    ],
    ids=["alone", "profiled", "with a thread"],
)
@pytest.mark.parametrize(("shape", "status"), [("3", Exit.ALWAYS), ("N", Exit.FAILS), ("2(", Exit.USAGE)])
def test_the_command_ends_with_its_output_written(before, last, shape, status):
    process = started("-c", ENDING.format(before, shape))
    out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert out.decode().splitlines()[-len(last) :] == last
    assert ("numpy: " in out.decode()) != (status == Exit.USAGE)


@pytest.mark.parametrize("delay", [0, 0.05, 0.1, 0.2, 0.4])
def test_an_interrupt_ends_the_command_quietly(delay):
    process = started("-c", BEGUN, "check", "N**3 + M**3", "K**3", "--min-size", "2")
    assert process.stdout.readline() == b"begun\n"
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode in (Exit.INTERRUPTED, Exit.UNDECIDED)  # undecided: it was done by then


@pytest.mark.parametrize("delay", [0.3, 1.0, 2.0])
def test_an_interrupt_ends_processes_too(delay, folder, files):
    pytest.importorskip("onnx")
    for n in range(40):
        Path(f"folder/{n}.onnx").write_bytes(files["sometimes.onnx"])
    process = started("-m", "symbcast", "model", "folder", "-j", "2", "--output", "out")
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    if process.returncode == Exit.INTERRUPTED:
        assert err == b""
    assert not list(Path().rglob("*.part"))
    for _ in range(100):
        if not living(process.pid):
            break
        time.sleep(0.1)
    assert not living(process.pid)


def living(group):
    """Return the processes of a group that have not ended."""
    found = subprocess.run(["ps", "-e", "-o", "pgid=,stat=,pid="], capture_output=True, text=True, check=False).stdout
    rows = [line.split() for line in found.splitlines()]
    return [pid for pgid, state, pid in rows if pgid == str(group) and not state.startswith("Z")]


@pytest.mark.parametrize("arguments", ["check N 'M, 3'", "rules", "--help", "check N 2 --format json"])
def test_a_pipe_that_is_closed_early_is_quiet(arguments):
    command = f"{sys.executable} -m symbcast {arguments} | true"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False, cwd=ROOT)
    assert done.stderr == b""
