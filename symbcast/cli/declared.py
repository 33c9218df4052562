"""The commands: each is loaded when it is called, or when all are listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.cli.advice.commands import unknown_command
from symbcast.cli.advice.words import OF_SHAPES, shown
from symbcast.cli.arguments import HELP, asks_for, read_arguments, value_of
from symbcast.cli.option import Command, Options, call, most_others, options_of
from symbcast.cli.statuses import Exit, UsageError
from symbcast.core.broadcasting.registry import is_own
from symbcast.version import __version__

if TYPE_CHECKING:
    from cyclopts import App

_COMMANDS = (*OF_SHAPES, "contract", "lint", "model", "rules", "torch-error", "trace")
_INSTALL = "--install-completion"


def answer(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status. Raises `UsageError` for arguments that it does not take."""
    name, rest = next(iter(arguments), ""), list(arguments[1:])
    with_plugins = _needs_plugins(arguments)
    if not arguments or name in HELP:
        return _show_help(_COMMANDS, [], with_plugins)
    if name in ("version", "--version"):
        print(__version__)
        return Exit.ALWAYS
    if name not in (*_COMMANDS, _INSTALL):
        raise UsageError(unknown_command(name, rest, _COMMANDS))
    if asks_for(HELP, rest):
        return _show_help([name], [name], with_plugins)
    if asks_for(["--version"], rest):
        print(__version__)
        return Exit.ALWAYS
    command, _ = _declared(name, with_plugins)
    given, others = read_arguments(name, rest, _Declared(name, options_of(command), with_plugins))
    most = most_others(command)
    if most is not None and len(others) > most:
        raise UsageError(f"{name} takes {most or 'no'} argument{'s' * (most != 1)}; leave {shown(others[most])} out")
    return call(command, given, others)


def _show_help(commands: Iterable[str], asked: Sequence[str], with_plugins: bool) -> int:
    _app(commands, with_plugins)([*asked, "--help"])
    return Exit.ALWAYS


def _app(commands: Iterable[str], with_plugins: bool) -> App:
    """Return some commands as an application of cyclopts; loading that takes longer than most commands."""
    from symbcast.cli.help import make_app

    return make_app({name: _declared(name, with_plugins) for name in dict.fromkeys((*commands, _INSTALL))})


def _declared(name: str, with_plugins: bool) -> tuple[Command, str | None]:
    """Return a command and the end of its help; raise `KeyError` for an unknown one."""
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

            return rules.rules, rules.EPILOGUE
        case "torch-error":
            from symbcast.cli.commands import torch_error

            return torch_error.torch_error, torch_error.EPILOGUE
        case "trace":
            from symbcast.cli.commands import trace

            return trace.trace, trace.EPILOGUE
        case "--install-completion":
            from symbcast.cli.commands import completion

            return completion.install_command(lambda: _app(_COMMANDS, with_plugins)), None
        case _:
            raise KeyError(name)


def _needs_plugins(arguments: Sequence[str]) -> bool:
    """Return whether rules of installed packages matter: for help on shapes, or for a rule that symbcast lacks."""
    if arguments[:1] not in [[name] for name in OF_SHAPES]:
        return False
    rule = value_of("--rule", arguments)
    return asks_for(HELP, arguments) or (rule is not None and not is_own(rule.partition("(")[0]))


class _Declared(Mapping[str, Options]):
    """The options of each command; those of other commands than the one called are needed for some messages only."""

    def __init__(self, called: str, options: Options, with_plugins: bool) -> None:
        self._known = {called: options}
        self._with_plugins = with_plugins

    def __getitem__(self, name: str) -> Options:
        if name not in self._known:
            self._known[name] = options_of(_declared(name, self._with_plugins)[0])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*_COMMANDS, _INSTALL))

    def __len__(self) -> int:
        return len(_COMMANDS) + 1
