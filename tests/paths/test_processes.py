"""What kills the interpreter is an answer: of ``symbcast trace``, and of promises, with processes that really die."""

import importlib
import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

import symbcast as sb

SOURCE = """import ctypes, os, signal, time
import numpy as np
import symbcast as sb


@sb.checked("N, 3")
def killed(x):
    os.kill(os.getpid(), signal.SIGSEGV)


@sb.checked("N, 3", returns="N")
def kept(x):
    return x.sum(1)


def reads(x):
    return ctypes.string_at(0)


@sb.checked("N, 3", "M, 3")
def adds(x, y):
    return x + y


class OddError(Exception):
    pass


@sb.checked("N")
def odd(x):
    if len(x) % 2:
        raise OddError(lambda: x)
    return {"it": x, "what": OddError("kept")}


def left(x):
    os._exit(7)


def asks(x):
    return x[: len(input())]


def waits(x):
    with open("pid", "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("killers")
    (path / "killers_of_mine.py").write_text(SOURCE)
    return path


def command(folder, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "symbcast", "trace", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize(("name", "said"), [("reads", "signal 11 (SIGSEGV)"), ("left", "exit status 7")])
def test_a_killed_process_is_an_answer_of_the_command(folder, name, said):
    process = command(folder, f"killers_of_mine:{name}", "N, 3")
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 3
    words = " ".join(out.split())
    assert f"killers_of_mine:{name} killed the process that it was traced in: {said}" in words


@pytest.mark.parametrize(("signal_sent", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_signal_ends_the_command_and_its_process(folder, signal_sent, status):
    pid = folder / "pid"
    pid.unlink(missing_ok=True)
    process = command(folder, "killers_of_mine:waits", "N, 3")
    deadline = time.monotonic() + 300
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int(pid.read_text())
    process.send_signal(signal_sent)
    process.communicate(timeout=300)
    assert process.returncode == status
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def test_a_function_that_asks_the_user_reads_nothing(folder):
    process = command(folder, "killers_of_mine:asks", "N, 3", stdin=subprocess.PIPE)
    out, _ = process.communicate("text", timeout=300)
    assert "EOFError" in out


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")  # where nobody waits for it, what ended is still there
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[:1] == ["Z"])


def test_a_killed_process_breaks_its_own_promise_only(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    module = importlib.import_module("killers_of_mine")
    found = {b.name: b for b in sb.check_promises(module)}
    assert set(found) == {"killed", "adds", "odd"}
    assert not found["killed"].is_known
    assert "killed killed the process that it was traced in: signal 11 (SIGSEGV)" in found["killed"].message
    assert found["killed"].report.verdict is sb.Verdict.UNKNOWN
    assert found["adds"].report.isolated
    assert found["adds"].message.startswith("it works only when N and M are equal")
    assert "this process" not in found["adds"].message
    assert found["odd"].report.cases[0].value["it"] == sb.shape("N")
    assert "OddError" in found["odd"].report.cases[1].error
    assert found["odd"].line == 29


def test_functions_that_no_other_process_finds_are_traced_here():
    module = types.ModuleType("made_here")
    module.sb = sb
    exec("@sb.checked('N', 'M')\ndef f(x, y):\n    return x + y\n", vars(module))
    (broken,) = sb.check_promises(module)
    assert not broken.report.isolated
    assert "traced in this process" in broken.message


def test_a_function_that_was_replaced_is_traced_as_it_is_here(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    module = importlib.import_module("killers_of_mine")

    def adds(x, y):
        return x[:, None] + y

    adds.__module__ = module.__name__
    for name in ("killed", "odd"):
        monkeypatch.delattr(module, name)
    monkeypatch.setattr(module, "adds", sb.checked("N", "M")(adds))
    assert sb.check_promises(module) == ()
