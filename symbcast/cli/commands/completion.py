"""``symbcast --install-completion`` sets up shell completion of commands and options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.cli.output import print_wrapped
from symbcast.cli.statuses import Exit, UsageError

if TYPE_CHECKING:
    from cyclopts import App

Shell: TypeAlias = Literal["bash", "zsh", "fish"]

_STARTUP = {"bash": ".bashrc", "zsh": ".zshrc"}


def install_command(make_app: Callable[[], App]) -> Callable[..., int]:
    """Return the command that sets up shell completion for an application."""

    def install(*, shell: Shell | None = None) -> int:
        """Set up shell completion of commands and options: write a script to your home and load it at startup.

        Parameters
        ----------
        shell
            The shell; by default, the one from which the command is started.
        """
        return _install(make_app(), shell)

    return install


def _install(app: App, shell: Shell | None) -> int:
    found = _running() if shell is None else shell
    startup = Path.home() / _STARTUP[found] if found in _STARTUP else None
    before = _text(startup)
    try:
        written = app.install_completion(shell=found)
    except OSError as error:
        raise UsageError(f"{error.filename or 'the script'} cannot be written: {error.strerror or error}") from None
    print_wrapped(f"wrote {written}")
    if startup is not None:
        has_it = _text(startup) == before
        print_wrapped(f"{startup} loads it already" if has_it else f"added a line to {startup} that loads it")
    print_wrapped("it works in new shells")
    return Exit.ALWAYS


def _running() -> Shell:
    """Return the shell from which the command is started; raise `UsageError` if no supported one is found."""
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        found = detect_shell()
    except ShellDetectionError:
        found = None
    if found not in ("bash", "zsh", "fish"):
        raise UsageError("the shell could not be determined; write --shell bash, zsh or fish")
    return found


def _text(path: Path | None) -> bytes:
    try:
        return path.read_bytes() if path is not None else b""
    except OSError:
        return b""
