"""``symbcast model`` among processes, pipes and terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import onnx
import pytest
from model_files import started

import symbcast as sb
from symbcast.cli import Exit, run
from symbcast.cli.model_examination import in_order, numbered
from symbcast.graphs.jobs import run_jobs


@pytest.mark.parametrize("jobs", [["-j", "2"], ["-j2"], ["--jobs=3"], ["-j", "0"]])
def test_processes_change_nothing(jobs, models, capsys):
    assert run(["model", ".", "--format", "json"]) == Exit.USAGE
    alone = capsys.readouterr()
    assert run(["model", ".", "--format", "json", *jobs]) == Exit.USAGE
    assert capsys.readouterr() == alone


@pytest.mark.parametrize(
    ("large", "options", "processes"),
    [(0, [], 1), (1, [], 1), (2, [], 6), (3, [], 6), (2, ["-j", "1"], 1), (0, ["-j", "0"], 6), (2, ["-j", "3"], 3)],
)
def test_several_large_files_are_checked_on_all_cores(large, options, processes, models, monkeypatch):
    for name in ["always.onnx", "never.onnx", "sometimes.onnx"][:large]:
        with Path(name).open("ab") as file:
            file.truncate(2**20 + 1)
    met = []
    monkeypatch.setattr(os, "cpu_count", lambda: 6)

    def outcomes_of(asked, means, *_):
        met.append(means.processes)
        yield from ()

    monkeypatch.setattr("symbcast.cli.model_examination.outcomes_of", outcomes_of)
    run(["model", "always.onnx", "never.onnx", "sometimes.onnx", *options])
    assert met == [processes]


def test_large_files_have_the_same_answers_on_all_cores(models, capsys):
    padding = onnx.TensorProto(name="padding", data_type=onnx.TensorProto.INT8, dims=[2**20], raw_data=bytes(2**20))
    for name in ("always.onnx", "sometimes.onnx"):
        model = onnx.load(name)
        model.graph.initializer.append(padding)
        onnx.save(model, name)
    said = []
    for options in ([], ["-j", "1"]):
        run(["model", "always.onnx", "sometimes.onnx", "never.onnx", "--format", "json", *options])
        said.append(capsys.readouterr())
    assert said[0] == said[1]


def test_processes_that_die_take_only_their_own_work_along():
    jobs = ["1 + 1", "__import__('os')._exit(7)", "2 + 2", "__import__('os').kill(__import__('os').getpid(), 9)", "5"]
    told = []
    endings = in_order(run_jobs(partial(numbered, eval), enumerate(jobs), processes=2), lambda: told.append(1))
    assert [e.answer or (e.job, e.status) for e in endings] == [2, (jobs[1], 7), 4, (jobs[3], -9), 5]
    assert len(told) == 5


LATE_PROCESS = """
import sys, time

if any("isolated_worker" in arg for arg in sys.orig_argv):
    try:
        open("first", "x").close()
    except FileExistsError:
        open("second", "x").close()
        time.sleep(120)
"""
STOPPED_WORK = """
import os, time
from symbcast.graphs.jobs import run_jobs

endings = run_jobs(abs, [-1, -2], processes=2)
print(next(endings).answer)
while not os.path.exists("second"):
    time.sleep(0.01)
endings.close()
"""


def test_a_process_that_is_still_starting_is_ended_quietly(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LATE_PROCESS)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", STOPPED_WORK]
    ended = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.strip() in ("1", "2")


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_an_interrupt_ends_it_at_once(jobs, models):
    os.mkfifo("pipe.onnx")  # nobody writes to it: reading it takes for ever
    done = started("always.onnx", "pipe.onnx", "never.onnx", "-j", jobs, start_new_session=True)
    assert done.stdout.readline().startswith("always.onnx: runs")
    os.killpg(done.pid, signal.SIGINT)
    _, err = done.communicate(timeout=60)
    assert done.returncode == Exit.INTERRUPTED
    assert err == ""
    with pytest.raises(ProcessLookupError):
        for _ in range(400):  # multiprocessing's own helper ends when it sees that it is alone
            os.killpg(done.pid, 0)
            time.sleep(0.05)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_closed_pipe_is_quiet(jobs, models):
    with started("always.onnx", "sometimes.onnx", "never.onnx", "unknown.onnx", "-j", jobs) as done:
        done.stdout.close()
        assert done.stderr.read() == ""
    assert done.returncode == Exit.BROKEN_PIPE


def test_colour_and_bar_are_for_terminals_only(models):
    done = started(".", "-j", "2")
    out, err = done.communicate(timeout=120)
    assert done.returncode == Exit.USAGE
    assert "\x1b" not in out
    assert err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_sees_colour_and_a_bar_that_goes_away(models):
    import pty

    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CI")}
    command = [sys.executable, "-m", "symbcast", "model", "always.onnx", "never.onnx"]
    root = str(Path(sb.__file__).parents[1])
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, env={**environment, "PYTHONPATH": root, "TERM": "xterm-256color"}
    ):
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:
            pass  # the other end is closed
    os.close(ours)
    text = seen.decode()
    assert "checking" in text
    assert "\x1b[1;32malways.onnx: runs for all sizes" in text
    assert "\x1b[1;31mnever.onnx: runs for no sizes" in text
    assert text.rindex("checking") < text.rindex("\x1b[2K") < text.rindex("2 models: ")
