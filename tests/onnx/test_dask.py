"""Many models on a Dask cluster of two worker processes, of which one is killed half way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import onnx
import pytest
from documents import blocks
from onnx.parser import parse_model

import symbcast as sb
from symbcast.cli import Exit, run
from symbcast.graphs.jobs import read_results, run_jobs

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
from slow_work import Work, work  # noqa: E402 - only with dask

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
ROOT = str(Path(sb.__file__).parents[1])
PATH = os.pathsep.join(
    filter(None, (ROOT, *(str(Path(__file__).parents[1] / f) for f in (".", "support")), os.environ.get("PYTHONPATH")))
)


@contextmanager
def cluster(workers=2):
    """Give the address of a scheduler, and the process ids of its workers, which are processes of their own."""
    environment = {**os.environ, "PYTHONPATH": PATH}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    folder = Path.cwd()
    started = []
    try:
        file = folder / "scheduler.json"
        started.append(
            subprocess.Popen([*command, "--scheduler-file", str(file)], env=environment, stderr=subprocess.DEVNULL)
        )
        address = _address(file)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        for n in range(workers):
            space = ["--no-nanny", "--name", f"worker-{n}", "--local-directory", str(folder / f"space-{n}")]
            started.append(subprocess.Popen([*worker, *space], env=environment, stderr=subprocess.DEVNULL))
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def _address(file):
    for _ in range(600):
        if file.exists() and file.read_text().strip().endswith("}"):
            return json.loads(file.read_text())["address"]
        time.sleep(0.1)
    raise AssertionError("the scheduler did not start")


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for n in range(24):
        text = f"m (float[N, {n + 1}] a, float[M, {n % 3 + 1}] b) => (float[] y) {{ y = Add(a, b) }}"
        onnx.save(parse_model(HEAD + text), f"models/{n:02}.onnx")
    return sorted(str(p) for p in Path("models").absolute().glob("*.onnx"))


def plain(found):
    """Return what is the same wherever a model is checked."""
    return {key: value for key, value in found.to_dict().items() if key != "seconds"}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_killed_worker_loses_nothing_and_repeats_nothing(models, tmp_path):
    with cluster() as (address, workers), distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2)
        executor = client.get_executor(pure=False)
        expected = {path: plain(found) for path in models for found in sb.onnx.check_many([path], executor=executor)}

        begun = tmp_path / "begun"
        begun.mkdir()
        endings = []
        jobs = (Work(n, 0.15, str(begun)) for n in range(40) if n != 13)
        for ending in run_jobs(work, jobs, executor):
            endings.append(ending)
            if len(endings) == 10:
                os.kill(workers[0].pid, signal.SIGKILL)
        assert sorted(e.job.number for e in endings) == [n for n in range(40) if n != 13]
        assert all(e.answer == e.job.number**2 for e in endings)
        assert len({name.name.split("-")[1] for name in begun.iterdir()}) == 2

        found = list(sb.onnx.check_many(models, executor=executor))
        assert sorted(f.path for f in found) == models
        assert {f.path: plain(f) for f in found} == expected
        assert {f.verdict for f in found} == {v.value for v in (sb.Verdict.SOMETIMES, sb.Verdict.NEVER)}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_command_goes_on_where_a_stop_left_it_with_a_worker_killed(models, tmp_path, capsys):
    with cluster() as (address, workers):
        command = ["model", "models", "--dask", address, "--results", "results.jsonl", "--resume"]
        assert run(command) == Exit.FAILS
        capsys.readouterr()
        whole = Path("results.jsonl").read_text().splitlines(keepends=True)
        # A stop in the middle of a line; one model changed since.
        Path("results.jsonl").write_text("".join(whole[:9]) + whole[9][:40])
        os.utime(json.loads(whole[3])["path"], ns=(1, 1))
        workers[1].kill()
        assert run(command) == Exit.FAILS
        assert "(7 of them from before)" in capsys.readouterr().out
    rows = list(read_results(Path("results.jsonl")))
    assert sorted(row["path"] for row in rows) == models
    reports = {row["path"]: row["report"] for row in map(json.loads, whole[1:])}
    assert {row["path"]: row["report"] for row in rows} == reports


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_time_limit_holds_on_workers_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with cluster(1) as (address, _), distributed.Client(address, set_as_default=False) as client:
        jobs = [Work(n, 600 if n == 3 else 0, str(tmp_path)) for n in (1, 3, 13, 4)]
        endings = {e.job.number: e for e in run_jobs(work, jobs, client.get_executor(pure=False), timeout=5)}
    assert {n: (e.kind, e.answer, e.status) for n, e in endings.items()} == {
        1: ("answered", 1, None),
        3: ("timed out", None, None),
        13: ("died", None, 7),
        4: ("answered", 16, None),
    }


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_example_of_the_readme_runs(models, capsys):
    (block,) = (b for b in blocks("python") if "Client(" in b.text)
    with cluster(1) as (address, _):
        exec(block.text.replace("tcp://scheduler:8786", address), {"sb": sb, "paths": models[:2]})
    assert sorted(line.split()[0] for line in capsys.readouterr().out.splitlines()) == models[:2]


def test_a_scheduler_that_is_not_there_is_told_of(models, monkeypatch, capsys):
    monkeypatch.setattr("symbcast.cli.model_examination.SECONDS_TO_CONNECT", 1)
    assert run(["model", "models", "--dask", "tcp://127.0.0.1:9"]) == Exit.USAGE
    assert "--dask tcp://127.0.0.1:9: no scheduler answers there" in capsys.readouterr().err
