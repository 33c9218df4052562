"""Check many models, in local processes or on any executor, and yield results as they finish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING

from symbcast.batch.results import FileResult
from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.signatures import with_advice
from symbcast.errors import ShapeTypeError
from symbcast.graphs.check import read_asked
from symbcast.graphs.many import check_files
from symbcast.onnx.front_end import FRONT_END

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.inputs.given import ContentsLike
    from symbcast.onnx.validity.opsets import Runtime


@with_advice
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
    """Check model files and yield each result as it finishes; a failing model does not stop the others.

    The arguments are those of `check`; given sizes and inputs apply to those models that have them. ``executor`` is any
    `concurrent.futures` executor: threads, processes, or ``Client.get_executor()`` of dask.distributed. None means one
    process per core of this machine; a model that crashes does not end the run. A model that takes longer than
    ``timeout`` seconds has the status ``"timed out"`` and no verdict. Only a few models are submitted at a time, so
    ``paths`` may be infinite.

    Results are plain data because they pass between processes; call `check` on the path for the full report.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     [(found.path, found.status, found.problem) for found in check_many(["no.onnx"], executor=threads)]
    [('no.onnx', 'failed', 'no.onnx: there is no such file')]
    """
    if isinstance(paths, (str, PathLike)):
        raise ShapeTypeError(paths, "a list of paths", f"write check_many([{str(paths)!r}])")
    asked = read_asked(FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime)
    return check_files(FRONT_END, paths, asked, executor, timeout)
