"""Work on many files, on any executor or in our own processes: jobs, their outcomes, and a file of results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, TextIO, TypeAlias, TypedDict

from symbcast.core import isolation
from symbcast.core.interrupts import BlockInterrupts, CleanupOnInterrupt
from symbcast.core.isolation import Answer, DiedError, Ending, IsolatedFunction, Job, Prepare, TimedOutError
from symbcast.core.structs import NamedTuple
from symbcast.errors import ExchangeError, MissingExtraError, SymbcastError
from symbcast.graphs.check import FrontEnd, ModelQuestion, check_graph, names_in
from symbcast.graphs.inputs import NOTHING
from symbcast.graphs.registry import front_ends

# Only a few of thousands of jobs are submitted at any time, so that waiting jobs do not fill the executor's memory.


# The number of jobs submitted to an executor whose number of workers is unknown.
AHEAD = 128

Submit: TypeAlias = "Callable[[Job], Future[Answer]]"


def run_jobs(  # noqa: PLR0913 - by what, for how long, on how many
    function: Callable[[Job], Answer],
    jobs: Iterable[Job],
    executor: Executor | None = None,
    timeout: float | None = None,
    *,
    processes: int = 0,
    prepare: Prepare = isolation.load_nothing,
) -> Generator[Ending[Job, Answer], None, None]:
    """Call a function on each job, and yield how the jobs ended, in the order in which they finish.

    ``executor`` is any executor of `concurrent.futures`. None starts our own processes: ``processes`` of them, or one
    per core. They survive a job that crashes or takes longer than ``timeout`` seconds. With any other executor, a job
    with a time limit runs in a child process of the worker, since no executor can stop a running job. ``prepare`` is
    called once in each of these processes to load what the function needs; it does not count towards the time limit.
    The function, the jobs and the answers are pickled. Exceptions of the function are raised here.
    """
    if executor is None:
        count = processes or os.cpu_count() or 1
        with process_pool(function, count, timeout, prepare) as submit:
            yield from _endings(submit, jobs, 2 * count)
        return
    # A job with a time limit runs in a child process of the worker: no executor can stop a running job.
    yield from _endings(_submitted(function, executor, timeout, prepare), jobs, _ahead(executor))


@contextmanager
def process_pool(
    function: Callable[[Job], Answer],
    processes: int,
    timeout: float | None = None,
    prepare: Prepare = isolation.load_nothing,
) -> Generator[Callable[[Job], Future[Answer]], None, None]:
    """Yield a function that submits a job to one of several processes; they are ended at the end.

    The processes start from scratch, independent of the state of this one, and receive no interrupts: each would print
    a traceback. A future raises `TimedOutError` for a job that took longer than ``timeout`` seconds, and `DiedError` if
    its process ended; the next job of that process starts another one.
    """
    from concurrent.futures import ThreadPoolExecutor

    children = [isolation.ChildProcess(prepare) for _ in range(processes)]
    # The process that was free last is used first, so that few jobs start few processes.
    free = [*reversed(children)]

    def ask(job: Job) -> Answer:
        child = free.pop()
        try:
            return child.ask(function, job, timeout)
        finally:
            free.append(child)

    threads = ThreadPoolExecutor(processes)

    def submit(job: Job) -> Future[Answer]:
        # A job may start a thread, and a thread starts processes: both inherit what is blocked.
        with BlockInterrupts():
            return threads.submit(ask, job)

    try:
        yield submit
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.stop()
        threads.shutdown()
        for child in children:
            child.end()


def _submitted(
    function: Callable[[Job], Answer], executor: Executor, timeout: float | None, prepare: Prepare
) -> Submit[Job, Answer]:
    if timeout is None:
        return lambda job: executor.submit(function, job)

    isolated = IsolatedFunction(function, timeout, prepare)
    return lambda job: executor.submit(isolated, job)


def _ahead(executor: Executor) -> int:
    workers = getattr(executor, "_max_workers", None)  # only thread and process executors have it
    return 2 * workers if isinstance(workers, int) and workers > 0 else AHEAD


def _endings(
    submit: Submit[Job, Answer], jobs: Iterable[Job], ahead: int
) -> Generator[Ending[Job, Answer], None, None]:
    done: SimpleQueue[Future[Answer]] = SimpleQueue()
    waiting: dict[Future[Answer], Job] = {}
    source = iter(jobs)
    try:
        while True:
            for job in islice(source, ahead - len(waiting)):
                future = submit(job)
                waiting[future] = job
                future.add_done_callback(done.put)
            if not waiting:
                return
            future = done.get()
            yield _ending(waiting.pop(future), future)
    finally:
        for future in waiting:
            future.cancel()


def _ending(job: Job, future: Future[Answer]) -> Ending[Job, Answer]:
    try:
        return Ending(job, "answered", future.result())
    except (TimedOutError, TimeoutError):
        return Ending(job, "timed out")
    except DiedError as error:
        return Ending(job, "died", status=error.status, text=str(error))
    except Exception as error:
        if isinstance(error, BrokenExecutor) or type(error).__name__ == _LOST:
            return Ending(job, "died", text=f"{type(error).__name__}")
        raise


# Dask's error for a job whose workers keep dying; Dask is not loaded for it.
_LOST = "KilledWorker"


# The outcome of checking one of many files, as plain data passed between processes and written to JSON lines.


Status: TypeAlias = Literal["checked", "failed", "timed out", "died"]


class Stamp(NamedTuple):
    """The state of a file: its size in bytes and its modification time in nanoseconds; -1 if there is no file."""

    size: int = -1
    modified: int = -1

    @staticmethod
    def of(path: str) -> Stamp:
        """Return the current state of a file."""
        try:
            state = Path(path).stat()
        except OSError:
            return Stamp()
        return Stamp(state.st_size, state.st_mtime_ns)


class ResultRow(TypedDict):
    """A result as JSON."""

    path: str
    size: int
    modified: int
    status: Status
    seconds: float
    problem: str
    report: dict[str, Any] | None


@dataclass(frozen=True)
class FileResult:
    """The outcome of checking one file.

    Attributes:
        path: The file.
        status: ``"checked"``; ``"failed"`` if it could not be checked: not a model, or the request does not fit it;
            ``"timed out"`` or ``"died"`` without an answer: its process exceeded the time limit or ended.
        seconds: The duration of the check in seconds; 0.0 if the process died.
        problem: Why there is no report; empty if there is one.
        report: The answer, as `symbcast.onnx.ModelReport.to_dict` returns it.
        stamp: The state of the file when it was checked.
    """

    path: str
    status: Status
    seconds: float = 0.0
    problem: str = ""
    report: dict[str, Any] | None = None
    stamp: Stamp = Stamp()  # noqa: RUF009 - a tuple, which nobody changes

    @property
    def verdict(self) -> str:
        """The verdict of the report; empty if there is no answer."""
        return "" if self.report is None else str(self.report["verdict"])

    def to_dict(self) -> ResultRow:
        """Return the result as data for JSON."""
        return {
            "path": self.path,
            "size": self.stamp.size,
            "modified": self.stamp.modified,
            "status": self.status,
            "seconds": round(self.seconds, 6),
            "problem": self.problem,
            "report": self.report,
        }

    @staticmethod
    def of(ending: Ending[Any, FileResult], path: str, timeout: float | None) -> FileResult:
        """Return the outcome of a file whose job ended; without an answer, the file's state is its current one."""
        if ending.answer is not None:
            return ending.answer
        result = FileResult(path, "died", stamp=Stamp.of(path))
        if ending.kind == "timed out" and timeout is not None:
            return replace(result, status="timed out", seconds=timeout, problem=f"took more than {timeout:g} seconds")
        return replace(result, problem=f"the process that checked it ended with {ending.text}; is it too large?")


