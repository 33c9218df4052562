"""Check all functions of many files in child processes that a function may kill, and keep results of unchanged ones."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tokenize import TokenError
from types import ModuleType
from typing import Any, Protocol

from symbcast.core import __version__
from symbcast.core.isolation import ChildProcess, DiedError, TimedOutError
from symbcast.errors import MissingExtraError
from symbcast.linting import recording, sources
from symbcast.linting.findings import CODES, DIED, IMPORT, Checked, CheckStatus, Finding, LintReport
from symbcast.linting.sources import FunctionToCheck, finding_without_sizes

# The part of lint that runs in a child process: it imports users' modules and traces their functions.


class NotImportedError(ImportError):
    """The module of a file cannot be imported; the text is the error."""


def prepare_child() -> None:
    """Switch off run-time checkers of annotations before users' modules are imported: they cannot check a trace.

    No bytecode is written beside users' files: Python would take it for that of a file changed within the same second.
    """
    importlib.import_module("symbcast.linting.checks")  # with NumPy, which only children need
    sys.dont_write_bytecode = True
    os.environ["JAXTYPING_DISABLE"] = "1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    warnings.simplefilter("ignore")
    for package, names in _CHECKERS.items():
        sys.meta_path.insert(0, _WithoutChecks(package, names))


_CHECKERS = {"beartype": ("beartype",), "typeguard": ("typechecked",)}


class _WithoutChecks:
    """Replaces the decorators of a package by ones that return their function, once the package is imported."""

    def __init__(self, package: str, names: tuple[str, ...]) -> None:
        self.package, self.names = package, names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.package:
            return None
        # Before the import below, which would come here again.
        sys.meta_path.remove(self)
        if importlib.util.find_spec(name) is None:  # jaxtyping asks for packages that need not be there
            return None
        module = importlib.import_module(name)
        for decorator in self.names:
            setattr(module, decorator, _unchanged)
        return module.__spec__


def _unchanged(function: Any = None, **options: Any) -> Any:
    """Return a function unchanged, or a decorator that does, as ``beartype(conf=...)``."""
    return (lambda inner: inner) if function is None else function


def import_in_child(request: FunctionToCheck) -> None:
    """Import the module of a function. Raises `NotImportedError`."""
    with _silence():
        for path in request.examples:
            _module(path, sources.module_name(path))
        _module(request.path, request.module)


def check_in_child(request: FunctionToCheck) -> Checked | None:
    """Return what was found out about a function; None if its annotations say nothing about shapes.

    Raises `NotImportedError` if its module cannot be imported.
    """
    from symbcast.linting.checks import check_function

    with _silence():
        module = _module(request.path, request.module)
        start = time.process_time()
        checked = check_function(module, request)
        seconds = time.process_time() - start
    return checked and Checked(**{**vars(checked), "seconds": round(seconds, 4)})


def has_shapes_in_child(request: FunctionToCheck) -> bool:
    """Return whether the annotations of a function say anything about shapes.

    Raises `NotImportedError` if its module cannot be imported.
    """
    from symbcast.linting.checks import has_shapes

    with _silence():
        return has_shapes(_module(request.path, request.module), request)


def imported_files(root: str) -> list[str]:
    """Return the source files under a folder that were imported in this process."""
    files = (getattr(m, "__file__", None) for m in list(sys.modules.values()))
    paths = {str(Path(f).resolve()) for f in files if f and f.endswith(".py")}
    return sorted(f for f in paths if f.startswith(root + os.sep) and "site-packages" not in f[len(root) :])


def imported_modules(root: str) -> list[str]:
    """Return the modules that were imported in this process and do not lie under a folder, in order of their import."""
    own = {n for n, m in sys.modules.items() if str(getattr(m, "__file__", "") or root).startswith(root + os.sep)}
    return [n for n, m in sys.modules.items() if n not in own and getattr(m, "__spec__", None) and n != "__main__"]


@dataclass(frozen=True)
class WarmProcess:
    """Prepares a child process as `prepare_child` does, and imports modules that the next file will need."""

    modules: tuple[str, ...] = ()

    def __call__(self) -> None:
        """Prepare this process."""
        prepare_child()
        with _silence():
            for name in self.modules:
                with suppress(Exception):
                    importlib.import_module(name)


# The errors of files that could not be imported in this process.
_FAILED: dict[str, str] = {}


def _module(path: str, name: str) -> ModuleType:
    """Import a file by the name of its module."""
    if path in _FAILED:
        raise NotImportedError(_FAILED[path])
    root = str(Path(path).resolve().parents[name.count(".")])
    if Path(path).name == "__init__.py":
        root = str(Path(path).resolve().parents[name.count(".") + 1])
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        return _imported(path, name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script may raise SystemExit
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        _FAILED[path] = text
        raise NotImportedError(text) from None


def _imported(path: str, name: str) -> ModuleType:
    module = importlib.import_module(name)
    # Another file may have the name, of another folder or an installed package.
    if _is_same(module, path):
        return module
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_same(module: ModuleType, path: str) -> bool:
    return bool(module.__file__) and Path(str(module.__file__)).resolve() == Path(path).resolve()


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what users' code prints and warns out of the output of lint."""
    sink = io.StringIO()
    with redirect_stdout(sink), redirect_stderr(sink), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# Results of earlier runs, kept as long as the files that they come from have the same content.


