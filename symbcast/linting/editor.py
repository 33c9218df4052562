"""Lint in an editor: a server of the Language Server Protocol that checks files as they are opened and saved.

The server imports nothing of the user's. Files are checked in child processes, and only in folders that the user
trusts: they are named when the server is started, or the user is asked in the editor.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent import futures
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from symbcast.core import __version__, isolation
from symbcast.errors import SymbcastError
from symbcast.linting import findings, running, sources

# Child processes that have imported what the next check needs.


class WarmProcesses:
    """Keeps one child process that has imported the packages of the last check: imports take most of its time."""

    def __init__(self) -> None:
        self._spare: tuple[isolation.ChildProcess, futures.Future[Any]] | None = None
        self._threads = futures.ThreadPoolExecutor(1)

    def take(self) -> isolation.ChildProcess:
        """Return the process that is kept, or a new one."""
        spare, self._spare = self._spare, None
        if spare is None:
            return running.new_process()
        with suppress(Exception):  # it starts again when it is asked
            spare[1].result()
        return spare[0]

    def keep(self, modules: Sequence[str]) -> None:
        """Start a process that imports these modules, while nothing waits for it."""
        if self._spare is None:
            child = isolation.ChildProcess(running.WarmProcess(tuple(modules)))
            self._spare = child, self._threads.submit(child.ask, os.fspath, "", _SECONDS_TO_IMPORT)

    def end(self) -> None:
        """End the process that is kept."""
        if self._spare is not None:
            self._spare[0].stop()
            self.take().end()


_SECONDS_TO_IMPORT = 60.0

# What is known of each file: the text that was checked, and what was found out about its functions.


@dataclass(frozen=True)
class CheckedFile:
    """A file as it was checked: its lines, and what was found out about its functions."""

    lines: tuple[str, ...]
    functions: tuple[findings.Checked, ...]

    @property
    def findings(self) -> list[findings.Finding]:
        """All findings, by line."""
        return sorted((f for c in self.functions for f in c.findings), key=lambda f: (f.line, f.column, f.code))

    def moved(self, lines: Sequence[str]) -> dict[int, int]:
        """Return where unchanged lines are in a text that was edited since, both from 1."""
        old, new = self.lines, tuple(lines)
        first, last = _alike(old, new), _alike(old[::-1], new[::-1])
        last = min(last, len(old) - first, len(new) - first)
        old, new = old[first : len(old) - last], new[first : len(new) - last]
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        blocks = matcher.get_matching_blocks() if len(old) * len(new) < _MOST_PAIRS else []
        between = {first + a + n + 1: first + b + n + 1 for a, b, size in blocks for n in range(size)}
        end = {len(self.lines) - n: len(lines) - n for n in reversed(range(last))}
        return {**{n + 1: n + 1 for n in range(first)}, **between, **end}


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines are the same from the beginning."""
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


