"""Check many models, in processes on this machine or with any executor, and yield results as they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from os import PathLike, fspath
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from symbcast.batch.execution import run
from symbcast.batch.results import FileResult, Stamp
from symbcast.errors import MissingExtraError, SymbcastError
from symbcast.graphs.check import Asked, checked, names_in
from symbcast.graphs.inputs.given import NOTHING
from symbcast.graphs.registry import front_ends

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symbcast.graphs.front_end import FrontEnd


class Job(NamedTuple):
    """A file, the name of the front end that reads it, and the question."""

    path: str
    front_end: str
    asked: Asked


def check_files(
    front_end: FrontEnd,
    paths: Iterable[str | PathLike[str]],
    asked: Asked,
    executor: Executor | None,
    timeout: float | None,
) -> Iterator[FileResult]:
    """Check model files and yield each result as it arrives; a file that cannot be checked does not stop the others.

    Sizes and inputs in the question apply to the models that have them. ``executor`` is any executor of
    `concurrent.futures`; None uses processes on this machine. A model that takes longer than ``timeout`` seconds gets
    the status ``"timed out"``, and no verdict.
    """
    jobs = (Job(fspath(path), front_end.name, asked) for path in paths)
    with closing(run(_result, jobs, executor, timeout, prepare=front_end.prepare)) as endings:
        for ending in endings:
            yield FileResult.of(ending, ending.job.path, timeout)


def _result(job: Job) -> FileResult:
    """Return the result for one file."""
    start, stamp = perf_counter(), Stamp.of(job.path)
    try:
        report = _report(job)
        found = FileResult(job.path, "checked", report=report, stamp=stamp)
    except MissingExtraError:
        raise
    except (SymbcastError, OSError) as error:
        found = FileResult(job.path, "failed", problem=" ".join(str(error).split()), stamp=stamp)
    except Exception as error:
        problem = f"the check itself failed ({type(error).__name__}: {error}); please report it"
        found = FileResult(job.path, "failed", problem=problem, stamp=stamp)
    return FileResult(found.path, found.status, perf_counter() - start, found.problem, found.report, stamp)


def _report(job: Job) -> dict[str, object]:
    front_end, asked = front_ends()[job.front_end].load(), job.asked
    model = front_end.read(job.path, asked.runtime)
    if asked.given != NOTHING:
        names = names_in(front_end, model, asked.given)
        asked = asked._replace(given=asked.given.of(names.sizes, names.inputs))
    return front_end.report(checked(front_end, model, asked)).to_dict()
