"""Many models at once: by processes that may crash or take too long, by threads, and written down as they come."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import onnx
import pytest
from model_files import HEAD, MODELS, started
from onnx.parser import parse_model
from slow_work import Work, work

import symbcast as sb
from symbcast.cli import Exit, run
from symbcast.graphs.jobs import AHEAD, Journal, read_results, run_jobs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name, text in MODELS.items():
        onnx.save(parse_model(HEAD + text), f"in/{name}.onnx")
    Path("in/broken.onnx").write_bytes(b"junk")
    Path("in/written.onnxtxt").write_text(HEAD + MODELS["always"])
    Path("in/zipped.onnx.gz").write_bytes(gzip.compress(Path("in/never.onnx").read_bytes()))
    return tmp_path


EXPECTED = {
    "always.onnx": "always", "broken.onnx": "", "never.onnx": "never", "sometimes.onnx": "sometimes",
    "unknown.onnx": "unknown", "written.onnxtxt": "always", "zipped.onnx.gz": "never",
}  # fmt: skip


def files():
    return sorted(Path("in").iterdir())


def verdicts(results):
    return {Path(found.path).name: found.verdict for found in results}


def in_threads(timeout):
    with ThreadPoolExecutor(2) as executor:
        yield from sb.onnx.check_many(files(), executor=executor, timeout=timeout)


def in_processes_of_python(timeout):
    # Not by fork: a process in which jax or a browser runs has threads.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield from sb.onnx.check_many(files(), executor=executor, timeout=timeout)


@pytest.mark.parametrize("timeout", [None, 300])
@pytest.mark.parametrize("by", [None, in_threads, in_processes_of_python], ids=["own", "threads", "processes"])
def test_every_executor_answers_alike(by, timeout, folder):
    found = list(sb.onnx.check_many(files(), timeout=timeout) if by is None else by(timeout))
    assert verdicts(found) == EXPECTED
    for result in found:
        assert result.status == ("checked" if result.verdict else "failed")
        assert bool(result.problem) is (result.status == "failed")
        if result.report is not None:
            assert result.report == sb.onnx.check(result.path).to_dict()


def test_what_is_known_is_for_the_models_that_have_it(folder):
    with ThreadPoolExecutor(1) as executor:
        found = list(sb.onnx.check_many(files(), bind={"M": 1}, shapes={"a": "rows, 3"}, executor=executor))
    assert verdicts(found) == {**EXPECTED, "sometimes.onnx": "always"}
    (report,) = [f.report for f in found if f.path.endswith("sometimes.onnx")]
    assert report["inputs"] == {"a": ["rows", 3], "b": [1, 1]}
    with pytest.raises(sb.BindingError, match="is not a size"):
        list(sb.onnx.check_many(files(), bind={"M": "x"}))


@pytest.mark.parametrize("make", [lambda: None, lambda: ThreadPoolExecutor(2)], ids=["own", "threads"])
def test_a_crash_and_a_time_limit_take_one_job_only(make, tmp_path):
    executor = make()
    jobs = [Work(n, 600 if n == 3 else 0, str(tmp_path)) for n in (1, 13, 2, 3, 4, 5)]
    ends = {e.job.number: (e.kind, e.answer, e.status) for e in run_jobs(work, jobs, executor, 4, processes=2)}
    answered = {n: ("answered", n * n, None) for n in (1, 2, 4, 5)}
    assert ends == {**answered, 3: ("timed out", None, None), 13: ("died", None, 7)}
    if executor is not None:
        executor.shutdown()


class Held(Executor):
    """An executor that works once it has a number of jobs, and counts what it was given."""

    def __init__(self):
        self.futures = []

    def submit(self, fn, /, *args, **kwargs):
        self.futures.append((Future(), fn, args))
        return self.futures[-1][0]

    def work_once_it_has(self, count):
        while len(self.futures) < count:
            time.sleep(0.01)
        for future, function, arguments in list(self.futures):
            future.set_result(function(*arguments))


def test_only_some_jobs_are_with_an_executor():
    executor, taken = Held(), []
    jobs = (taken.append(n) or n for n in itertools.count())
    endings = run_jobs(abs, jobs, executor)
    threading.Thread(target=executor.work_once_it_has, args=(AHEAD,), daemon=True).start()
    for answered in range(AHEAD):
        next(endings)
        assert len(taken) <= answered + AHEAD
    assert len(taken) > AHEAD
    endings.close()


def told(*arguments):
    return run(["model", "in", "--results", "results.jsonl", *arguments])


def rows():
    return {Path(row["path"]).name: row for row in read_results(Path("results.jsonl"))}


def test_results_are_written_down_and_gone_on_with(folder, capsys):
    assert told() == Exit.USAGE
    out, err = capsys.readouterr()
    assert "7 models: 2 always, 1 sometimes, 2 never, 1 undecided, 1 broken" in out
    assert "runs when" not in out
    assert err.startswith("error: in/broken.onnx: ")
    first = rows()
    assert {name: (row["report"] and row["report"]["verdict"]) or "" for name, row in first.items()} == EXPECTED
    assert told() == Exit.USAGE
    assert "--results results.jsonl already exists: continue it with --resume" in capsys.readouterr().err

    lines = Path("results.jsonl").read_text().splitlines(keepends=True)
    Path("results.jsonl").write_text("".join(lines[:4]) + lines[4][:50])
    assert told("--resume", "-j", "2") == Exit.USAGE
    assert "results: results.jsonl (3 of them from before)" in capsys.readouterr().out
    again = rows()
    assert len(list(read_results(Path("results.jsonl")))) == len(again) == 7
    without = [{name: {**row, "seconds": 0} for name, row in found.items()} for found in (first, again)]
    assert without[0] == without[1]


def test_a_file_that_changed_is_checked_again(folder, capsys):
    told()
    onnx.save(parse_model(HEAD + MODELS["never"]), "in/always.onnx")
    Path("in/sometimes.onnx").unlink()
    told("--resume")
    assert "(5 of them from before)" in capsys.readouterr().out
    assert rows()["always.onnx"]["report"]["verdict"] == "never"


def test_a_run_that_does_not_agree_is_still_told_of_after_a_stop(folder, capsys):
    pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")
    Path("in/broken.onnx").unlink()
    assert told("--confirm", "--fail-on", "never", "--bind", "M=1") == Exit.FAILS
    row = rows()["sometimes.onnx"]
    runs = row["report"]["confirmations"]
    assert runs
    assert all(r["agrees"] for r in runs)
    text = Path("results.jsonl").read_text()
    Path("results.jsonl").write_text(text.replace('"agrees": true', '"agrees": false'))
    for path in Path("in").glob("[nuz]*"):
        path.unlink()
    assert told("--confirm", "--fail-on", "never", "--bind", "M=1", "--resume") == Exit.FAILS


def test_another_question_is_asked_of_all(folder, capsys):
    told()
    told("--resume", "--min-size", "0")
    assert "from before" not in capsys.readouterr().out
    assert {row["report"]["min_size"] for row in rows().values() if row["report"]} == {0}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_model_that_takes_too_long_has_no_verdict(folder, capsys):
    os.mkfifo("in/pipe.onnx")  # nobody writes to it: reading it takes for ever
    assert told("-j", "2", "--timeout", "8") == Exit.USAGE
    out, err = capsys.readouterr()
    assert "1 timed out" in out
    assert "in/pipe.onnx: the check took more than 8 seconds; allow more time with --timeout" in err
    row = rows()["pipe.onnx"]
    assert (row["status"], row["report"], row["seconds"]) == ("timed out", None, 8)
    # With no more time than before it is not tried again.
    assert told("--resume", "--timeout", "8") == Exit.USAGE
    assert "(8 of them from before)" in capsys.readouterr().out


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_an_interrupt_leaves_results_to_go_on_with(jobs, folder, capsys):
    os.mkfifo("in/pipe.onnx")
    done = started("in", "--results", "results.jsonl", "-j", jobs, start_new_session=True)
    wanted = 3 if jobs == "1" else 7  # always, broken and never come before the pipe
    for _ in range(600):
        if Path("results.jsonl").exists() and len(Path("results.jsonl").read_text().splitlines()) > wanted:
            break
        time.sleep(0.1)
    os.killpg(done.pid, signal.SIGINT)
    _, err = done.communicate(timeout=60)
    assert done.returncode == Exit.INTERRUPTED
    assert "Traceback" not in err
    Path("in/pipe.onnx").unlink()
    assert told("--resume") == Exit.USAGE
    assert f"({wanted} of them from before)" in capsys.readouterr().out
    assert {name: (row["report"] and row["report"]["verdict"]) or "" for name, row in rows().items()} == EXPECTED


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--resume"], "--resume continues a results file: name it with --results"),
        (["--timeout", "0"], "--timeout 0: give the time limit for each model in seconds, such as 60"),
        (["--timeout", "nan"], "--timeout nan: give the time limit"),
        (["--results", "r.jsonl", "--format", "json"], "prints only the table: omit --format json"),
    ],
)
def test_options_that_do_not_go_together(arguments, problem, folder, capsys):
    assert run(["model", "in", *arguments]) == Exit.USAGE
    assert problem in capsys.readouterr().err


def test_a_file_that_holds_other_things_is_not_written_over(folder, capsys):
    Path("results.jsonl").write_text("my notes\n")
    assert told("--resume") == Exit.USAGE
    assert "results.jsonl: is not a results file; name another one" in capsys.readouterr().err.replace(
        "\n  tip: ", "; "
    )
    assert Path("results.jsonl").read_text() == "my notes\n"


def test_a_journal_of_another_version_is_begun_anew(folder):
    head = {"format": "symbcast.results", "version": 0, "question": {}}
    Path("results.jsonl").write_text(json.dumps(head) + "\n" + json.dumps({"path": "in/always.onnx"}) + "\n")
    assert Journal(Path("results.jsonl"), {}).resume(lambda row: True) == {}
