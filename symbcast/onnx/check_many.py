"""The check of many models: by processes of one machine, or by any executor, the results as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from os import PathLike, fspath
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from symbcast.batch.execution import run
from symbcast.batch.results import FileResult, Stamp
from symbcast.core.program.sizes.assumptions import Assumptions, read_assumptions
from symbcast.errors import MissingExtraError, SymbcastError
from symbcast.graphs.check import names_in, of_names
from symbcast.graphs.inputs.given import ContentsLike, read_given
from symbcast.onnx.check_model import check
from symbcast.onnx.reader import read

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symbcast.core.program.sizes.assumptions import Assumption
    from symbcast.core.shapes import ShapeLike
    from symbcast.onnx.validity.opsets import Runtime


class _Job(NamedTuple):
    path: str
    assume: tuple[Assumption, ...]
    min_size: int
    bind: Mapping[str, int]
    shapes: Mapping[str, ShapeLike]
    values: Mapping[str, ContentsLike]
    runtime: Runtime


def check_many(  # noqa: PLR0913 - each is something that is known, or asked
    paths: Iterable[str | PathLike[str]],
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: Runtime = "spec",
    executor: Executor | None = None,
    timeout: float | None = None,
) -> Iterator[FileResult]:
    """Check model files and yield what comes of each, as it comes; one that cannot be checked stops no other.

    The question is that of `check`; sizes and inputs that are spoken of are those of the models that have them.
    ``executor`` is any executor of `concurrent.futures`: of threads, of processes, or ``Client.get_executor()`` of
    dask.distributed; None is for processes of this machine, one for each core, that outlive a model that crashes.
    A model that takes longer than ``timeout`` seconds has the status ``"timed out"``, and no verdict. Only a few models
    are with the executor at a time, and ``paths`` may go on for ever.

    What is yielded is plain data, for it goes between processes: `check` of the path gives the whole report.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     [(found.path, found.status, found.problem) for found in check_many(["no.onnx"], executor=threads)]
    [('no.onnx', 'failed', 'no.onnx: there is no such file')]
    """
    read_given(bind, shapes, values, min_size)
    question = tuple(read_assumptions(assume)), min_size, bind or {}, shapes or {}, values or {}, runtime
    jobs = (_Job(fspath(path), *question) for path in paths)
    with closing(run(_checked, jobs, executor, timeout, prepare=prepare)) as endings:
        for ending in endings:
            yield FileResult.of(ending, ending.job.path, timeout)


def prepare() -> None:
    """Load what checks of models need: it takes longer than most of them."""
    from onnx.parser import parse_model

    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[N] a, float[M] b) => (float[] y) { y = Add(a, b) }'
    check(parse_model(text)).to_dict()


def _checked(job: _Job) -> FileResult:
    """Return what comes of one file."""
    start, stamp = perf_counter(), Stamp.of(job.path)
    try:
        report = _report(job)
        found = FileResult(job.path, "checked", report=report, stamp=stamp)
    except MissingExtraError:
        raise
    except (SymbcastError, OSError) as error:
        found = FileResult(job.path, "failed", problem=" ".join(str(error).split()), stamp=stamp)
    except Exception as error:
        problem = f"the check failed by a fault of its own ({type(error).__name__}: {error}); please report it"
        found = FileResult(job.path, "failed", problem=problem, stamp=stamp)
    return FileResult(found.path, found.status, perf_counter() - start, found.problem, found.report, stamp)


def _report(job: _Job) -> dict[str, object]:
    path, assume, min_size, bind, shapes, values, runtime = job
    if bind or shapes or values:
        names = names_in(read(path, runtime), shapes, values)
        bind, shapes, values = (
            of_names(bind, names.sizes),
            of_names(shapes, names.inputs),
            of_names(values, names.inputs),
        )
    return check(path, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime).to_dict()