FOLDER = ".symbcast_cache"


class ResultCache:
    """A folder of results, one file for each source file.

    A result is used again if the source file, all files that its module imported from the same root, the options and
    the installed packages are the same. One with the shapes of variables serves those who want none, too.
    """

    def __init__(self, folder: Path | None, config: sources.LintConfig) -> None:
        self.folder, self._has_shapes = folder, config.shapes
        self._options, self._with_shapes = (
            _hash(f"{__version__} {sys.version} {_options(c)!r} {c.descriptions} {_installed()}")
            for c in (config, replace(config, shapes=True))
        )

    def get(self, path: str) -> list[Checked] | None:
        """Return the results for a source file; None if there are none, or the content changed."""
        file = self._file(path)
        if file is None or not file.exists():
            return None
        try:
            data = json.loads(file.read_text("utf-8"))
            is_of_options = data["options"] in (self._options, self._with_shapes)
            if not is_of_options or any(digest(p) != d for p, d in data["files"].items()):
                return None
            functions = map(Checked.from_dict, data["functions"])
            return list(functions) if self._has_shapes else [replace(c, shapes=()) for c in functions]
        except (ValueError, KeyError, TypeError, OSError):
            return None  # written by another version, or cut off

    def put(self, path: str, files: Iterable[str], functions: Sequence[Checked]) -> None:
        """Keep the results for a source file, with the files that they come from."""
        file = self._file(path)
        if file is None:
            return
        data = {
            "options": self._options,
            "files": {p: digest(p) for p in {str(Path(path).resolve()), *files}},
            "functions": [c.to_dict() for c in functions],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        ignore = file.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(data), "utf-8")
        # Another run may read the file at this moment.
        draft.replace(file)

    def _file(self, path: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{_hash(str(Path(path).resolve()))[:32]}.json"


def digest(path: str) -> str:
    """Return the hash of a file's content; empty if it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def _installed() -> str:
    """Return the installed distributions with their versions, by the names of their folders."""
    entries = (e.name for p in sys.path if p and Path(p).is_dir() for e in Path(p).iterdir())
    return _hash(" ".join(sorted(n for n in entries if n.endswith((".dist-info", ".egg-info")))))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# All functions of some files, each file in a child process, which a function may kill.


class RunObserver(Protocol):
    """An observer that a run notifies while it goes on."""

    def begin(self, count: int) -> None:
        """There are ``count`` files to check."""

    def done(self, functions: Sequence[Checked]) -> None:
        """A file is done: what was found out about its functions, by line. Files end in any order."""


class SilentObserver:
    """A watch that does nothing."""

    def begin(self, count: int) -> None:
        """Do nothing."""

    def done(self, functions: Sequence[Checked]) -> None:
        """Do nothing."""


def run(
    config: sources.LintConfig,
    since: str | None = None,
    is_wanted: Callable[[str, str], bool] = lambda path, name: True,
    watch: RunObserver | None = None,
    processes: CheckProcesses | None = None,
) -> LintReport:
    """Check the functions of all files; with ``since``, only those that changed since a commit.

    ``is_wanted`` selects functions by file and qualified name. ``processes`` are ended by the caller, if there are any.
    Raises `MissingExtraError` if descriptions are to be read and cannot be.
    """
    if config.descriptions and importlib.util.find_spec("docstring_parser") is None:
        raise MissingExtraError("descriptions", "docstrings")
    changes = None if since is None else sources.changed_lines(since)
    files = sources.python_files(config.paths, config.exclude)
    if changes is not None:
        files = [f for f in files if str(Path(f).resolve()) in changes]
    cache = ResultCache(Path(FOLDER) if config.cache and changes is None else None, config)

    def selected(source: sources.SourceFile) -> Sequence[sources.SourceFunction]:
        lines = None if changes is None else changes[str(Path(source.path).resolve())]
        return [f for f in source.functions if is_wanted(source.path, f.name) and (lines is None or _is_in(f, lines))]

    children = processes or CheckProcesses()
    turns = _FileSlots(config.jobs or os.cpu_count() or 1)

    def checked(path: str) -> list[Checked]:
        with turns.one():
            functions = _of_file(path, config, cache, selected, children)
        return [_without_ignored(c, config) for c in functions]

    try:
        by_file = _all(checked, files, turns, children, watch or SilentObserver())
    finally:
        if processes is None:
            children.end()
    return LintReport(files, _with_joined_imports([c for path in files for c in by_file[path]]))


_NOT_IMPORTED = "the file cannot be imported: "


def _with_joined_imports(checked: Sequence[Checked]) -> list[Checked]:
    """Return results with one finding for all files whose import fails in the same way, at the first of them."""
    files: dict[str, list[Checked]] = {}
    for one in checked:
        if one.findings and one.findings[0].message.startswith(_NOT_IMPORTED):
            files.setdefault(one.findings[0].message, []).append(one)
    joined: list[Checked] = []
    for one in checked:
        message = one.findings[0].message if one.findings else ""
        alike = files.get(message, [one])
        if one is not alike[0]:
            joined.append(replace(one, status="skipped", reason=message, findings=()))
        elif len(alike) > 1:
            text = f"{message}; nor can {len(alike) - 1} other{'s' * (len(alike) > 2)}"
            joined.append(replace(one, findings=(replace(one.findings[0], message=text),)))
        else:
            joined.append(one)
    return joined


def _all(
    checked: Callable[[str], list[Checked]],
    files: Sequence[str],
    turns: _FileSlots,
    children: CheckProcesses,
    watch: RunObserver,
) -> dict[str, list[Checked]]:
    """Return the results of all files; the observer is notified as each file is done."""
    checked_by_file: dict[str, list[Checked]] = {}
    watch.begin(len(files))
    with ThreadPoolExecutor(min(turns.count + _MORE, len(files)) or 1) as threads:
        try:
            paths = {threads.submit(checked, path): path for path in files}
            for done in as_completed(paths):
                functions = checked_by_file[paths[done]] = done.result()
                watch.done(sorted(functions, key=lambda c: c.line))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            children.stop()  # before the threads are waited for
            raise
    return checked_by_file


# How many slow files may keep running while others are checked.
_MORE = 4
# After how many seconds a file that is not done lets another one begin; this changes no result.
_PATIENCE = 10.0


class _FileSlots:
    """Lets ``count`` files be checked at once, and one more for each that takes long: an import without an end, say."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = threading.Semaphore(count)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Wait until a file may begin; it gives its turn back when it ends, or when it takes long."""
        self._free.acquire()
        left = [self._free]

        def give_back() -> None:
            with suppress(IndexError):  # given back already
                left.pop().release()

        timer = threading.Timer(_PATIENCE, give_back)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            give_back()


def new_process() -> ChildProcess:
    """Return a process that checks functions."""
    return ChildProcess(prepare_child)


class CheckProcesses:
    """Child processes, one for each thread: it is kept for the next file with the same root, as imports take long.

    Files of another root may import other modules by the same names, so they get a new process, which ``start`` makes.
    ``modules`` are those that the last file to be checked imported from elsewhere.
    """

    def __init__(self, start: Callable[[], ChildProcess] = new_process) -> None:
        self._start = start
        self.modules: tuple[str, ...] = ()
        self._own = threading.local()
        self._all: list[ChildProcess] = []
        self._is_over = False

    def of(self, root: str) -> ChildProcess:
        """Return the process of this thread for a root. Raises `CancelledError` once all processes are ended."""
        if self._is_over:
            raise CancelledError
        child: ChildProcess | None = getattr(self._own, "child", None)
        if child is None or self._own.root != root:
            if child is not None:
                child.end()
            child = self._own.child = self._start()
            self._own.root = root
            self._all.append(child)
        return child

    def stop(self) -> None:
        """Kill all processes; what they were asked is given up."""
        self._is_over = True
        for child in self._all:
            child.stop()

    def end(self) -> None:
        """End all processes, which no thread waits for any more."""
        self._is_over = True
        for child in self._all:
            child.end()


def _is_in(function: sources.SourceFunction, changed: Iterable[range]) -> bool:
    return any(r.start <= function.last and function.first < r.stop for r in changed)


def _of_file(
    path: str,
    config: sources.LintConfig,
    cache: ResultCache,
    selected: Callable[[sources.SourceFile], Sequence[sources.SourceFunction]],
    children: CheckProcesses,
) -> list[Checked]:
    try:
        source = sources.read_source(path, descriptions=config.descriptions)
    except (SyntaxError, ValueError, TokenError, OSError, RecursionError, MemoryError) as error:
        return [_unread(path, error)]
    functions = selected(source)
    if not functions:
        return []
    # Results are kept for whole files: those of a selection would be taken for all.
    known = cache.get(path) if len(functions) == len(source.functions) else None
    if known is not None:
        return [_in_source(c, source) for c in known]
    results: list[Checked] = []
    for number, function in enumerate(functions):
        child = children.of(sources.root_of(path))
        request = function_to_check(path, function, config)
        stop = _not_imported(child, request, config.timeout)
        if stop is not None:
            if stop.status == "unknown":  # it would take as long for each function
                results += [_unknown(function_to_check(path, f, config), stop.reason) for f in functions[number:]]
            else:
                results.append(stop)
            return [_in_source(c, source) for c in results]
        result = _ask_child(child, request, config.timeout)
        results += [] if result is None else [result]
    root = sources.root_of(path)
    if len(functions) == len(source.functions) and not any(_is_by_clock(c) for c in results):
        # Except those that a clock decided: a faster machine may find something.
        files = children.of(root).ask(imported_files, root)
        cache.put(path, [*files, *config.examples, str(Path(recording.FILE).resolve())], results)
    if config.shapes:
        children.modules = tuple(children.of(root).ask(imported_modules, root))
    return [_in_source(c, source) for c in results]


def _unread(path: str, error: Exception) -> Checked:
    line, column = getattr(error, "lineno", 1) or 1, getattr(error, "offset", 1) or 1
    said = error.msg if isinstance(error, SyntaxError) else error
    if isinstance(error, (RecursionError, MemoryError)):
        said = "it is nested too deeply"
    return _of_module(path, sources.Position(line, column), f"the file cannot be read: {said}")


def _options(config: sources.LintConfig) -> tuple[int, bool, bool, bool]:
    """Return the options that change the result of a function."""
    return config.min_size, config.strict_sizes, config.strict_dots, config.shapes


def function_to_check(path: str, function: sources.SourceFunction, config: sources.LintConfig) -> FunctionToCheck:
    """Return the question about a function of a file."""
    examples = tuple(str(Path(e).resolve()) for e in config.examples)
    objects = str(Path(recording.FILE).resolve())
    return FunctionToCheck(path, sources.module_name(path), function, *_options(config), examples, objects)


def check_one_function(
    child: ChildProcess, source: sources.SourceFile, function: sources.SourceFunction, config: sources.LintConfig
) -> Checked | None:
    """Return what is reported about one function of a file; None if its annotations have no shapes."""
    request = function_to_check(source.path, function, config)
    checked = _not_imported(child, request, config.timeout) or _ask_child(child, request, config.timeout)
    return None if checked is None else _without_ignored(_in_source(checked, source), config)


def shaped_functions(
    child: ChildProcess, source: sources.SourceFile, config: sources.LintConfig
) -> list[sources.SourceFunction]:
    """Return the functions of a file with shapes in their annotations. Raises `worker.NotImportedError`."""
    name = sources.module_name(source.path)
    return [
        f
        for f in source.functions
        if child.ask(has_shapes_in_child, FunctionToCheck(source.path, name, f), config.timeout)
    ]


# How many times as long as a function an import may take.
_IMPORTS = 2


def _not_imported(child: ChildProcess, request: FunctionToCheck, timeout: float) -> Checked | None:
    """Import the file of a function; return why that cannot be done, None if it is done."""
    try:
        child.ask(import_in_child, request, _IMPORTS * timeout)
    except NotImportedError as error:
        return _of_module(request.path, sources.Position(1, 1), f"{_NOT_IMPORTED}{error}")
    except DiedError as error:
        return _of_module(request.path, sources.Position(1, 1), f"importing the file killed the process: {error}")
    except TimedOutError as error:
        return _unknown(request, f"{error}: the import of its file")
    except Exception as error:
        return _unknown(request, f"{type(error).__name__}: {error}")
    return None


def _ask_child(child: ChildProcess, request: FunctionToCheck, timeout: float) -> Checked | None:
    """Ask a child process about a function; if it dies, that is a finding of this function."""
    name, place = request.function.name, request.function.place
    try:
        return child.ask(check_in_child, request, timeout)
    except DiedError as error:
        finding = finding_without_sizes(request, DIED, place, f"{name} killed the process that traced it: {error}")
        return Checked(request.path, name, place.line, "finding", findings=(finding,))
    except TimedOutError as error:
        return _unknown(request, str(error))
    except Exception as error:  # an unforeseen error leaves this function unknown, and not all others
        return _unknown(request, f"{type(error).__name__}: {error}")


def _unknown(request: FunctionToCheck, reason: str) -> Checked:
    return Checked(request.path, request.function.name, request.function.place.line, "unknown", reason)


def _is_by_clock(checked: Checked) -> bool:
    """Return whether a result may be another one on a faster machine."""
    return checked.status == "unknown" and checked.reason.startswith("took more than")


def _of_module(path: str, place: sources.Position, message: str) -> Checked:
    finding = Finding(path, place.line, place.column, IMPORT.id, message)
    return Checked(path, "", place.line, "finding", findings=(finding,))


def _in_source(checked: Checked, source: sources.SourceFile) -> Checked:
    """Return a result without the findings that comments ignore, on their line or on that of the function."""

    def is_kept(finding: Finding) -> bool:
        (codes,) = (c.both for c in CODES if c.id == finding.code)
        return not any(source.is_ignored(line, codes) for line in (finding.line, checked.line))

    return _with(checked, tuple(f for f in checked.findings if is_kept(f)))


def _without_ignored(checked: Checked, config: sources.LintConfig) -> Checked:
    return _with(checked, tuple(f for f in checked.findings if config.is_wanted(f.code)))


def _with(checked: Checked, findings: tuple[Finding, ...]) -> Checked:
    if len(findings) == len(checked.findings):
        return checked
    status: CheckStatus = "finding" if findings else "partly"
    return replace(checked, findings=findings, status=status, reason=checked.reason or "findings are ignored")
