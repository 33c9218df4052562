"""``symbcast model``: for which sizes each of some model files runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from symbcast.cli import model_files
from symbcast.cli.command import Meaning, command
from symbcast.cli.evaluation import At, sizes_of
from symbcast.cli.options import GuardIn
from symbcast.cli.terminal import STDIN, Bar, Exit, UsageError, checked, meant_choice, path_exists, status_of
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.verdicts import Verdict
from symbcast.errors import MissingExtraError, SymbcastError

if TYPE_CHECKING:
    from symbcast.cli.model_examination import CheckJob, Workers
    from symbcast.cli.model_outcomes import FileOutcome, ModelNames

Format: TypeAlias = Literal["text", "json", "sarif", "github"]
PadMode: TypeAlias = Literal["zero", "edge", "reflect"]
FailOn: TypeAlias = Literal["never", "sometimes", "unknown"]

# More than one file of more bytes than this is worth the start of processes, which takes about a second.
LARGE = 2**20

EPILOGUE = """Example: symbcast model encoder.onnx --assume "batch >= 1" --bind seq=128

Exit status of model: 0 all models always run, 1 a model runs for some sizes or none (or --confirm disagrees), 2 wrong \
usage or a file that cannot be read or checked (the others still are), 3 not decided."""
WORDS = {"onnx": "model MODEL.onnx", "info": "model MODEL.onnx, or symbcast --help"}


@command(epilogue=EPILOGUE, subject="models", words=WORDS)
def model(  # noqa: PLR0913 - each is an option
    *files: str,
    assume: list[str] | None = None,
    bind: list[str] | None = None,
    shapes: list[str] | None = None,
    values: list[str] | None = None,
    min_size: int = 1,
    runtime: str | None = None,
    function: str | None = None,
    free: list[str] | None = None,
    share: bool = False,
    pad: PadMode | None = None,
    format: Format = "text",
    guard: GuardIn = None,
    at: At = None,
    output: str | None = None,
    html: str | None = None,
    overwrite: bool = False,
    confirm: bool = False,
    memory: bool = False,
    whole: Annotated[bool, Meaning("Print all requirements, outputs and values, however many.", ("--all",))] = False,
    fail_on: FailOn = "sometimes",
    jobs: Annotated[int | None, Meaning(names=("--jobs", "-j"))] = None,
    timeout: float | None = None,
    results: str | None = None,
    resume: bool = False,
    dask: str | None = None,
) -> int:
    """Say for which input sizes models run (ONNX, OpenVINO, StableHLO, LiteRT, PyTorch), and which node requires what.

    Parameters
    ----------
    files
        Model files, or folders, in which every .onnx, .onnx.gz and .onnxtxt file is checked; .xml files are OpenVINO's,
        .mlir, .mlirbc and .bc files StableHLO's, .tflite files LiteRT's, .pt2 files PyTorch's.
        - reads one ONNX model from standard input; a file whose name begins with "-" must follow --.
    assume
        An assumption about the sizes, such as "batch >= 2"; may be repeated.
    bind
        A fixed value for a size, such as batch=4, in the models that have the size; may be repeated.
    shapes
        The shape of an input, which names or fixes its sizes, such as "x=N, 3, H, W"; may be repeated.
    values
        The elements of an integer input, as numbers and sizes, such as steps=4,N//2; may be repeated.
    min_size
        The minimum size of every dynamic dimension.
    runtime
        Whose behaviour to follow: for ONNX, its documents (spec, the default) or ONNX Runtime (onnxruntime, the default
        with --free); for StableHLO, unasserted leaves out the module's assertions.
    function
        The function to check, in a StableHLO module that has several, or the signature of a LiteRT model.
    free
        The axes of inputs of an ONNX model that are to take every size, such as N, "N, H, W" or "image=N, 3, H, W": the
        model is rewritten, checked again, and written to --output; may be repeated for several inputs.
    share
        With --free, give the sizes of inputs that must be equal one name.
    pad
        With --free, pad inputs inside the model to the next sizes that work, with zeros, their edge or their rows
        backwards, and crop the outputs.
    format
        Text to read, JSON, SARIF for code scanning, or GitHub workflow commands.
    output
        Where to write the ONNX model annotated with every known shape, or the model with free sizes: a file, or a
        folder for several models.
    html
        Where to write a page with the answer and the model's graph, with shapes on its edges, for any browser.
    overwrite
        Let --output and --html replace existing files.
    confirm
        Run ONNX models in ONNX Runtime too, at the smallest sizes that work and at those that fail.
    memory
        Print the least and greatest bytes of each value instead, and the most bytes alive at once, without weights;
        bound the sizes with --assume "H <= 640".
    fail_on
        When to exit with 1: if models run only for some sizes or for none, just if for none, or also if undecided.
    jobs
        The number of models to check at a time, each in its own process; 0 for one per core. By default one per core
        if more than one file is larger than 1 MiB, otherwise 1.
    timeout
        The time limit for one model in seconds; a model that takes longer is reported as timed out, without a verdict.
    results
        A file to which each result is written as it arrives, as one line of JSON; only the table is then printed.
    resume
        Continue the results file: check only models that are not in it, or have changed since.
    dask
        The address of a Dask scheduler, such as tcp://host:8786, whose workers check the models.
    """
    from symbcast.cli.model_examination import CheckJob, Workers, recorded
    from symbcast.cli.model_outcomes import ModelNames

    if not files:
        raise UsageError("give one model or more, or a folder of them: symbcast model encoder.onnx")
    is_of_many = results is not None or dask is not None
    if overwrite and output is None and html is None:
        raise UsageError("--overwrite lets --output or --html replace a file: name the file with one of these")
    if html is not None and is_of_many:
        raise UsageError("--html is the page of one model: leave --results and --dask out")
    if STDIN in files and (len(files) > 1 or is_of_many):
        raise UsageError("- reads one model from standard input: give no other file, no --results and no --dask")
    if guard is not None and (format != "text" or results is not None):
        raise UsageError("--guard prints source text: leave --format and --results out")
    if memory and (guard is not None or free or format not in ("text", "json")):
        other = "--guard" if guard is not None else "--free" if free else f"--format {format}"
        raise UsageError(f"--memory prints the bytes of a model's values: leave {other} out")
    sizes_asked = sizes_of(at, guard)
    if sizes_asked is not None:
        _check_at({"--memory": memory, "--free": free, "--confirm": confirm, "--results or --dask": is_of_many}, format)
    if (share or pad) and not free:
        raise UsageError(f'{"--share" if share else "--pad"} is for freed sizes: add --free "N, H, W"')
    if function == "":
        raise UsageError("--function: give the name of a function, such as main")
    checked("--min-size", check_min_size, min_size)
    bound = model_files.bound_sizes(bind or (), min_size)
    _check_options(timeout, results, resume, format)
    model_files.check_named(shapes or (), partial(inputs_of, files))
    known = model_files.inputs_given("shapes", shapes or ()), model_files.inputs_given("values", values or ())
    sizes = (*_assumed(assume or (), min_size), *(name for name, _ in bound))
    names = ModelNames(sizes, tuple(dict.fromkeys(name for paths in known for name, _ in paths)))
    told_in: str = format if results is None else "json"
    with model_files.model_on_stdin("stdin") if STDIN in files else nullcontext("") as piped:
        # Workers elsewhere have other working directories.
        paths = [piped or file if dask is None else str(Path(file).absolute()) for file in files]
        models = model_files.model_files(paths)
        alone = "--guard" if guard is not None else "--at" if sizes_asked is not None else ""
        if alone and len(models) != 1:
            raise UsageError(f"{alone} is about one model: {len(models)} are given")
        if html is not None:
            check_page(html, models, overwrite)
        means = Workers(_processes(jobs, models), timeout, dask)
        check_front_ends(models, runtime, confirm)
        written = model_files.output_paths(output, models, files, overwrite) if output is not None else {}
        options = (tuple(assume or ()), bound, *known, min_size, runtime or "", told_in, confirm)
        others = (STDIN if piped else "", function or "", guard, html, tuple(free or ()), share, pad, memory)
        jobs_to_run = [
            CheckJob(path, *options, written.get(path), *others, at=sizes_asked, whole=whole) for path in models
        ]
        if results is None:
            return _status(_report_outcomes(jobs_to_run, means, names, guard or format), fail_on)

        return _status(recorded(jobs_to_run, means, names, Path(results), resume), fail_on)


def _check_at(others: Mapping[str, object], format: Format) -> None:
    """Raise `UsageError` for options that do not go with ``--at``."""
    wrong = next((name for name, value in others.items() if value), "" if format in ("text", "json") else "--format")
    if wrong:
        raise UsageError(f"--at prints whether a model runs at some sizes: leave {wrong} out")


def check_page(html: str, files: Sequence[str], overwrite: bool) -> None:
    """Raise `UsageError` if a page cannot be written: of several models, or over a file that is to stay."""
    if html in ("", STDIN):
        raise UsageError(f"--html {html}: standard output carries the report; name a file, such as model.html")
    if len(files) != 1:
        raise UsageError(f"--html is the page of one model: {len(files)} are given")
    if Path(html).is_dir():
        raise UsageError(f"--html {html} is a folder; name a file in it, such as {Path(html) / 'model.html'}")
    if path_exists(html) and (not overwrite or Path(html).resolve() == Path(files[0]).resolve()):
        raise UsageError(f"--html {html} already exists; name another{', or add --overwrite' * (not overwrite)}")


def _check_options(timeout: float | None, results: str | None, resume: bool, format: Format) -> None:
    """Raise `UsageError` for options that are wrong or incompatible."""
    if timeout is not None and not 0 < timeout < float("inf"):
        raise UsageError(f"--timeout {timeout:g}: give the time limit for each model in seconds, such as 60")
    if resume and results is None:
        raise UsageError("--resume continues a results file: name it with --results")
    if results == STDIN:
        raise UsageError("--results - : standard output carries the table; name a file")
    if results is not None and format != "text":
        raise UsageError(f"--results writes JSON and prints only the table: omit --format {format}")
    if results is not None and not resume and path_exists(results):
        raise UsageError(f"--results {results} already exists: continue it with --resume, or name another file")


def check_front_ends(files: Sequence[str], runtime: str | None, confirm: bool) -> None:
    """Raise `UsageError` for a runtime unknown to the files' front ends, and `MissingExtraError` for missing extras."""
    from importlib.util import find_spec

    registered = dict.fromkeys(model_files.front_end_for(file) for file in files if model_files.is_readable(file))
    for front_end in registered:
        front_end.check()
    if confirm and find_spec("onnxruntime") is None:
        raise MissingExtraError("--confirm", "onnxruntime")
    if runtime is not None and registered:
        known = list(dict.fromkeys(name for front_end in registered for name in front_end.load().runtimes))
        if runtime not in known:
            close = meant_choice(runtime, known)
            hint = f"did you mean {close}? It" if close else "it"
            raise UsageError(f"--runtime {runtime}: {hint} is {'one of ' * (len(known) > 1)}{' or '.join(known)}")


