"""Check all functions of some files, in child processes that a function may kill."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tokenize import TokenError
from typing import Protocol

from symbcast.batch.endings import DiedError, TimedOutError
from symbcast.batch.isolation import Child
from symbcast.linting.checks.check import Asked, made
from symbcast.linting.codes import CODES, DIED, IMPORT
from symbcast.linting.findings import Checked, Finding, Status
from symbcast.linting.functions import Function, Position, Source, read_source
from symbcast.linting.report import LintReport
from symbcast.linting.running import worker
from symbcast.linting.running.cache import FOLDER, Cache
from symbcast.linting.running.config import Config
from symbcast.linting.running.files import changed_lines, module_name, python_files, root_of


class Watch(Protocol):
    """An observer that a run notifies while it goes on."""

    def begin(self, count: int) -> None:
        """There are ``count`` files to check."""

    def done(self, functions: Sequence[Checked]) -> None:
        """A file is done: what was found out about its functions, by line. Files end in any order."""


class Silent:
    """A watch that does nothing."""

    def begin(self, count: int) -> None:
        """Do nothing."""

    def done(self, functions: Sequence[Checked]) -> None:
        """Do nothing."""


def run(
    config: Config,
    since: str | None = None,
    is_wanted: Callable[[str, str], bool] = lambda path, name: True,
    watch: Watch | None = None,
) -> LintReport:
    """Check the functions of all files; with ``since``, only those that changed since a commit.

    ``is_wanted`` selects functions by file and qualified name.
    """
    changes = None if since is None else changed_lines(since)
    files = python_files(config.paths, config.exclude)
    if changes is not None:
        files = [f for f in files if str(Path(f).resolve()) in changes]
    cache = Cache(Path(FOLDER) if config.cache and changes is None else None, (config.min_size,))

    def selected(source: Source) -> Sequence[Function]:
        lines = None if changes is None else changes[str(Path(source.path).resolve())]
        return [f for f in source.functions if is_wanted(source.path, f.name) and (lines is None or _is_in(f, lines))]

    children = _Children()
    turns = _Turns(config.jobs or os.cpu_count() or 1)

    def checked(path: str) -> list[Checked]:
        with turns.one():
            found = _of_file(path, config, cache, selected, children)
        return [_without_ignored(c, config) for c in found]

    by_file = _all(checked, files, turns, children, watch or Silent())
    return LintReport(files, [c for path in files for c in by_file[path]])


def _all(
    checked: Callable[[str], list[Checked]], files: Sequence[str], turns: _Turns, children: _Children, watch: Watch
) -> dict[str, list[Checked]]:
    """Return the results of all files; the observer is notified as each file is done."""
    found: dict[str, list[Checked]] = {}
    watch.begin(len(files))
    with ThreadPoolExecutor(min(turns.count + _MORE, len(files)) or 1) as threads:
        try:
            paths = {threads.submit(checked, path): path for path in files}
            for done in as_completed(paths):
                functions = found[paths[done]] = done.result()
                watch.done(sorted(functions, key=lambda c: c.line))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            children.end()
    return found


_MORE = 4
"""How many slow files may keep running while others are checked."""
_PATIENCE = 10.0
"""After how many seconds a file that is not done lets another one begin; this changes no result."""


class _Turns:
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


class _Children:
    """Child processes, one for each thread: it is kept for the next file with the same root, as imports take long.

    Files of another root may import other modules by the same names, so they get a new process.
    """

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[Child] = []
        self._is_over = False

    def of(self, root: str) -> Child:
        """Return the process of this thread for a root. Raises `CancelledError` once all processes are ended."""
        if self._is_over:
            raise CancelledError
        child: Child | None = getattr(self._own, "child", None)
        if child is None or self._own.root != root:
            if child is not None:
                child.end()
            child = self._own.child = Child(worker.prepare)
            self._own.root = root
            self._all.append(child)
        return child

    def end(self) -> None:
        """End all processes."""
        self._is_over = True
        for child in self._all:
            child.end()


def _is_in(function: Function, changed: Iterable[range]) -> bool:
    return any(r.start <= function.last and function.first < r.stop for r in changed)


def _of_file(
    path: str,
    config: Config,
    cache: Cache,
    selected: Callable[[Source], Sequence[Function]],
    children: _Children,
) -> list[Checked]:
    try:
        source = read_source(path)
    except (SyntaxError, ValueError, TokenError, OSError, RecursionError, MemoryError) as error:
        return [_unread(path, error)]
    functions = selected(source)
    if not functions:
        return []
    known = cache.get(path) if len(functions) == len(source.functions) else None
    if known is not None:
        return [_in_source(c, source) for c in known]
    found: list[Checked] = []
    for number, function in enumerate(functions):
        child = children.of(root_of(path))
        asked = asked_of(path, function, config)
        stop = _not_imported(child, asked, config.timeout)
        if stop is not None:
            if stop.status == "unknown":  # it would take as long for each function
                found += [_unknown(asked_of(path, f, config), stop.reason) for f in functions[number:]]
            else:
                found.append(stop)
            return [_in_source(c, source) for c in found]
        result = _asked(child, asked, config.timeout)
        found += [] if result is None else [result]
    if len(functions) == len(source.functions) and not any(_is_by_clock(c) for c in found):
        cache.put(path, children.of(root_of(path)).ask(worker.loaded, root_of(path)), found)
    return [_in_source(c, source) for c in found]


def _unread(path: str, error: Exception) -> Checked:
    line, column = getattr(error, "lineno", 1) or 1, getattr(error, "offset", 1) or 1
    said = error.msg if isinstance(error, SyntaxError) else error
    if isinstance(error, (RecursionError, MemoryError)):
        said = "it is nested too deeply"
    return _of_module(path, Position(line, column), f"the file cannot be read: {said}")


def asked_of(path: str, function: Function, config: Config) -> Asked:
    """Return the question about a function of a file."""
    return Asked(path, module_name(path), function, config.min_size)


def checked_function(child: Child, source: Source, function: Function, config: Config) -> Checked | None:
    """Return what is reported about one function of a file; None if its annotations have no shapes."""
    asked = asked_of(source.path, function, config)
    found = _not_imported(child, asked, config.timeout) or _asked(child, asked, config.timeout)
    return None if found is None else _without_ignored(_in_source(found, source), config)


def shaped_functions(child: Child, source: Source, config: Config) -> list[Function]:
    """Return the functions of a file with shapes in their annotations. Raises `worker.NotImportedError`."""
    name = module_name(source.path)
    return [f for f in source.functions if child.ask(worker.is_shaped, Asked(source.path, name, f), config.timeout)]


_IMPORTS = 2
"""How many times as long as a function an import may take."""


def _not_imported(child: Child, asked: Asked, timeout: float) -> Checked | None:
    """Import the file of a function; return why that cannot be done, None if it is done."""
    try:
        child.ask(worker.imported, asked, _IMPORTS * timeout)
    except worker.NotImportedError as error:
        return _of_module(asked.path, Position(1, 1), f"the file cannot be imported: {error}")
    except DiedError as error:
        return _of_module(asked.path, Position(1, 1), f"importing the file killed the process: {error}")
    except TimedOutError as error:
        return _unknown(asked, f"{error}: the import of its file")
    except Exception as error:
        return _unknown(asked, f"{type(error).__name__}: {error}")
    return None


def _asked(child: Child, asked: Asked, timeout: float) -> Checked | None:
    """Ask a child process about a function; if it dies, that is a finding of this function."""
    name, place = asked.function.name, asked.function.place
    try:
        return child.ask(worker.checked, asked, timeout)
    except DiedError as error:
        finding = made(asked, DIED, place, f"{name} killed the process that traced it: {error}")
        return Checked(asked.path, name, place.line, "finding", findings=(finding,))
    except TimedOutError as error:
        return _unknown(asked, str(error))
    except Exception as error:  # an unforeseen error leaves this function unknown, and not all others
        return _unknown(asked, f"{type(error).__name__}: {error}")


def _unknown(asked: Asked, reason: str) -> Checked:
    return Checked(asked.path, asked.function.name, asked.function.place.line, "unknown", reason)


def _is_by_clock(found: Checked) -> bool:
    """Return whether a result may be another one on a faster machine."""
    return found.status == "unknown" and found.reason.startswith("took more than")


def _of_module(path: str, place: Position, message: str) -> Checked:
    finding = Finding(path, place.line, place.column, IMPORT.id, message)
    return Checked(path, "", place.line, "finding", findings=(finding,))


def _in_source(found: Checked, source: Source) -> Checked:
    """Return a result without the findings that comments ignore, on their line or on that of the function."""

    def is_kept(finding: Finding) -> bool:
        (codes,) = (c.both for c in CODES if c.id == finding.code)
        return not any(source.is_ignored(line, codes) for line in (finding.line, found.line))

    return _with(found, tuple(f for f in found.findings if is_kept(f)))


def _without_ignored(found: Checked, config: Config) -> Checked:
    return _with(found, tuple(f for f in found.findings if config.is_wanted(f.code)))


def _with(found: Checked, findings: tuple[Finding, ...]) -> Checked:
    if len(findings) == len(found.findings):
        return found
    status: Status = "finding" if findings else "partly"
    return replace(found, findings=findings, status=status, reason=found.reason or "findings are ignored")
