"""The check of one file from beginning to end: read, checked, run if that is asked, written, put into words."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.cli.outcomes import Confirmed, FileOutcome
from symbcast.errors import MissingExtraError, ModelError, SymbcastError
from symbcast.report.outcomes import Problem

if TYPE_CHECKING:
    from symbcast.onnx.report.confirmation import Confirmation
    from symbcast.onnx.report.model_report import ModelReport, ShownReport
    from symbcast.onnx.requirements.recorder import Runtime
    from symbcast.program.assumptions import Assumption


class Job(NamedTuple):
    """A file to check, and what is asked about it; ``target`` is where the annotated model goes, if anywhere."""

    path: str
    assume: tuple[str, ...]
    bound: tuple[tuple[str, int], ...]
    min_size: int
    runtime: Runtime
    format: str
    confirm: bool
    target: str | None


def examine(job: Job) -> FileOutcome:
    """Return what becomes of a file; whatever is wrong with it is told, and stops nothing else."""
    start = perf_counter()
    names: tuple[str, ...] = ()
    try:
        names = _names(job)
        found = _examined(job, names)
    except MissingExtraError:
        raise
    except ModelError as error:
        found = FileOutcome(job.path, names=names, problem=Problem(error.problem, error.hint))
    except (SymbcastError, OSError) as error:
        found = FileOutcome(job.path, names=names, problem=Problem(" ".join(str(error).split())))
    except Exception as error:
        found = FileOutcome(job.path, names=names, problem=_fault(error))
    return replace(found, seconds=perf_counter() - start)


def died(job: Job, status: int | None) -> FileOutcome:
    """Return what became of a file on which the process came to its end."""
    how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
    return FileOutcome(job.path, problem=Problem(f"the process that checked it ended with {how}", "is it too large?"))


def _fault(error: Exception) -> Problem:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return Problem(f"the check failed by a fault of its own ({text}, at {where})", "please report it with the model")


def _names_in(assumption: str) -> set[str]:
    from symbcast.api.env import ShapeEnv

    return {*ShapeEnv(assumption).names.values()}


def is_openvino(path: str) -> bool:
    """Return whether a file is a model of OpenVINO, by its ending."""
    return path.lower().endswith(".xml")


def _report(job: Job, assume: Sequence[str | Assumption]) -> ShownReport:
    """Return the answer about a model, by the front end that reads it."""
    if is_openvino(job.path):
        from symbcast.openvino import check as check_openvino

        if job.confirm or job.target is not None:
            raise ModelError(job.path, "--confirm and --output are for ONNX models", "leave them out for this one")
        return check_openvino(job.path, assume, job.min_size)
    from symbcast.onnx import check

    return check(job.path, assume, job.min_size, runtime=job.runtime)


def _examined(job: Job, names: tuple[str, ...]) -> FileOutcome:
    from symbcast.onnx.report.model_report import ModelReport

    if Path(job.path).is_dir():
        is_open = os.access(job.path, os.R_OK | os.X_OK)
        raise ModelError(job.path, "is a folder with no .onnx file in it" if is_open else "is a folder that is closed")
    bound = _sizes(job, names)
    taken = [a for a in job.assume if _names_in(a) <= {*names}]
    report = _report(job, [*taken, *bound])
    later = [a for a in job.assume if a not in taken and _names_in(a) <= {*names, *report.data_sizes}]
    if later:  # about sizes that data decide, whose names the check alone tells
        report = _report(job, [*taken, *later, *bound])
    confirmed = report.confirm() if job.confirm and isinstance(report, ModelReport) else ()
    found = FileOutcome(
        job.path,
        report.verdict.value,
        names=(*names, *report.data_sizes) if job.assume else names,
        findings=len(report.findings),
        unanalysed=len({left.node for left in report.unanalysed}),
        confirmed=tuple(map(_told, confirmed)),
    )
    if job.target is not None and isinstance(report, ModelReport):
        found = _written(found, report, Path(job.target))
    match job.format:
        case "text":
            from symbcast.onnx.report.document import document

            return replace(found, document=document(report))
        case "json":
            return replace(found, data=report.to_dict())
        case _:
            from symbcast.onnx.report.notices import disagreements, notices_of

            return replace(found, notices=(*notices_of(report), *disagreements(confirmed)))


def _names(job: Job) -> tuple[str, ...]:
    """Return the names of the sizes that the inputs of a model have, where something is said of such."""
    if not (job.bound or job.assume) or Path(job.path).is_dir():
        return ()
    from symbcast.api.env import ShapeEnv

    if is_openvino(job.path):
        from symbcast.openvino.inputs.models import load as load_openvino
        from symbcast.openvino.inputs.sizes import read_parameters

        graph = load_openvino(job.path)[1].graph
        return tuple(s.name for s in read_parameters(graph, ShapeEnv()).inputs.symbols)
    from symbcast.onnx.inputs.models import load
    from symbcast.onnx.inputs.names import read_inputs

    return tuple(s.name for s in read_inputs(load(job.path)[1].graph, ShapeEnv()).symbols)


def _sizes(job: Job, names: tuple[str, ...]) -> list[Assumption]:
    """Return that the sizes which a model has, of those that are bound, are what they are bound to."""
    from symbcast.algebra.symbols import symbol
    from symbcast.logic.formulas import equal
    from symbcast.program.assumptions import Assumption

    return [Assumption(equal(symbol(n), size), f"{n} == {size}") for n, size in job.bound if n in names]


def _told(run: Confirmation) -> Confirmed:
    return Confirmed(run.sizes, run.expected, run.happened, run.agrees, run.reason, str(run))


def _written(found: FileOutcome, report: ModelReport, target: Path) -> FileOutcome:
    """Write the annotated model, whole or not at all."""
    model = report.annotate()
    draft = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(model.SerializeToString())
        draft.replace(target)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        return replace(found, problem=Problem(f"the annotated model cannot be written to {target}: {why}"))
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return replace(found, remarks=tuple(_moved(model, Path(found.source), target)))


def _moved(model: Any, source: Path, target: Path) -> list[str]:
    """Say what data have to be put beside a model that is written to another folder."""
    from symbcast.onnx.inputs.models import outside

    if target.parent.resolve() == source.parent.resolve():
        return []
    places = list(dict.fromkeys(outside(model)))
    return [f"{target} needs {', '.join(places)} of {source.parent} beside it"] if places else []
