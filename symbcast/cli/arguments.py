"""The commands by name, each loaded when it is called, and its arguments as typed, checked before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.cli.argument_advice import instead_of_shapes, several_models, unknown_command
from symbcast.cli.model_files import path_exists
from symbcast.cli.options import Command, Option, Options, UnknownOption, call, most_others, options_of
from symbcast.cli.terminal import OF_SHAPES, STDIN, Exit, UsageError, argument_text, command_line, meant_choice
from symbcast.cli.value_advice import (
    attributes_among,
    meant_relation,
    misplaced_binding,
    number_fault,
    rule_among,
    sign_among,
    split_value_fault,
    unquoted_shapes,
)
from symbcast.core import __version__
from symbcast.core.characters import prose_list
from symbcast.core.rules.registry import is_own_rule, takers_of

if TYPE_CHECKING:
    from cyclopts import App


# Check the arguments as typed against a command's declaration before anything runs.
#
# No argument is interpreted as something that the user may not have meant: one that begins with ``-`` is an option
# wherever it stands, and an error if the command does not have it. There are three exceptions: ``-`` alone, which is
# standard input; for commands that take shapes, ``-`` and a digit, which begin a shape; and whatever follows ``--``.


_OPTION = re.compile(r"(--?[^\W\d_][\w-]*)(?:=(.*))?", re.DOTALL)
_SHAPE = re.compile(r"-\d")
_RELATION = re.compile(r"[<>=!]=|[<>]")
_EQUATION = re.compile(r"\s*([^\W\d][\w.]*)\s*=\s*\w+\s*")
_LITERAL = re.compile(r"[^\W\d]\w*==\s*(?:[-+]?\d.*|[\"'(\[{].*|True|False|None)", re.DOTALL)
"""An argument of a traced function that is a Python literal, with its name."""
_NO_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"
_EXAMPLES = {
    "--assume": '"N >= 2"',
    "--axes": "0,2",
    "--bind": "batch=4",
    "--range": "H=64..1280",
    "--typical": "H=640,960",
    "--dask": "tcp://host:8786",
    "--out": '"5, 3"',
    "--output": "out.onnx",
    "--results": "results.jsonl",
    "--rule": "numpy",
    "--that": '"N == M"',
    "--shapes": '"x=N, 3, H, W"',
    "--values": "steps=4,N//2",
}
_MOST_DIGITS = 18
_REQUIRED = {"trace": 'give a function: symbcast trace MODULE:FUNCTION "N, 3"'}
"""What to write for a command that was called without an argument that it needs."""
TAKE_OTHERS = (*OF_SHAPES, "contract", "lint", "model", "torch-error", "trace")
"""The commands that take shapes or files."""
HELP = ("--help", "-h")


def read_arguments(
    command: str, arguments: Sequence[str], commands: Mapping[str, Options]
) -> tuple[list[tuple[Option, str]], list[str]]:
    """Return the options that are given to a command, each with its value, and the other arguments.

    ``commands`` are the options of each command. Raises `UsageError` for anything that the command does not take.
    """
    given: dict[str, str] = {}
    options: list[tuple[Option, str]] = []
    others: list[str] = []
    alone = _not_options(command, arguments, commands[command])
    if command in OF_SHAPES:
        _check_quoted(command, alone)
    rule = value_of("--rule", arguments) or "numpy"
    rest = UnreadArguments(arguments)
    for argument in rest:
        if argument == "--":
            others.extend(rest)
        elif _is_none(argument, command):
            others.append(argument)
        else:
            option, value = _read(UnknownOption(argument, "", "", command, alone, rule, arguments), rest, commands)
            fault = split_value_fault(option, value, rest.left, command, alone)
            if fault:
                raise UsageError(fault)
            _check(option, value, command, commands[command])
            name = option.names[0]
            if name in given:
                twice = "" if option.is_switch else f", as {given[name]} and {value}"
                rules = [part for rule in (given[name], value) for part in ("--rule", rule)]
                several = f", or {command_line('compare', alone, rules)}" if name == "--rule" else ""
                raise UsageError(f"{name} is given twice{twice}; give it only once{several}")
            if not option.repeats:
                given[name] = value
            options.append((option, value))
    _check_others(command, others, options, {name for option in commands[command] for name in option.names})
    return options, others


class UnreadArguments:
    """Arguments that are read one by one; ``left`` are those not yet read."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.left = list(arguments)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self.left:
            raise StopIteration
        return self.left.pop(0)


