"""The check of model files: one read, checked, run and written; many in processes, and kept in a journal."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from symbcast.answers.outcomes import Notice, Problem
from symbcast.answers.show.document import Room, Shortener
from symbcast.cli.evaluation import evaluated
from symbcast.cli.model_files import check_readable, front_end_for
from symbcast.cli.model_outcomes import NO_NAMES, FileOutcome, ModelNames, RuntimeRun, data_of, remark, show_summary
from symbcast.cli.options import guard_text
from symbcast.cli.terminal import Bar, UsageError, print_error, print_text
from symbcast.core import __version__
from symbcast.core.characters import closest, prose_list
from symbcast.core.interrupts import CleanupOnInterrupt, RaiseFirstInterrupt
from symbcast.core.isolation import Ending, load_nothing
from symbcast.core.programs.program import Program
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import MissingExtraError, ModelError, SymbcastError
from symbcast.graphs.check import FrontEnd, check_graph, names_in, read_question
from symbcast.graphs.inputs import read_known_inputs
from symbcast.graphs.jobs import FileResult, Journal, Stamp, Status, run_jobs
from symbcast.graphs.model import Model
from symbcast.graphs.report.answer import under_name

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symbcast.graphs.report.graph_report import GraphReport
    from symbcast.onnx.report import Confirmation


# Work in several processes: answers come in order, and a process that dies loses only its own job.


Work = TypeVar("Work")
Answer = TypeVar("Answer")

# How long a Dask scheduler may take to answer at all.
SECONDS_TO_CONNECT = 10


def in_order(
    endings: Iterable[Ending[tuple[int, Work], Answer]], tell: Callable[[], None]
) -> Generator[Ending[Work, Answer], None, None]:
    """Yield how numbered jobs ended, in the order of their numbers."""
    # Jobs end in any order; what is early waits for the jobs before it.
    early: dict[int, Ending[Work, Answer]] = {}
    following = 0
    for ending in endings:
        number, job = ending.job
        early[number] = Ending(job, ending.kind, ending.answer, ending.status, ending.text)
        tell()
        while following in early:
            yield early.pop(following)
            following += 1


def numbered(function: Callable[[Work], Answer], job: tuple[int, Work]) -> Answer:
    """Return the answer of a function to a job with a number."""
    return function(job[1])


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Provide the executor of a Dask cluster, given the address of its scheduler.

    Raises `UsageError` if no scheduler answers, and `MissingExtraError` without the extra ``dask``.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("--dask", "dask") from None
    if not re.fullmatch(r"\w+://.+|.+:\d+", address):
        raise UsageError(f"--dask {address}: write the address of a scheduler, such as tcp://host:8786")
    try:
        client: Any = Client(address, set_as_default=False, timeout=SECONDS_TO_CONNECT)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(f"--dask {address}: no scheduler answers there ({error})") from None
    with client:
        yield client.get_executor(pure=False)  # a changed file is a different job


# Files are checked in this process, in several, or on a cluster; names that no file has are an error.


class Workers(NamedTuple):
    """The number of processes that check files, the time limit per file, and a Dask scheduler to use instead."""

    processes: int = 1
    timeout: float | None = None
    dask: str | None = None


def outcomes_of(
    jobs: Sequence[CheckJob], means: Workers, advance: Callable[[], None], is_ordered: bool = True
) -> Generator[FileOutcome, None, None]:
    """Yield the outcomes of files, in order or as they arrive; ``advance`` is called for each."""
    is_alone = means.processes == 1 or len(jobs) <= 1
    if is_alone and means.timeout is None and means.dask is None:
        for job in jobs:
            outcome = examine(job)
            advance()
            yield outcome
        return

    processes = max(1, min(means.processes, len(jobs)))
    prepare = front_end_for(jobs[0].path).load().prepare if jobs else load_nothing
    with RaiseFirstInterrupt(), ExitStack() as stack:
        executor = stack.enter_context(dask_executor(means.dask)) if means.dask is not None else None
        ask = partial(run_jobs, executor=executor, timeout=means.timeout, processes=processes, prepare=prepare)
        endings: Iterator[Ending[CheckJob, FileOutcome]]
        if is_ordered:
            endings = in_order(stack.enter_context(closing(ask(partial(numbered, examine), enumerate(jobs)))), advance)
        else:
            endings = stack.enter_context(closing(ask(examine, jobs)))
        for ending in endings:
            if not is_ordered:
                advance()
            yield ending.answer or without_answer(ending.job, ending, means.timeout)


def known_outcomes(outcomes: Iterator[FileOutcome], names_to_find: ModelNames) -> Iterator[FileOutcome]:
    """Yield the outcomes once every name that the user mentioned was found in a model.

    Raises `UsageError` if a name is in no model: the answer would otherwise ignore it silently.
    """
    # A name may occur only in a later model, so outcomes wait until each name was seen, or all models were.
    missing = [set(names) for names in names_to_find]
    names_seen: list[dict[str, None]] = [{} for _ in names_to_find]
    waiting: list[FileOutcome] = []
    for outcome in outcomes:
        for names, left, seen in zip(outcome.names, missing, names_seen, strict=True):
            left.difference_update(names)
            seen.update(dict.fromkeys(names))
        waiting.append(outcome)
        if not any(missing):
            yield from waiting
            waiting.clear()
    if any(o.verdict for o in waiting):
        for what, left, seen in zip(("size", "input"), missing, names_seen, strict=True):
            if left:
                raise UsageError(_unknown(what, sorted(left)[0], list(seen)))
    yield from waiting


def _unknown(what: str, name: str, names: Sequence[str]) -> str:
    close = closest(name, names)
    hint = f"did you mean {close!r}? " if close else ""
    if not names and what == "size":
        opened = 'use --free "N, H, W" --output free.onnx to open those of an ONNX model'
        return f"no size in these models is named {name!r}: all sizes are fixed; {opened}"
    there = (
        f"there {'are' if len(names) > 1 else 'is'} {prose_list(names, limit=20)}" if names else "there are none at all"
    )
    return f"no {what} in these models is named {name!r}; {hint}{there[0].upper() + there[1:] if hint else there}"


# Results of checking many files, recorded as they arrive, and a table of all results at the end.


def recorded(
    jobs: Sequence[CheckJob], means: Workers, names: ModelNames, path: Path, resume: bool
) -> list[FileOutcome]:
    """Check files, record each result as it arrives, print the table, and return all outcomes in order.

    With ``resume``, results in the file are kept: see `symbcast.graphs.jobs`. Files that timed out are checked again
    if the time limit is longer now, and files whose process died are always checked again.
    """
    journal = Journal(path, _question(jobs))
    previous = journal.resume(lambda row: _is_kept(row, means.timeout)) if resume else {}
    done = {job.path: _outcome(previous[job.path]) for job in jobs if job.path in previous}
    left = [job for job in jobs if job.path not in done]
    with journal, Bar(len(left), "checking") as bar, closing(outcomes_of(left, means, bar.advance, False)) as outcomes:
        written = _written(outcomes, journal)
        # Names that occur only in files already done are not mistakes.
        for outcome in known_outcomes(written, names) if not done else written:
            with bar.away():
                if outcome.problem is not None:
                    print_error(f"{outcome.source}: {outcome.problem}")
                remark(outcome)
            done[outcome.source] = outcome
    recorded_outcomes = [done[job.path] for job in jobs]
    show_summary(recorded_outcomes)
    print_text(f"results: {path}" + (f" ({len(previous)} of them from before)" if previous else ""))
    return recorded_outcomes


def _written(outcomes: Iterable[FileOutcome], journal: Journal) -> Iterator[FileOutcome]:
    for outcome in outcomes:
        problem = "" if outcome.problem is None else str(outcome.problem)
        report = data_of(outcome) if outcome.data is not None else None
        result = FileResult(outcome.source, outcome.status, outcome.seconds, problem, report, outcome.stamp)
        journal.add(result.to_dict())
        yield replace(outcome, data=None)  # thousands of reports would not fit into memory


def _question(jobs: Sequence[CheckJob]) -> dict[str, Any]:
    """Return the question about every file as data for JSON, with the version that answers it."""
    if not jobs:
        return {}
    question = jobs[0]._asdict()
    return {
        **{key: question[key] for key in question if key not in ("path", "target", "called", "html")},
        "symbcast": __version__,
    }


def _is_kept(row: Mapping[str, Any], timeout: float | None) -> bool:
    if row["status"] == "timed out":
        return timeout is not None and timeout <= row["seconds"]
    return bool(row["status"] != "died")


def _outcome(row: Mapping[str, Any]) -> FileOutcome:
    """Return the outcome of a recorded result."""
    report = row["report"] or {"verdict": "", "findings": 0, "unanalysed": 0, "confirmations": []}
    problem = Problem(row["problem"]) if row["problem"] else None
    stamp = Stamp(row["size"], row["modified"])
    return FileOutcome(
        row["path"],
        report["verdict"],
        problem,
        seconds=row["seconds"],
        findings=report["findings"],
        unanalysed=report["unanalysed"],
        confirmed=tuple(RuntimeRun(**run, text="") for run in report["confirmations"]),
        status=row["status"],
        stamp=stamp,
    )


T = TypeVar("T")


class CheckJob(NamedTuple):
    """A file to check, with the options of the check; ``target`` is the path of the annotated model, if one is written.

    ``called`` is its display name if that is not its path; ``function`` is the function to check, if one is named;
    ``guard`` the language of the guard that is wanted instead of a report. ``html`` is the path of the page, if one is
    written; ``at`` are the sizes that the answer is about, if not all are.
    """

    path: str
    assume: tuple[str, ...]
    bound: tuple[tuple[str, int], ...]
    shapes: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...]
    min_size: int
    runtime: str
    format: str
    confirm: bool
    target: str | None
    called: str = ""
    function: str = ""
    guard: str | None = None
    html: str | None = None
    free: tuple[str, ...] = ()
    share: bool = False
    pad: str | None = None
    memory: bool = False
    at: Mapping[str, Any] | None = None
    whole: bool = False

    @property
    def source(self) -> str:
        """The model's display name: its file, or ``-`` for standard input."""
        return self.called or self.path


