"""Help and shell completion of the commands, which cyclopts writes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import App, Parameter

from symbcast.cli.options import Command, Option, helps_of, options_of, type_and_meaning
from symbcast.cli.terminal import Exit, UsageError, print_wrapped
from symbcast.core import __version__

if TYPE_CHECKING:
    from cyclopts import App


# The commands as cyclopts sees them: it writes their help and the completion of shells.


_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Example: symbcast model encoder.onnx --assume "batch >= 1"

Exit status: 0 for all sizes, 1 for some sizes or none, 2 wrong usage or input, 3 not decided."""


def make_app(commands: Mapping[str, tuple[Command, str | None]]) -> App:
    """Return the application with some commands by name, each with the end of its help."""
    app = App(
        name="symbcast",
        help="For which sizes does this broadcast, or this model, work, and what comes out?",
        help_epilogue=_EPILOGUE,
        help_format="plaintext",
        version=__version__,
        result_action="return_value",
    )
    for name, (command, epilogue) in commands.items():
        app.command(_declared(command), name=name, help_epilogue=epilogue)
    return app


def _declared(command: Command) -> Command:
    """Return a command with the annotations that cyclopts reads."""

    def made(*args: Any, **options: Any) -> int:
        return command(*args, **options)

    own = inspect.signature(command, eval_str=True)
    helps, options = helps_of(command), {o.parameter: o for o in options_of(command)}
    parameters = [_parameter(p, options.get(p.name), helps.get(p.name, "")) for p in own.parameters.values()]
    made.__name__, made.__doc__ = command.__name__, command.__doc__
    made.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # functions take attributes
    made.__annotations__ = {p.name: p.annotation for p in parameters}
    return made


def _parameter(parameter: inspect.Parameter, option: Option | None, help: str) -> inspect.Parameter:
    """Return a parameter with the annotation that cyclopts reads."""
    hint, _ = type_and_meaning(parameter.annotation)
    if option is None:
        return parameter.replace(annotation=Annotated[hint, Parameter(help=help)])
    is_told = parameter.default is not None and not option.is_switch
    said = Parameter(list(option.names), help=option.help, negative=(), consume_multiple=False, show_default=is_told)
    return parameter.replace(annotation=Annotated[hint, said])


# ``symbcast --install-completion`` sets up shell completion of commands and options.


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