def _processes(jobs: int | None, files: Sequence[str]) -> int:
    """Return how many processes check files: as many as wanted, or what the sizes of the files suggest."""
    if jobs is not None and jobs < 0:
        raise UsageError(f"-j {jobs}: give 1 or more processes, or 0 for one per core")
    if jobs is None:
        large = (path for path in map(Path, files) if path.is_file() and path.stat().st_size > LARGE)
        jobs = 1 if len(list(islice(large, 2))) < 2 else 0
    return jobs or os.cpu_count() or 1


def _assumed(texts: Sequence[str], min_size: int) -> Iterator[str]:
    """Yield the names in assumptions; raise the error of an invalid one."""
    from symbcast.core.programs.program import Program

    yield from Program(list(texts), min_size).shown.values()


def _report_outcomes(jobs: Sequence[CheckJob], means: Workers, names: ModelNames, format: str) -> list[FileOutcome]:
    """Check the files and report their outcomes in order, each as it comes if the format allows."""
    from symbcast.cli.model_examination import known_outcomes, outcomes_of
    from symbcast.cli.model_outcomes import OUTCOME_WRITERS

    teller = OUTCOME_WRITERS[format](len(jobs))
    done = []
    with Bar(len(jobs), "checking") as bar, closing(outcomes_of(jobs, means, bar.advance)) as outcomes:
        for outcome in known_outcomes(outcomes, names):
            with bar.away():
                teller.tell(outcome)
            done.append(outcome)
    teller.end(done)
    return done


def _status(outcomes: Sequence[FileOutcome], fail_on: FailOn) -> Exit:
    """Return the exit status of all files: a file that could not be read comes first, then a model that fails."""
    if any(o.problem is not None for o in outcomes):
        return Exit.USAGE
    statuses = {status_of(Verdict(o.verdict), fail_on) for o in outcomes if o.verdict}
    if Exit.FAILS in statuses or any(c.agrees is False for o in outcomes for c in o.confirmed):
        return Exit.FAILS
    return Exit.UNDECIDED if Exit.UNDECIDED in statuses else Exit.ALWAYS


def inputs_of(files: Sequence[str]) -> Sequence[str]:
    """Return the names of the inputs of the only model; none if there are several, or if it cannot be read."""
    if len(files) != 1 or not model_files.is_readable(files[0]):
        return ()
    try:
        front_end = model_files.front_end_for(files[0])
        front_end.check()
        loaded = front_end.load()
        return loaded.read(files[0], loaded.runtime(None)).input_names
    except SymbcastError:
        return ()