def examine(job: CheckJob) -> FileOutcome:
    """Return the outcome of a file; a problem with it is reported, and does not stop other files."""
    start, stamp = perf_counter(), Stamp.of(job.path)
    names = NO_NAMES
    try:
        opened = _opened(job)
        names = opened.names(job)
        outcome = _examined(job, opened, names)
    # A missing package concerns all files: it ends the command, with one message.
    except MissingExtraError:
        raise
    except ModelError as error:
        outcome = FileOutcome(job.source, names=names, problem=Problem(error.problem, error.hint))
    except OSError as error:
        outcome = FileOutcome(job.source, names=names, problem=Problem(error.strerror or " ".join(str(error).split())))
    except (SymbcastError, UsageError) as error:
        outcome = FileOutcome(job.source, names=names, problem=Problem(" ".join(str(error).split())))
    except Exception as error:
        outcome = FileOutcome(job.source, names=names, problem=_fault(error))
    status: Status = "checked" if outcome.problem is None or outcome.verdict else "failed"
    return replace(outcome, seconds=perf_counter() - start, stamp=stamp, status=status)


def without_answer(job: CheckJob, ending: Ending[CheckJob, FileOutcome], timeout: float | None) -> FileOutcome:
    """Return the outcome of a file whose process died or exceeded its time limit."""
    outcome = FileOutcome(job.source, status="died", stamp=Stamp.of(job.path))
    if ending.kind == "timed out" and timeout is not None:
        problem = Problem(f"the check took more than {timeout:g} seconds", "allow more time with --timeout")
        return replace(outcome, problem=problem, status="timed out", seconds=timeout)
    text = f"the process that checked it ended with {ending.text}"
    return replace(outcome, problem=Problem(text, "is it too large?"))


