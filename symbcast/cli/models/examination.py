"""The check of one file from beginning to end: read, checked, run if that is asked, written, put into words."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from symbcast.answers.report.outcomes import Problem
from symbcast.batch.results import Stamp, Status
from symbcast.cli.models.outcomes import NO_NAMES, Confirmed, FileOutcome, Names
from symbcast.errors import MissingExtraError, ModelError, SymbcastError
from symbcast.interrupts import Undone

if TYPE_CHECKING:
    from symbcast.batch.endings import Ending
    from symbcast.onnx.report.confirmation import Confirmation
    from symbcast.onnx.report.model_report import ModelReport, ShownReport
    from symbcast.onnx.requirements.recorder import Runtime

T = TypeVar("T")


class Job(NamedTuple):
    """A file to check, and what is asked about it; ``target`` is where the annotated model goes, if anywhere.

    ``called`` is what it is called where that is not its path.
    """

    path: str
    assume: tuple[str, ...]
    bound: tuple[tuple[str, int], ...]
    shapes: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...]
    min_size: int
    runtime: Runtime
    format: str
    confirm: bool
    target: str | None
    called: str = ""

    @property
    def source(self) -> str:
        """What the model is called: its file, or ``-`` for standard input."""
        return self.called or self.path


def examine(job: Job) -> FileOutcome:
    """Return what becomes of a file; whatever is wrong with it is told, and stops nothing else."""
    start, stamp = perf_counter(), Stamp.of(job.path)
    names = NO_NAMES
    try:
        names = _names(job)
        found = _examined(job, names)
    except MissingExtraError:
        raise
    except ModelError as error:
        found = FileOutcome(job.source, names=names, problem=Problem(error.problem, error.hint))
    except OSError as error:
        found = FileOutcome(job.source, names=names, problem=Problem(error.strerror or " ".join(str(error).split())))
    except SymbcastError as error:
        found = FileOutcome(job.source, names=names, problem=Problem(" ".join(str(error).split())))
    except Exception as error:
        found = FileOutcome(job.source, names=names, problem=_fault(error))
    status: Status = "checked" if found.problem is None or found.verdict else "failed"
    return replace(found, seconds=perf_counter() - start, stamp=stamp, status=status)


def without_answer(job: Job, ending: Ending[Job, FileOutcome], timeout: float | None) -> FileOutcome:
    """Return what became of a file on which the process came to its end, or took longer than it may."""
    found = FileOutcome(job.source, status="died", stamp=Stamp.of(job.path))
    if ending.kind == "timed out" and timeout is not None:
        problem = Problem(f"the check took more than {timeout:g} seconds", "give it more with --timeout")
        return replace(found, problem=problem, status="timed out", seconds=timeout)
    return replace(found, problem=Problem(f"the process that checked it ended with {ending.text}", "is it too large?"))


def _fault(error: Exception) -> Problem:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return Problem(f"the check failed by a fault of its own ({text}, at {where})", "please report it with the model")


def _names_in(assumption: str) -> set[str]:
    from symbcast.answers.public.env import ShapeEnv

    return {*ShapeEnv(assumption).names.values()}


def is_openvino(path: str) -> bool:
    """Return whether a file is a model of OpenVINO, by its ending."""
    return path.lower().endswith(".xml")


def is_torch(path: str) -> bool:
    """Return whether a file is an exported program of PyTorch, by its ending."""
    return path.lower().endswith(".pt2")


def extra_of(path: str) -> str:
    """Return the extra that is needed for a file."""
    return "openvino" if is_openvino(path) else "torch" if is_torch(path) else "onnx"


def _front_end(job: Job) -> Callable[..., ShownReport]:
    """Return what answers about a model: the check of the format that it has."""
    if extra_of(job.path) != "onnx" and (job.confirm or job.target is not None):
        raise ModelError(job.path, "--confirm and --output are for ONNX models", "leave them out for this one")
    if is_openvino(job.path):
        from symbcast.openvino import check as check_openvino

        return partial(check_openvino, job.path)
    if is_torch(job.path):
        from symbcast.torch import check as check_torch

        return partial(check_torch, job.path)
    from symbcast.onnx import check

    return partial(check, job.path, runtime=job.runtime)


def _examined(job: Job, names: Names) -> FileOutcome:
    from symbcast.onnx.report.model_report import ModelReport

    if Path(job.path).is_dir():
        is_open = os.access(job.path, os.R_OK | os.X_OK)
        raise ModelError(job.path, "is a folder with no .onnx file in it" if is_open else "is a folder that is closed")
    ask = partial(
        _front_end(job),
        min_size=job.min_size,
        bind=_of(job.bound, names.sizes),
        shapes=_of(job.shapes, names.inputs),
        values=_of(job.values, names.inputs),
    )
    taken = [a for a in job.assume if _names_in(a) <= {*names.sizes}]
    report = ask(assume=taken)
    report = report.called(job.source)
    later = [a for a in job.assume if a not in taken and _names_in(a) <= {*names.sizes, *report.data_sizes}]
    if later:  # about sizes that data decide, whose names the check alone tells
        report = ask(assume=[*taken, *later]).called(job.source)
    confirmed = report.confirm() if job.confirm and isinstance(report, ModelReport) else ()
    found = FileOutcome(
        job.source,
        report.verdict.value,
        names=names._replace(sizes=(*names.sizes, *report.data_sizes)) if job.assume else names,
        findings=len(report.findings),
        unanalysed=len({left.node for left in report.unanalysed}),
        confirmed=tuple(map(_told, confirmed)),
    )
    if job.target is not None and isinstance(report, ModelReport):
        found = _written(found, report, job, Path(job.target))
    match job.format:
        case "text":
            return replace(found, document=report._document())
        case "json":
            return replace(found, data=report.to_dict())
        case _:
            from symbcast.onnx.report.notices import disagreements, notices_of

            return replace(found, notices=(*notices_of(report), *disagreements(confirmed)))


def _names(job: Job) -> Names:
    """Return the names in a model that may be spoken of, where something is said of such."""
    if not (job.bound or job.assume or job.shapes or job.values) or Path(job.path).is_dir():
        return NO_NAMES
    if is_openvino(job.path):
        from symbcast.openvino.inputs.sizes import names_in as names_in_openvino

        found = names_in_openvino(job.path, dict(job.shapes), dict(job.values))
    elif is_torch(job.path):
        from symbcast.torch.check_program import names_in as names_in_torch

        found = names_in_torch(job.path, dict(job.shapes), dict(job.values))
    else:
        from symbcast.onnx.inputs.present import names_in

        found = names_in(job.path, dict(job.shapes), dict(job.values), job.runtime)
    return Names(found.sizes, found.inputs)


def _of(given: Iterable[tuple[str, T]], names: Collection[str]) -> dict[str, T]:
    """Return what is given of those names that a model has."""
    return {name: told for name, told in given if name in names}


def _told(run: Confirmation) -> Confirmed:
    return Confirmed(run.sizes, run.expected, run.happened, run.agrees, run.reason, str(run))


def _written(found: FileOutcome, report: ModelReport, job: Job, target: Path) -> FileOutcome:
    """Write the annotated model, whole or not at all."""
    model = report.annotate()
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with Undone(lambda: draft.unlink(missing_ok=True)):
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(model.SerializeToString())
            draft.replace(target)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        return replace(found, problem=Problem(f"the annotated model cannot be written to {target}: {why}"))
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return replace(found, remarks=tuple(_moved(model, job, target)))


def _moved(model: Any, job: Job, target: Path) -> list[str]:
    """Say what data have to be put beside a model that is written to another folder."""
    from symbcast.onnx.inputs.models import outside

    source = Path(job.path)
    if target.parent.resolve() == source.parent.resolve():
        return []
    places = list(dict.fromkeys(outside(model)))
    where = "" if job.called else f" of {source.parent}"
    return [f"{target} needs {', '.join(places)}{where} beside it"] if places else []