def _not_options(command: str, arguments: Sequence[str], options: Options) -> list[str]:
    """Return the arguments that are neither options nor their values, also where options are unknown."""
    known = {name: option for option in options for name in option.names}
    found: list[str] = []
    rest = UnreadArguments(arguments)
    for argument in rest:
        if argument == "--":
            found.extend(rest)
        elif not argument.startswith("-") or argument == STDIN or (command in OF_SHAPES and _SHAPE.match(argument)):
            found.append(argument)
        else:
            option = known.get(argument.replace("_", "-"))
            if "=" not in argument and (option is None or not option.is_switch):
                next(iter(rest), "")
    return found


def check_shapes(command: str, shapes: Sequence[str]) -> None:
    """Raise `UsageError` if arguments without options are files, parts of shapes, or signs between shapes."""
    _check_quoted(command, shapes)
    fault = sign_among(command, shapes, ())
    if fault:
        raise UsageError(fault)


def _check_quoted(command: str, shapes: Sequence[str]) -> None:
    fault = instead_of_shapes(command, shapes) or unquoted_shapes(command, shapes)
    if fault:
        raise UsageError(fault)


def _check_others(command: str, others: Sequence[str], given: Sequence[tuple[Option, str]], known: set[str]) -> None:
    """Raise `UsageError` for arguments that are not options and that the command does not take."""
    names = {option.names[0] for option, _ in given}
    options = [o.names[0] if o.is_switch else f"{o.names[0]}={value}" for o, value in given]
    if "--assume" in known:
        relations = [text for text in others if command != "trace" or not _LITERAL.fullmatch(text)]
        equations = [text for text in relations if command in OF_SHAPES and _is_equation(text)]
        _check_no_relation(relations, equations, "--that" in known and "--that" not in names)
    if others and command not in TAKE_OTHERS:
        raise UsageError(f"{command} takes only options; {argument_text(others[0])} is not one")
    rules = [value for option, value in given if option.names[0] == "--rule"]
    fault = (
        misplaced_binding(command, others) if command in ("model", "contract") else rule_among(command, others, rules)
    )
    if command in OF_SHAPES:
        fault = fault or attributes_among(others, rules) or sign_among(command, others, options)
    if command == "contract":
        fault = fault or several_models(others, options)
    if fault:
        raise UsageError(fault)
    if command in _REQUIRED and not others:
        raise UsageError(_REQUIRED[command])


def _is_equation(text: str) -> bool:
    """Return whether an argument is a size and its value with a single ``=``, and not an attribute of a rule."""
    found = _EQUATION.fullmatch(text)
    return found is not None and not takers_of(found[1])


def _check_no_relation(others: Iterable[str], equations: Sequence[str], is_to_prove: bool) -> None:
    """Raise `UsageError` for a relation without its option, such as a second one after ``--assume``."""
    for text in others:
        may_be = (text in equations or (_RELATION.search(text) and "," not in text)) and not path_exists(text)
        meant = meant_relation(text) if may_be else ""
        if meant:
            said = argument_text(meant)
            if is_to_prove:
                raise UsageError(f"{said} is a relation; write --that {said} to prove it")
            raise UsageError(f"{said} is an assumption; write --assume {said}: each has its own --assume")