# A file of results, one JSON line each, that can be continued after a stop.
#
# Each result is written as it arrives. A stop leaves complete lines and at most one partial line at the end, which is
# ignored.


FORMAT = "symbcast.results"
# It is incremented when a key changes meaning or is removed.
VERSION = 1


class Journal:
    """A file with the results of one question; ``question`` is JSON data that identifies it."""

    def __init__(self, path: Path, question: Mapping[str, Any]) -> None:
        self.path = path
        self._head = {"format": FORMAT, "version": VERSION, "question": json.loads(json.dumps(question))}
        self._stream: TextIO | None = None

    def resume(self, is_kept: Callable[[Mapping[str, Any]], bool]) -> dict[str, dict[str, Any]]:
        """Return the existing results to keep, by path, without their reports; the others are removed from the file.

        Results are kept if their files are unchanged and ``is_kept`` accepts them. Others are dropped.
        """
        self._check()
        rows: dict[str, dict[str, Any]] = {}
        draft = self.path.with_name(f".{self.path.name}.part")
        with CleanupOnInterrupt(lambda: draft.unlink(missing_ok=True)), draft.open("w", encoding="utf-8") as stream:
            stream.write(json.dumps(self._head) + "\n")
            for line, row in self._rows():
                if row["path"] not in rows and _is_as_it_was(row) and is_kept(row):
                    stream.write(line)
                    rows[row["path"]] = {**row, "report": _short(row.get("report"))}
        draft.replace(self.path)
        return rows

    def _check(self) -> None:
        """Raise `ExchangeError` if the file holds something else, so that it is not overwritten."""
        if self.path.exists() and self.path.stat().st_size:
            with self.path.open(encoding="utf-8", errors="replace") as stream:
                head = stream.readline()
            if head.endswith("\n") and (_read(head) or {}).get("format") != FORMAT:
                raise ExchangeError(str(self.path), "is not a results file", "name another one")

    def _rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the complete lines of the file if it is about the same question, with their contents."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as stream:
            if _read(stream.readline()) != self._head:
                return
            for line in stream:
                row = _read(line)
                if row is not None and isinstance(row.get("path"), str):
                    yield line, row

    def __enter__(self) -> Journal:
        is_new = not self.path.exists() or not self.path.stat().st_size
        self._stream = self.path.open("a", encoding="utf-8")
        if is_new:
            self._write(self._head)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a result."""
        self._write(row)

    def _write(self, data: Mapping[str, Any]) -> None:
        assert self._stream is not None
        self._stream.write(json.dumps(data) + "\n")
        self._stream.flush()


def read_results(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results in a file, in the order in which they were recorded."""
    with path.open(encoding="utf-8") as stream:
        next(stream, None)
        for line in stream:
            row = _read(line)
            if row is not None:
                yield row