def _fault(error: Exception) -> Problem:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return Problem(f"the check itself failed ({text}, at {where})", "please report it with the model")


def _names_in(assumption: str) -> set[str]:

    return {*Program(assumption).shown.values()}


class _Opened(NamedTuple):
    """A model read from its file, its front end, and the runtime that the question is about."""

    front_end: FrontEnd
    model: Model
    runtime: str

    def check(self, **question_options: Any) -> GraphReport:
        """Return the answer about the model."""
        question = read_question(self.front_end, runtime=self.runtime, **question_options)
        return self.front_end.report(check_graph(self.front_end, self.model, question))

    def names(self, job: CheckJob) -> ModelNames:
        """Return the names in the model that a caller may use, if the job mentions any."""
        if not (job.bound or job.assume or job.shapes or job.values):
            return NO_NAMES

        inputs = self.model.input_names
        known = read_known_inputs(shapes=_of(job.shapes, inputs), values=_of(job.values, inputs))
        names = names_in(self.front_end, self.model, known)
        return ModelNames(names.sizes, names.inputs)


def _opened(job: CheckJob) -> _Opened:
    check_readable(job.path)
    front_end = front_end_for(job.path).load()
    for option in _unsupported(job, front_end):
        raise ModelError(job.path, f"{option} is not for models of {front_end.name}", "omit it for this model")
    runtime = front_end.runtime(job.runtime)
    if job.function and front_end.read_function is not None:
        return _Opened(front_end, front_end.read_function(job.path, runtime, job.function), runtime)
    return _Opened(front_end, front_end.read(job.path, runtime), runtime)