def asks_for(words: Sequence[str], arguments: Sequence[str]) -> bool:
    """Return whether the arguments before any ``--`` contain one of some words."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(word in before for word in words)


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """Return the last value that is given for an option; None if the option is not given.

    >>> value_of("--rule", ["N", "--rule=none", "--rule", "pdpd"])
    'pdpd'
    """
    found = None
    for argument, following in zip(arguments, (*arguments[1:], None), strict=False):
        if argument == option:
            found = following
        elif argument.startswith(f"{option}="):
            found = argument.partition("=")[2]
    return found


def _is_none(argument: str, command: str) -> bool:
    """Return whether an argument is not an option."""
    if argument[:1] in _NO_HYPHENS and argument[1:2].isalpha() and argument:
        raise UsageError(
            f"{argument_text(argument)} begins with {argument[0]!r}, which is not a hyphen; write - or -- instead"
        )
    return (
        not argument.startswith("-")
        or argument == STDIN
        or (command in (*OF_SHAPES, "trace") and bool(_SHAPE.match(argument)))
    )


def _read(typed: UnknownOption, rest: UnreadArguments, commands: Mapping[str, Options]) -> tuple[Option, str]:
    """Return an option and its value: the next argument, if the option itself contains none."""
    argument = typed.argument
    known = {name: option for option in commands[typed.command] for name in option.names}
    found = _OPTION.fullmatch(argument)
    name, value = (found[1], found[2]) if found else (argument, None)
    name = name.replace("_", "-")
    if name not in known and not name.startswith("--") and name[:2] in known:  # -j4
        name, value = name[:2], argument[2:].removeprefix("=")
    if name not in known:
        following = next(iter(rest), "") if value is None else value
        unknown = typed._replace(name=name if found else "", following=following)
        from symbcast.cli.option_advice import unknown_option

        raise UsageError(unknown_option(unknown, commands))
    option = known[name]
    if option.is_switch:
        if value is not None:
            raise UsageError(f"{name} takes no value; write just {name}")
        return option, ""
    if value is None:
        value = next(iter(rest), None)
        if value is None or value.partition("=")[0] in known:
            between = "" if value is None else f", and {value.partition('=')[0]} is itself an option"
            raise UsageError(f"{name} needs a value{between}; write {_example(option)}")
    return option, value


def _check(option: Option, value: str, command: str, options: Options) -> None:
    """Raise `UsageError` for a value that an option does not accept."""
    name = option.names[0]
    if not value and not option.is_switch:
        raise UsageError(f"{name} has no value; write {_example(option)}, or leave {name} out")
    if option.choices and value not in option.choices:
        close = meant_choice(value, option.choices)
        other = next((o.names[0] for o in options if value in o.choices and not close), "")
        if f"--{value}" in [n for o in options for n in o.names]:
            raise UsageError(f"{name} {argument_text(value)}: did you mean --{value}?")
        if other:
            raise UsageError(f"{name} {argument_text(value)}: did you mean {other} {value}?")
        hint = f"did you mean {close}? It is one of" if close else "it is one of"
        raise UsageError(
            f"{name} {argument_text(value)}: {hint} {prose_list(option.choices, 'or', len(option.choices))}"
        )
    if option.number is not None and not _is_number(value, option.number):
        kind = "a whole number" if option.number is int else "a number"
        raise UsageError(number_fault(name, value, _example(option), command, kind))


def _is_number(value: str, kind: type[int] | type[float]) -> bool:
    if kind is int:
        return re.fullmatch(r"[+-]?[0-9]+", value) is not None and len(value) <= _MOST_DIGITS
    try:
        return float(value) is not None
    except ValueError:
        return False


def _example(option: Option) -> str:
    name = option.names[0]
    value = option.choices[0] if option.choices else {int: "1", float: "60"}.get(option.number or str, "")
    return f"{name} {value or _EXAMPLES.get(name, '...')}"


# The commands: each is loaded when it is called, or when all are listed.


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
    given, others = read_arguments(name, rest, _OptionsByCommand(name, options_of(command), with_plugins))
    most = most_others(command)
    if most is not None and len(others) > most:
        raise UsageError(
            f"{name} takes {most or 'no'} argument{'s' * (most != 1)}; leave {argument_text(others[most])} out"
        )
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
            from symbcast.cli.commands import questions as entailment

            return entailment.entailment_commands(with_plugins)[name], entailment.ENTAILMENT_EPILOGUES[name]
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
            from symbcast.cli import help as completion

            return completion.install_command(lambda: _app(_COMMANDS, with_plugins)), None
        case _:
            raise KeyError(name)


def _needs_plugins(arguments: Sequence[str]) -> bool:
    """Return whether rules of installed packages matter: for help on shapes, or for a rule that symbcast lacks."""
    if arguments[:1] not in [[name] for name in OF_SHAPES]:
        return False
    rule = value_of("--rule", arguments)
    return asks_for(HELP, arguments) or (rule is not None and not is_own_rule(rule.partition("(")[0]))


class _OptionsByCommand(Mapping[str, Options]):
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
