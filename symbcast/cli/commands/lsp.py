"""``symbcast lsp`` checks the shape annotations of functions in an editor."""

from __future__ import annotations

from importlib.util import find_spec

from symbcast.cli import terminal
from symbcast.cli.command import command
from symbcast.errors import MissingExtraError

EPILOGUE = """Example: symbcast lsp --trust ~/work/project

Editors start it; the guide about lint has their settings. In folders that are not trusted, it asks before it imports \
and calls anything.

Exit status of lsp: 0 the editor ended it, 2 wrong usage."""


WORDS = dict.fromkeys(["editor", "language-server", "server"], "lsp")
NOTES = {"port host tcp socket pipe": "it uses standard input and output only: leave {} out"}


@command(epilogue=EPILOGUE, notes=NOTES, group="Code", words=WORDS)
def lsp(*, trust: list[str] | None = None, stdio: bool = False) -> int:
    """Check files in an editor, over the Language Server Protocol on standard input and output.

    Parameters
    ----------
    trust
        A folder whose modules may be imported and called without a question; may be repeated.
    stdio
        What it does anyway; some editors add this option.
    """
    for package, extra in (("numpy", "numpy"), ("pygls", "lsp")):
        if find_spec(package) is None:
            raise MissingExtraError("symbcast lsp", extra)
    for folder in trust or ():
        if not terminal.path_exists(folder):
            raise terminal.UsageError(f"{folder}: there is no such folder")
    from symbcast.linting.editor import serve

    serve(trust or ())
    return terminal.Exit.ALWAYS
