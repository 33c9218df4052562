"""The commands as cyclopts declares them, each loaded when it is called or when all are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from cyclopts import App, CycloptsError

from symbcast.cli.advice.commands import unknown_command
from symbcast.cli.advice.words import OF_SHAPES
from symbcast.cli.arguments import HELP, asks_for, prepared, value_of
from symbcast.cli.option import Option, Options
from symbcast.cli.statuses import UsageError
from symbcast.core.broadcasting.registry import is_own
from symbcast.version import __version__

_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Example: symbcast model encoder.onnx --assume "batch >= 1"

Exit status: 0 for all sizes, 1 for some sizes or none, 2 wrong usage or input, 3 not decided."""


_COMMANDS = (*OF_SHAPES, "contract", "lint", "model", "rules", "torch-error", "trace")
_INSTALL = "--install-completion"


def answer(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status. Raises `UsageError` for arguments that it does not take."""
    command = next(iter(arguments), "")
    with_plugins = _needs_plugins(arguments)
    app = make_app([command] if command in _COMMANDS else _COMMANDS, with_plugins)
    try:
        return int(app(_prepared(app, arguments, with_plugins)) or 0)
    except CycloptsError as error:
        raise UsageError(_usage(error)) from error


def make_app(commands: Iterable[str], with_plugins: bool) -> App:
    """Return the application, with options for the rules of installed packages or only for symbcast's own."""
    app = App(
        name="symbcast",
        help="For which sizes does this broadcast, or this model, work, and what comes out?",
        help_epilogue=_EPILOGUE,
        help_format="plaintext",
        version=__version__,
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name in commands:
        command, epilogue = _declared(name, with_plugins)
        app.command(command, name=name, help_epilogue=epilogue)
    from symbcast.cli.commands.completion import install_command

    app.command(install_command(app), name=_INSTALL)
    return app


def _declared(name: str, with_plugins: bool) -> tuple[Callable[..., int], str | None]:
    """Return a command and the end of its help."""
    match name:
        case "check":
            from symbcast.cli.commands import check

            return check.check_command(with_plugins), check.EPILOGUE
        case "compare":
            from symbcast.cli.commands import compare

            return compare.compare, compare.EPILOGUE
        case "cases" | "solve" | "repair":
            from symbcast.cli.commands import questions

            return questions.question_commands(with_plugins)[name], questions.EPILOGUES[name]
        case "prove" | "expand":
            from symbcast.cli.commands import entailment

            return entailment.entailment_commands(with_plugins)[name], entailment.EPILOGUES[name]
        case "lint":
            from symbcast.cli.commands import lint

            return lint.lint, lint.EPILOGUE
        case "model":
            from symbcast.cli.commands import model

            return model.model, model.EPILOGUE
        case "contract":
            from symbcast.cli.commands import contract

            return contract.contract, contract.EPILOGUE
        case "rules":
            from symbcast.cli.commands import rules

            return rules.rules, None
        case "torch-error":
            from symbcast.cli.commands import torch_error

            return torch_error.torch_error, torch_error.EPILOGUE
        case _:
            from symbcast.cli.commands import trace

            return trace.trace, trace.EPILOGUE


def _needs_plugins(arguments: Sequence[str]) -> bool:
    """Return whether rules of installed packages matter: for help on shapes, or for a rule that symbcast lacks."""
    if arguments[:1] not in [[name] for name in OF_SHAPES]:
        return False
    rule = value_of("--rule", arguments)
    return asks_for(HELP, arguments) or (rule is not None and not is_own(rule.partition("(")[0]))


def _options(app: App, command: str) -> list[Option]:
    """Return the options that a command declares."""
    found = app[command].assemble_argument_collection()
    return [Option.of(a.names, a.hint, a.parameter.help or "") for a in found if a.names and a.names[0][:1] == "-"]


class _Declared(Mapping[str, Options]):
    """The options of each command; those of other commands than the one called are needed for some messages only."""

    def __init__(self, app: App, called: str, with_plugins: bool) -> None:
        self._app, self._called, self._with_plugins = app, called, with_plugins

    @cached_property
    def _all(self) -> App:
        return make_app(_COMMANDS, self._with_plugins)

    def __getitem__(self, name: str) -> Options:
        app = self._app if name == self._called else self._all
        return _options(app, name)

    def __iter__(self) -> Iterator[str]:
        return iter((*_COMMANDS, _INSTALL))

    def __len__(self) -> int:
        return len(_COMMANDS) + 1


def _prepared(app: App, arguments: Sequence[str], with_plugins: bool) -> list[str]:
    """Return the arguments for cyclopts, each checked against the command's options; raise `UsageError`."""
    command, rest = next(iter(arguments), ""), list(arguments[1:])
    if command == "version":
        return ["--version"]
    if not arguments or command in ("--version", *HELP):
        return list(arguments[:1])
    if command not in (*_COMMANDS, _INSTALL):
        raise UsageError(unknown_command(command, rest, _COMMANDS))
    if asks_for(HELP, rest):
        return [command, "--help"]
    if asks_for(["--version"], rest):
        return ["--version"]
    return [command, *prepared(command, rest, _Declared(app, command, with_plugins))]


def _usage(error: CycloptsError) -> str:
    message = " ".join(str(error).split())
    return f"{message}\nsee symbcast --help"