def _unsupported(job: CheckJob, front_end: FrontEnd) -> Iterator[str]:
    """Yield the options in use that are not for models of a front end."""
    if job.confirm and not hasattr(front_end.report, "confirm"):
        yield "--confirm"
    if job.target is not None and not hasattr(front_end.report, "annotate"):
        yield "--output"
    if job.function and front_end.read_function is None:
        yield "--function"
    if job.free and front_end.name != "onnx":
        yield "--free"


def _freed(job: CheckJob) -> FileOutcome:
    """Return the outcome of a model whose sizes are freed; it is run before and after if it can be."""
    from importlib.util import find_spec

    from symbcast.onnx import free
    from symbcast.onnx.freeing.freed import read_axes

    runtime, pad = cast("Any", job.runtime or "onnxruntime"), cast("Any", job.pad)
    freed = free(job.path, read_axes(job.free), share=job.share, pad=pad, runtime=runtime)
    has_runtime = find_spec("onnxruntime") is not None
    runs = freed.confirm() if job.confirm or has_runtime else ()
    not_run = () if has_runtime else (f"the new model was not run: {MissingExtraError('a run', 'onnxruntime')}",)
    outcome = FileOutcome(
        job.source,
        freed.verdict.value,
        findings=len(freed.report.findings),
        unanalysed=len({left.node for left in freed.report.unanalysed}),
        confirmed=tuple(RuntimeRun(r.sizes, r.expected, r.happened, r.agrees, "", str(r)) for r in runs),
        remarks=not_run,
    )
    if job.target is not None:
        outcome = _with_model_written(outcome, freed.model, job, Path(job.target))
    if job.html is not None:
        outcome = _pictured(outcome, freed.report, Path(job.html))
    if job.format == "text":
        return replace(outcome, document=freed._document())
    return replace(outcome, data=freed.to_dict())


