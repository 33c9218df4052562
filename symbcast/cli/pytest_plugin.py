"""The plugin of pytest: with ``--symbcast``, each function with shape annotations is a test item.

pytest imports this module in every run, so it imports nothing until it is asked to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.core.isolation import ChildProcess
    from symbcast.linting import sources

_CHILD: pytest.StashKey[Any] = pytest.StashKey()
_RECORDER: pytest.StashKey[Any] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("symbcast")
    group.addoption("--symbcast", action="store_true", help="check the shape annotations of functions for all sizes")
    group.addoption(
        "--symbcast-record",
        action="store_true",
        help="note how tests make objects, for the shape annotations of their methods",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to note constructor calls: before test modules are imported, as these make objects too."""
    if config.getoption("--symbcast-record"):
        from symbcast.linting import recording

        config.stash[_RECORDER] = recording.Recorder(config.rootpath)
        config.stash[_RECORDER].begin()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the calls in a file; a worker of xdist gives them to the process that started it."""
    recorder = session.config.stash.get(_RECORDER, None)
    if recorder is not None:
        from symbcast.linting import recording

        recorder.end()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["symbcast_calls"] = recorder.calls
        elif recorder.calls:
            recording.write_calls(session.config.rootpath / recording.FILE, recorder.calls)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Take the calls that a worker of xdist noted."""
    recorder = node.config.stash.get(_RECORDER, None)
    if recorder is not None:
        for name, calls in getattr(node, "workeroutput", {}).get("symbcast_calls", {}).items():
            recorder.calls.setdefault(name, calls)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process that traces functions."""
    child = config.stash.get(_CHILD, None)
    if child is not None:
        child.end()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> AnnotatedFile | None:
    """Return the annotated functions of a Python file."""
    if not parent.config.getoption("--symbcast") or file_path.suffix != ".py":
        return None
    return AnnotatedFile.from_parent(parent, path=file_path)


class AnnotatedFile(pytest.File):
    """A Python file; its items are its functions with shape annotations."""

    def collect(self) -> Iterator[AnnotatedFunction]:
        """Yield an item for each function. Raises `CollectError` if the file cannot be imported."""
        from symbcast.linting import running, sources

        try:
            options = sources.read_config(self.config.rootpath)
            source = sources.read_source(str(self.path), descriptions=options.descriptions)
            functions = running.shaped_functions(self._child(), source, options) if source.functions else []
        except (SymbcastError, SyntaxError, ValueError, ImportError) as error:
            raise self.CollectError(str(error)) from None
        for function in functions:
            yield AnnotatedFunction.from_parent(
                self, name=function.name, target=(source, function, options), child=self._child()
            )

    def _child(self) -> ChildProcess:
        if _CHILD not in self.config.stash:
            from symbcast.linting import running

            self.config.stash[_CHILD] = running.new_process()
        child: ChildProcess = self.config.stash[_CHILD]
        return child


class BrokenAnnotation(Exception):  # noqa: N818 - pytest prints its name
    """The findings about a function, one line each."""


class AnnotatedFunction(pytest.Item):
    """A function with shape annotations: it passes if nothing is wrong, and is skipped if nothing is known."""

    def __init__(
        self,
        *,
        target: tuple[sources.SourceFile, sources.SourceFunction, sources.LintConfig],
        child: ChildProcess,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._source, self._function, self._options = target
        self._child = child

    def runtest(self) -> None:
        """Trace the function in a child process. Raises `BrokenAnnotation`."""
        from symbcast.linting import running

        checked = running.check_one_function(self._child, self._source, self._function, self._options)
        if checked is None or checked.status in ("unknown", "skipped"):
            pytest.skip("" if checked is None else checked.reason)
        if checked.findings:
            folder = self.config.invocation_params.dir
            shown = self.path.relative_to(folder) if self.path.is_relative_to(folder) else self.path
            raise BrokenAnnotation("\n".join(str(replace(f, path=str(shown))) for f in checked.findings))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the findings without a traceback."""
        if isinstance(excinfo.value, BrokenAnnotation):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, the line from 0, and the name."""
        return self.path, self._function.place.line - 1, f"symbcast: {self.name}"
