"""``symbcast --install-completion`` sets up shell completion of commands and options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeAlias

from symbcast.cli.command import command
from symbcast.cli.help import all_parser
from symbcast.cli.terminal import Exit, UsageError, print_wrapped

Shell: TypeAlias = Literal["bash", "zsh", "fish"]

# Where each shell's script is written, below the home folder.
_SCRIPTS: dict[str, str] = {
    "bash": ".local/share/bash-completion/completions/symbcast",
    "zsh": ".zsh/completions/_symbcast",
    "fish": ".config/fish/completions/symbcast.fish",
}
# The startup file of a shell, and the line in it that loads the script; fish loads its folder without one.
_STARTUP = {
    "bash": (".bashrc", '[ -f "{script}" ] && . "{script}"'),
    "zsh": (".zshrc", 'fpath=("{folder}" $fpath); autoload -Uz compinit; compinit'),
}


@command(prefix="--")
def install_completion(*, shell: Shell | None = None) -> int:
    """Set up shell completion of commands and options: write a script to your home and load it at startup.

    Parameters
    ----------
    shell
        The shell; by default, the one from which the command is started.
    """
    from shtab import complete

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SCRIPTS:
        raise UsageError("the shell could not be determined; write --shell bash, zsh or fish")
    script = Path.home() / _SCRIPTS[name]
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(complete(all_parser(is_complete=True), shell=name), "utf-8")
        print_wrapped(f"wrote {script}")
        if name in _STARTUP:
            file, line = _STARTUP[name]
            _add_line(Path.home() / file, line.format(script=script, folder=script.parent))
    except OSError as error:
        raise UsageError(f"{error.filename or 'the script'} cannot be written: {error.strerror or error}") from None
    print_wrapped("it works in new shells")
    return Exit.ALWAYS


def _add_line(startup: Path, line: str) -> None:
    """Add a line to a startup file that lacks it."""
    text = startup.read_text("utf-8", "surrogateescape") if startup.exists() else ""
    if line in text.splitlines():
        print_wrapped(f"{startup} loads it already")
        return
    with startup.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n")
    print_wrapped(f"added a line to {startup} that loads it")