def _examined(job: CheckJob, opened: _Opened, names: ModelNames) -> FileOutcome:
    if job.free:
        return _freed(job)
    ask = partial(
        opened.check,
        min_size=job.min_size,
        bind=_of(job.bound, names.sizes),
        shapes=_of(job.shapes, names.inputs),
        values=_of(job.values, names.inputs),
    )
    taken = [a for a in job.assume if _names_in(a) <= {*names.sizes}]
    report = ask(assume=taken)
    report = under_name(report, job.source)
    later = [a for a in job.assume if a not in taken and _names_in(a) <= {*names.sizes, *report.data_sizes}]
    if later:  # about sizes that data decide, whose names only the check knows
        report = under_name(ask(assume=[*taken, *later]), job.source)
    confirmed = cast("Any", report).confirm() if job.confirm else ()
    outcome = FileOutcome(
        job.source,
        report.verdict.value,
        names=names._replace(sizes=(*names.sizes, *report.data_sizes)) if job.assume else names,
        findings=len(report.findings),
        unanalysed=len({left.node for left in report.unanalysed}),
        confirmed=tuple(_runtime_run(run, report) for run in confirmed),
    )
    if job.target is not None:
        outcome = _with_model_written(outcome, cast("Any", report).annotate(), job, Path(job.target))
    if job.html is not None:
        outcome = _pictured(outcome, report, Path(job.html))
    if job.guard is not None:
        left = sorted({left.node for left in report.unanalysed})
        remarks = [f"the guard does not cover {prose_list(left, limit=3)}: not analysed"] if left else []
        return replace(outcome, guard=guard_text(report, job.guard, job.format), remarks=(*outcome.remarks, *remarks))
    if job.at is not None:
        answer = evaluated(report, job.at)
        outcome = replace(outcome, verdict=answer.verdict.value)
        if job.format == "json":
            return replace(outcome, data={**report.to_dict(), "at": answer.to_dict()})
        return replace(outcome, document=answer.document(job.source))
    match job.format:
        case "text":
            outcome = replace(outcome, next_step=_freeing_step(opened, report))
            shown = report.bounds() if job.memory else report
            document = shown._document(Room.WHOLE) if job.whole else shown._document()
            return replace(outcome, document=document)
        case "json":
            more = {"memory": report.bounds().to_dict()} if job.memory else {}
            return replace(outcome, data={**report.to_dict(), **more})
        case _:
            from symbcast.graphs.report.presentation import notices_of

            return replace(outcome, notices=(*notices_of(report), *_disagreements(confirmed)))


def _freeing_step(opened: _Opened, report: GraphReport) -> str:
    """Return how to free the sizes of a model whose inputs are all fixed; empty for other models."""
    ranks = [shape.rank for shape in report.inputs.values() if shape is not None]
    if opened.front_end.name != "onnx" or report.verdict is not Verdict.ALWAYS or report._shown or not any(ranks):
        return ""
    axes = '"N, H, W"' if 4 in ranks else "N"
    return f"all input sizes are fixed; use --free {axes} --output free.onnx for a model that takes others"


def _disagreements(confirmed: Iterable[Confirmation]) -> Iterable[Notice]:
    if not confirmed:
        return ()
    from symbcast.onnx.report import disagreements

    return disagreements(confirmed)


def _of(pairs: Iterable[tuple[str, T]], names: Collection[str]) -> dict[str, T]:
    """Return the given facts about the names that a model has."""
    return {name: text for name, text in pairs if name in names}


def _runtime_run(run: Confirmation, report: GraphReport) -> RuntimeRun:

    text = Shortener(report.aliases).text(str(run))
    return RuntimeRun(run.sizes, run.expected, run.happened, run.agrees, run.reason, text)


def _pictured(outcome: FileOutcome, report: GraphReport, target: Path) -> FileOutcome:
    """Write the page of a model."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        report.plot().save(target)
    except OSError as error:
        problem = Problem(f"the page cannot be written to {target}: {error.strerror or error}")
        return replace(outcome, problem=problem)
    return replace(outcome, remarks=(*outcome.remarks, f"the page is {target}"))


def _with_model_written(outcome: FileOutcome, model: Any, job: CheckJob, target: Path) -> FileOutcome:
    """Write the annotated model, completely or not at all."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with CleanupOnInterrupt(lambda: draft.unlink(missing_ok=True)):
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(model.SerializeToString())
            # A reader sees the whole model or none, also if this process is killed.
            draft.replace(target)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        return replace(outcome, problem=Problem(f"the annotated model cannot be written to {target}: {why}"))
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return replace(outcome, remarks=(*outcome.remarks, *_moved(model, job, target)))


def _moved(model: Any, job: CheckJob, target: Path) -> list[str]:
    """Say which data files must be put next to a model that is written to another folder."""
    from symbcast.onnx.reader import external_locations

    source = Path(job.path)
    if target.parent.resolve() == source.parent.resolve():
        return []
    places = list(dict.fromkeys(external_locations(model)))
    them = "them" if len(places) > 1 else "it"
    folder = "this folder" if source.parent == Path() else str(source.parent)
    where = "" if job.called else f"; copy {them} from {folder}"
    return [f"{target} needs {', '.join(places)} next to it{where}"] if places else []