# Of longer edits nothing is known in between: to compare all lines with all others takes seconds at each request.
_MOST_PAIRS = 1_000_000


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text as the protocol and Python count them, unlike `str.splitlines`."""
    return tuple(re.split(r"\r\n|\r|\n", text))


def end_of(line: str, column: int) -> int:
    """Return where the code at a column of a line ends, both from 0: a name before a parenthesis, or what follows."""
    rest = line[column:]
    name = rest.partition("(")[0]
    if name.isidentifier() and line[:column].endswith("def "):
        return column + len(name)
    return column + max(1, len(rest.partition("  #")[0].rstrip().rstrip(":")))


@dataclass
class Session:
    """The state of an editor: trusted folders, the results of files, and the check that is running.

    Attributes:
        trusted: The folders whose code may be run.
        refused: The folders whose code the user does not want to be run.
        files: What is known of each file.
    """

    trusted: set[Path]
    refused: set[Path] = field(default_factory=set)
    files: dict[str, CheckedFile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._warm = WarmProcesses()
        self._turns: dict[str, int] = {}
        self._running: tuple[str, running.CheckProcesses] | None = None
        self._lock = threading.Lock()

    def is_trusted(self, path: str) -> bool:
        """Return whether the code of a file may be run."""
        return not self.trusted.isdisjoint(Path(path).resolve().parents)

    def turn(self, path: str) -> int:
        """Begin a check of a file, which stops the one that is running and replaces those that wait."""
        with self._lock:
            self._turns[path] = self._turns.get(path, 0) + 1
            if self._running is not None and self._running[0] == path:
                self._running[1].stop()
            return self._turns[path]

    def check(self, path: str, turn: int, folder: Path) -> CheckedFile | None:
        """Check a file; None if it is gone, or a later check of it has begun. ``folder`` has the cache.

        Raises `SymbcastError` for a wrong configuration.
        """
        processes = running.CheckProcesses(self._warm.take)
        with self._lock:
            if self._turns[path] != turn:
                return None
            self._running = path, processes
        try:
            if not Path(path).is_file():
                self.files.pop(path, None)
                return None
            os.chdir(folder)  # configuration and cache are those of the command in this folder
            lines = _lines_of_file(path)
            config = sources.read_config(Path(path).parent).with_options(paths=(path,), jobs=1, shapes=True)
            report = running.run(config, processes=processes)
            if processes.modules:
                self._warm.keep(processes.modules)
        except (futures.CancelledError, OSError):
            return None
        finally:
            processes.end()
            with self._lock:
                self._running = None
        if self._turns[path] != turn:  # its processes were ended, which looks as if the code had done it
            return None
        self.files[path] = CheckedFile(lines, report.functions)
        return self.files[path]

    def end(self) -> None:
        """End all processes."""
        with self._lock:
            if self._running is not None:
                self._running[1].stop()
        self._warm.end()


# The server. Its handlers run on one thread; checks run on another one.

_LEVELS = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_YES, _NO = "Run its code", "Not now"


def _lines_of_file(path: str) -> tuple[str, ...]:
    """Return the lines of a file; none if it is no source, in which nothing is found either."""
    if Path(path).stat().st_size > sources.MOST_BYTES:
        return ()
    with suppress(SyntaxError, ValueError):
        return lines_of(sources.decoded(Path(path).read_bytes()))
    return ()


class EditorServer(LanguageServer):
    """The server of one editor."""

    def __init__(self, trusted: Sequence[str]) -> None:
        super().__init__("symbcast", __version__)
        self.session = Session({Path(p).resolve() for p in trusted})
        self._checks = futures.ThreadPoolExecutor(1)

    def end(self) -> None:
        """Stop all checks."""
        self._checks.shutdown(wait=False, cancel_futures=True)
        self.session.end()

    def folder_of(self, path: str) -> Path:
        """Return the innermost folder of the workspace that a file is in; without one, where its packages are."""
        folders = [Path(uris.to_fs_path(f.uri) or "/").resolve() for f in self.workspace.folders.values()]
        above = [f for f in folders if f in Path(path).resolve().parents]
        return max(above, key=lambda f: len(f.parts), default=Path(sources.root_of(path)))

    async def may_run(self, path: str) -> bool:
        """Return whether the code of a file may be run; ask the user once for each folder."""
        if self.session.is_trusted(path):
            return True
        folder = self.folder_of(path)
        if folder in self.session.refused:
            return False
        self.session.refused.add(folder)  # until the user answers
        message = f"symbcast imports modules in {folder} and calls their functions, to check shapes. Do you trust it?"
        actions = [types.MessageActionItem(_YES), types.MessageActionItem(_NO)]
        answer = await self.window_show_message_request_async(
            types.ShowMessageRequestParams(types.MessageType.Warning, message, actions)
        )
        if answer is not None and answer.title == _YES:
            self.session.trusted.add(folder)
        return self.session.is_trusted(path)

    async def check(self, uri: str, *, is_first: bool = True) -> None:
        """Check a file and publish what was found; then the other open files, of which most are unchanged."""
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None  # not a cell, an old version, an unsaved text
        if path is None or not path.endswith(".py") or not await self.may_run(path):
            return
        turn = self.session.turn(path)
        try:
            loop = asyncio.get_running_loop()
            checked = await loop.run_in_executor(self._checks, self.session.check, path, turn, self.folder_of(path))
        except SymbcastError as error:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"symbcast: {error}"))
            return
        if checked is None:
            if not Path(path).exists():
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            return
        diagnostics = [self.diagnostic(f, checked.lines) for f in checked.findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
        workspace = self.client_capabilities.workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)
        if is_first:
            for other in [u for u in self.workspace.text_documents if u != uri]:
                if self.session.is_trusted(uris.to_fs_path(other) or ""):
                    await self.check(other, is_first=False)

    def position(self, lines: Sequence[str], line: int, column: int) -> types.Position:
        """Return a place, whose column counts bytes from 1, as the client counts."""
        text = lines[line - 1] if line <= len(lines) else ""
        before = text.encode()[: column - 1].decode("utf-8", "replace")
        return types.Position(line - 1, self.workspace.position_codec.client_num_units(before))

    def diagnostic(self, finding: findings.Finding, lines: Sequence[str]) -> types.Diagnostic:
        """Return a finding as the protocol has it."""
        start = self.position(lines, finding.line, finding.column)
        text = lines[finding.line - 1] if finding.line <= len(lines) else ""
        column = len(text.encode()[: finding.column - 1].decode("utf-8", "replace"))
        end = self.workspace.position_codec.client_num_units(text[: end_of(text, column)])
        code = next(c for c in findings.CODES if c.id == finding.code)
        return types.Diagnostic(
            types.Range(start, types.Position(start.line, max(end, start.character + 1))),
            finding.message,
            severity=_LEVELS.get(code.level, types.DiagnosticSeverity.Information),
            code=finding.code,
            source="symbcast",
        )

    def known(self, uri: str) -> tuple[CheckedFile, Sequence[str], dict[int, int]] | None:
        """Return what is known of a file, its text in the editor, and where the checked lines are in it."""
        checked = self.session.files.get(uris.to_fs_path(uri) or "")
        if checked is None:
            return None
        lines = lines_of(self.workspace.get_text_document(uri).source)
        return checked, lines, checked.moved(lines)

    def hints(self, params: types.InlayHintParams) -> Iterator[types.InlayHint]:
        """Yield the shapes of the assigned variables in a range."""
        known = self.known(params.text_document.uri)
        if known is None:
            return
        checked, lines, moved = known
        for shape in (s for c in checked.functions for s in c.shapes):
            line = moved.get(shape.line, 0)
            if params.range.start.line < line <= params.range.end.line + 1:
                place = self.position(lines, line, shape.column)
                yield types.InlayHint(place, f": {shape.text}", types.InlayHintKind.Type)

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return what is known of the code at a position: its findings, its function, its variables."""
        known = self.known(params.text_document.uri)
        if known is None:
            return None
        checked, _, moved = known
        line = next((a for a, b in moved.items() if b == params.position.line + 1), 0)
        text = "\n\n".join(_about_line(checked, line))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    def actions(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Yield the changes after which findings in a range are gone: their fix, and a comment that ignores them."""
        uri = params.text_document.uri
        known = self.known(uri)
        if known is None:
            return
        checked, lines, moved = known
        for finding in checked.findings:
            line = moved.get(finding.line, 0)
            if not params.range.start.line < line <= params.range.end.line + 1:
                continue
            if finding.fix is not None and all(e.line in moved for e in finding.fix.edits):
                edits = [self._edit(lines, moved[e.line], e.column, e.end, e.text) for e in finding.fix.edits]
                yield self._action(finding.fix.title, uri, finding, checked, edits, is_preferred=True)
            end = len(lines[line - 1].encode()) + 1
            ignored = self._edit(lines, line, end, end, f"  # symbcast: ignore[{finding.code}]")
            yield self._action(f"Ignore {finding.code} on this line", uri, finding, checked, [ignored])

    def _edit(self, lines: Sequence[str], line: int, column: int, end: int, text: str) -> types.TextEdit:
        return types.TextEdit(types.Range(self.position(lines, line, column), self.position(lines, line, end)), text)

    def _action(  # noqa: PLR0913, PLR0917 - the parts of an action
        self,
        title: str,
        uri: str,
        finding: findings.Finding,
        checked: CheckedFile,
        edits: Sequence[types.TextEdit],
        is_preferred: bool = False,
    ) -> types.CodeAction:
        return types.CodeAction(
            title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(finding, checked.lines)],
            is_preferred=is_preferred,
            edit=types.WorkspaceEdit(changes={uri: edits}),
        )


def _about_line(checked: CheckedFile, line: int) -> Iterator[str]:
    """Yield paragraphs of Markdown about a line: its findings, the function that begins there, and its variables."""
    for finding in (f for f in checked.findings if f.line == line):
        code = next(c for c in findings.CODES if c.id == finding.code)
        yield f"**{code.id} {code.name}** {finding.message}"
        yield code.description
    for function in checked.functions:
        yield from (f"`{s.name}`: `{s.text}`" for s in function.shapes if s.line == line)
        if function.line == line and function.function:
            reason = f": {function.reason}" if function.reason else ""
            yield f"`{function.function}`: {findings.WORDS[function.status]}{reason}"
            yield from (f"- line {f.line}: {f.message}" for f in function.findings if f.line != line)


def serve(trusted: Sequence[str]) -> None:
    """Run the server on standard input and output until the editor ends it; the code of trusted folders may be run."""
    server = EditorServer(trusted)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _(params: types.DidOpenTextDocumentParams) -> None:
        await server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def _(params: types.DidSaveTextDocumentParams) -> None:
        await server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def _(params: types.InlayHintParams) -> list[types.InlayHint]:
        return list(server.hints(params))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _(params: types.HoverParams) -> types.Hover | None:
        return server.hover(params)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    def _(params: types.CodeActionParams) -> list[types.CodeAction]:
        return list(server.actions(params))

    # The protocol has standard output for itself: what else is printed must not get into its messages.
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        server.start_io(stdout=messages)
    finally:
        server.end()