def _read(line: str) -> dict[str, Any] | None:
    """Return the content of a line; None if it is incomplete."""
    if not line.endswith("\n"):
        return None
    try:
        content = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _is_as_it_was(row: Mapping[str, Any]) -> bool:
    """Return whether a file still has the size and modification time recorded with its result."""
    return Stamp(row.get("size", -1), row.get("modified", -1)) == Stamp.of(row["path"])


def _short(report: Any) -> dict[str, Any] | None:
    """Return the part of a report that a table shows."""
    if not isinstance(report, dict):
        return None
    left = {u["node"] for u in report["unanalysed"]}
    short = {"verdict": report["verdict"], "findings": len(report["findings"]), "unanalysed": len(left)}
    return {**short, "confirmations": report.get("confirmations", [])}


# Check many models, and yield results as they arrive.


class FileCheck(NamedTuple):
    """A file, the name of the front end that reads it, and the question."""

    path: str
    front_end: str
    question: ModelQuestion


def check_files(
    front_end: FrontEnd,
    paths: Iterable[str | PathLike[str]],
    question: ModelQuestion,
    executor: Executor | None,
    timeout: float | None,
) -> Iterator[FileResult]:
    """Check model files and yield each result as it arrives; a file that cannot be checked does not stop the others.

    Sizes and inputs in the question apply to the models that have them. ``executor`` is any executor of
    `concurrent.futures`; None uses processes on this machine. A model that takes longer than ``timeout`` seconds gets
    the status ``"timed out"``, and no verdict.
    """
    jobs = (FileCheck(fspath(path), front_end.name, question) for path in paths)
    with closing(run_jobs(_checked, jobs, executor, timeout, prepare=front_end.prepare)) as endings:
        for ending in endings:
            yield FileResult.of(ending, ending.job.path, timeout)


def _checked(job: FileCheck) -> FileResult:
    """Return the result for one file."""
    start, stamp = perf_counter(), Stamp.of(job.path)
    try:
        report = _report_on(job)
        result = FileResult(job.path, "checked", report=report, stamp=stamp)
    except MissingExtraError:
        raise
    except (SymbcastError, OSError) as error:
        result = FileResult(job.path, "failed", problem=" ".join(str(error).split()), stamp=stamp)
    except Exception as error:
        problem = f"the check itself failed ({type(error).__name__}: {error}); please report it"
        result = FileResult(job.path, "failed", problem=problem, stamp=stamp)
    return FileResult(result.path, result.status, perf_counter() - start, result.problem, result.report, stamp)


def _report_on(job: FileCheck) -> dict[str, object]:
    front_end, question = front_ends()[job.front_end].load(), job.question
    model = front_end.read(job.path, question.runtime)
    if question.known_inputs != NOTHING:
        names = names_in(front_end, model, question.known_inputs)
        question = question._replace(known_inputs=question.known_inputs.of(names.sizes, names.inputs))
    return front_end.report(check_graph(front_end, model, question)).to_dict()
