"""The arguments of a command as typed: read by argparse, and checked before anything runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, NoReturn

from symbcast.cli import argument_advice, value_advice
from symbcast.cli.command import Command, Option, Options, OptionsByCommand, command_names, load_command
from symbcast.cli.terminal import STDIN, Bar, Exit, UsageError, argument_text, command_line, meant_choice, path_exists
from symbcast.core import __version__
from symbcast.core.characters import prose_list
from symbcast.core.rules.registry import is_own_rule, takers_of

# No argument is interpreted as something that the user may not have meant: one that begins with ``-`` is an option
# wherever it stands, and an error if the command does not have it. There are three exceptions: ``-`` alone, which is
# standard input; for commands that take shapes, ``-`` and a digit, which begin a shape; and whatever follows ``--``.


_OPTION = re.compile(r"(--?[^\W\d_][\w-]*)(?:=(.*))?", re.DOTALL)
_SHAPE = re.compile(r"-\d")
_RELATION = re.compile(r"[<>=!]=|[<>]")
_EQUATION = re.compile(r"\s*([^\W\d][\w.]*)\s*=\s*\w+\s*")
# An argument of a traced function that is a Python literal, with its name.
_LITERAL = re.compile(r"[^\W\d]\w*==\s*(?:[-+]?\d.*|[\"'(\[{].*|True|False|None)", re.DOTALL)
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
    "--free": '"N, H, W"',
    "--rule": "numpy",
    "--that": '"N == M"',
    "--shapes": '"x=N, 3, H, W"',
    "--values": "steps=4,N//2",
    "--at": "N=2",
    "--html": "model.html",
}
# Every number of 18 digits fits into 64 bits; not every one of 19 does.
_MOST_DIGITS = 18
HELP = ("--help", "-h")


def answer(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status. Raises `UsageError` for arguments that it does not take."""
    name, rest = next(iter(arguments), ""), list(arguments[1:])
    if not arguments or name in HELP:
        from symbcast.cli.help import print_help

        return print_help()
    if name in ("version", "--version"):
        print(__version__)
        return Exit.ALWAYS
    try:
        command = load_command(name)
    except KeyError:
        raise UsageError(argument_advice.unknown_command(name, rest, command_names())) from None
    with_plugins = _needs_plugins(command, rest)
    if asks_for(HELP, rest):
        from symbcast.cli.help import print_help

        return print_help(command, with_plugins)
    if asks_for(["--version"], rest):
        print(__version__)
        return Exit.ALWAYS
    keywords, others = read_arguments(command, rest, OptionsByCommand(with_plugins))
    # Commands on models and files show what they are at themselves.
    with Bar(1, "working") if command.subject in ("shapes", "function") or command.name == "bounds" else nullcontext():
        return command.function(*others, **keywords)


def _needs_plugins(command: Command, arguments: Sequence[str]) -> bool:
    """Return whether rules of installed packages matter: for help on shapes, or for a rule that symbcast lacks."""
    if not command.takes_attributes:
        return False
    rule = value_of("--rule", arguments)
    return asks_for(HELP, arguments) or (rule is not None and not is_own_rule(rule.partition("(")[0]))


# argparse reads the options: it adds 2 ms to what a command loads, where click took 47 and cyclopts 80. The values are
# checked here: its messages do not say what to write instead.


class _Append(argparse.Action):
    """Appends an option's parameter and its value, as typed and in the order typed."""

    def __call__(self, _parser: Any, namespace: argparse.Namespace, values: Any, _name: str | None = None) -> None:
        namespace.values.append((self.dest, values))


def read_arguments(
    command: Command, arguments: Sequence[str], commands: OptionsByCommand
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of the options by parameter, and the other arguments.

    ``commands`` are the options of each command. Raises `UsageError` for anything that the command does not take.
    """
    options = commands[command.name]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before, after = [_with_hyphens(argument) for argument in arguments[:end]], list(arguments[end + 1 :])
    pairs, others = _read_options(options, before)
    positional = [*_without_options(command, others), *after]
    if command.subject == "shapes":
        _check_quoted(command.name, positional)
    # A shell that divided a value at its spaces explains whatever else is wrong, so this is checked first.
    for option, value in pairs:
        fault = value_advice.split_value_fault(
            option, value, _following(option, value, before), command.name, positional
        )
        if fault:
            raise UsageError(fault)
        _check(option, value, options)
    keywords = _keywords(pairs, positional)
    for argument in others:
        if not _is_positional(argument, command):
            _refuse_option(argument, command, before, positional, commands)
    others.extend(after)
    _check_others(command, others, pairs, options)
    return keywords, others


def _with_hyphens(argument: str) -> str:
    """Return an option such as ``--min_size=1`` with hyphens in its name."""
    name, equals, value = argument.partition("=")
    return f"{name.replace('_', '-')}{equals}{value}" if _OPTION.fullmatch(name) else argument


def _read_options(options: Options, arguments: Sequence[str]) -> tuple[list[tuple[Option, str]], list[str]]:
    """Return the options with their values, and the arguments that argparse does not know as either."""
    # No abbreviations: one that is unique today may be ambiguous after the next option is added.
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for option in options:
        nargs = 0 if option.is_switch else None
        parser.add_argument(*option.names, dest=option.parameter, action=_Append, nargs=nargs)
    # The parser has no positional arguments, so that it leaves them in order, with the options that it lacks.
    try:
        namespace, others = parser.parse_known_args(arguments, argparse.Namespace(values=[]))
    except argparse.ArgumentError as error:
        names = (error.argument_name or "").split("/")
        raise UsageError(_value_fault(next(o for o in options if o.names[0] in names), arguments, options)) from None
    by_parameter = {option.parameter: option for option in options}
    return [(by_parameter[name], value or "") for name, value in namespace.values], others


def _value_fault(option: Option, arguments: Sequence[str], options: Options) -> str:
    """Return the error for an option without its value, or for a switch that has one."""
    name = option.names[0]
    if option.is_switch:
        return f"{name} takes no value; write just {name}"
    following = (b.partition("=")[0] for a, b in pairwise((*arguments, "")) if a in option.names)
    known = {name for option in options for name in option.names}
    between = next((f", and {word} is itself an option" for word in following if word in known), "")
    return f"{name} needs a value{between}; write {_example(option)}"


def _following(option: Option, value: str, arguments: Sequence[str]) -> list[str]:
    """Return the arguments after an option and its value."""
    # argparse does not tell actions where a value stood.
    for number, argument in enumerate(arguments):
        if argument in option.names and arguments[number + 1 : number + 2] == [value]:
            return list(arguments[number + 2 :])
        if argument.partition("=")[0] in option.names and argument.endswith(f"={value}"):
            return list(arguments[number + 1 :])
    return []


def _without_options(command: Command, others: Sequence[str]) -> list[str]:
    """Return arguments without unknown options and what may be their values."""
    positional = []
    rest = iter(others)
    for argument in rest:
        is_shape = command.subject == "shapes" and _SHAPE.match(argument)
        if is_shape or not argument.startswith("-") or argument == STDIN:
            positional.append(argument)
        elif "=" not in argument:
            next(rest, "")
    return positional


def _is_positional(argument: str, command: Command) -> bool:
    if argument[:1] in _NO_HYPHENS and argument[1:2].isalpha() and argument:
        raise UsageError(
            f"{argument_text(argument)} begins with {argument[0]!r}, which is not a hyphen; write - or -- instead"
        )
    is_shape = command.subject in {"shapes", "function"} and bool(_SHAPE.match(argument))
    return is_shape or not argument.startswith("-") or argument == STDIN


def _refuse_option(
    argument: str, command: Command, arguments: Sequence[str], positional: Sequence[str], commands: OptionsByCommand
) -> NoReturn:
    """Raise the `UsageError` for an option that a command does not have."""
    from symbcast.cli.option_advice import UnknownOption, unknown_option

    match = _OPTION.fullmatch(argument)
    name, value = (match[1], match[2]) if match else ("", None)
    if value is None:
        value = next((b for a, b in pairwise((*arguments, "")) if a == argument), "")
    rule = value_of("--rule", arguments) or "numpy"
    unknown = UnknownOption(argument, name, value, command.name, positional, rule, arguments, command.subject)
    raise UsageError(unknown_option(unknown, commands))


def _keywords(pairs: Sequence[tuple[Option, str]], positional: Sequence[str]) -> dict[str, Any]:
    """Return checked values by parameter. Raises `UsageError` for an option that is given twice."""
    keywords: dict[str, Any] = {}
    before: dict[str, str] = {}
    for option, value in pairs:
        name = option.names[0]
        if option.repeats:
            keywords.setdefault(option.parameter, []).append(value)
            continue
        if name in before:
            twice = "" if option.is_switch else f", as {before[name]} and {value}"
            rules = [part for rule in (before[name], value) for part in ("--rule", rule)]
            several = f", or {command_line('compare', positional, rules)}" if name == "--rule" else ""
            raise UsageError(f"{name} is given twice{twice}; give it only once{several}")
        before[name] = value
        keywords[option.parameter] = option.is_switch or (option.number or str)(value)
    return keywords


def _check_others(command: Command, others: Sequence[str], pairs: Sequence[tuple[Option, str]], own: Options) -> None:
    """Raise `UsageError` for arguments that are not options and that the command does not take."""
    known = {name for option in own for name in option.names}
    names = {option.names[0] for option, _ in pairs}
    options = [o.names[0] if o.is_switch else f"{o.names[0]}={value}" for o, value in pairs]
    if "--assume" in known:
        relations = [text for text in others if command.subject != "function" or not _LITERAL.fullmatch(text)]
        equations = [text for text in relations if command.subject == "shapes" and _is_equation(text)]
        if command.name == "bounds":
            _check_no_bound_relation(relations)
        _check_no_relation(relations, equations, "--that" in known and "--that" not in names)
    most = command.most_arguments
    if others and most == 0:
        raise UsageError(f"{command.name} takes only options; {argument_text(others[0])} is not one")
    fault = ""
    if command.subject == "models":
        fault = value_advice.misplaced_binding(others, "--range" in known)
    if command.subject == "shapes":
        rules = [value for option, value in pairs if option.names[0] == "--rule"]
        is_comparison = any(option.repeats for option in own if option.parameter == "rule")
        fault = value_advice.rule_among(others, rules) if is_comparison else ""
        fault = (
            fault
            or value_advice.attributes_among(others, rules)
            or value_advice.sign_among(command.name, others, options)
        )
    if command.fault is not None:
        fault = fault or command.fault(others, options)
    if fault:
        raise UsageError(fault)
    if most is not None and len(others) > most:
        count = f"{most} argument{'s' * (most != 1)}"
        raise UsageError(f"{command.name} takes {count}; leave {argument_text(others[most])} out")


def check_shapes(command: str, shapes: Sequence[str]) -> None:
    """Raise `UsageError` if arguments without options are files, parts of shapes, or signs between shapes."""
    _check_quoted(command, shapes)
    fault = value_advice.sign_among(command, shapes, ())
    if fault:
        raise UsageError(fault)


def _check_quoted(command: str, shapes: Sequence[str]) -> None:
    fault = argument_advice.instead_of_shapes(command, shapes) or value_advice.unquoted_shapes(command, shapes)
    if fault:
        raise UsageError(fault)
    argument_advice.note_joined_sizes(shapes)


def _is_equation(text: str) -> bool:
    """Return whether an argument is a size and its value with a single ``=``, and not an attribute of a rule."""
    match = _EQUATION.fullmatch(text)
    return match is not None and not takers_of(match[1])


def _check_no_bound_relation(others: Sequence[str]) -> None:
    """Raise `UsageError` for a relation in the place of the expression of `symbcast bounds`."""
    for text in others[:1]:
        left, sign, _ = _RELATION.split(text, maxsplit=1)[0], _RELATION.search(text), ""
        if sign and value_advice.is_relation(text):
            meant = command_line("bounds", left.strip(), "--assume", text)
            raise UsageError(f"{argument_text(text)} is a relation, not a size; did you mean {meant}?")


def _check_no_relation(others: Iterable[str], equations: Sequence[str], is_to_prove: bool) -> None:
    """Raise `UsageError` for a relation without its option, such as a second one after ``--assume``."""
    for text in others:
        may_be = (text in equations or (_RELATION.search(text) and "," not in text)) and not path_exists(text)
        relation = value_advice.meant_relation(text) if may_be else ""
        if relation:
            said = argument_text(relation)
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
    value = None
    for argument, following in zip(arguments, (*arguments[1:], None), strict=False):
        if argument == option:
            value = following
        elif argument.startswith(f"{option}="):
            value = argument.partition("=")[2]
    return value


def _check(option: Option, value: str, options: Options) -> None:
    """Raise `UsageError` for a value that an option does not accept."""
    name = option.names[0]
    if not value and not option.is_switch:
        raise UsageError(f"{name} has no value; write {_example(option)}, or leave {name} out")
    if option.choices and value not in option.choices:
        close = meant_choice(value, option.choices) or _begun(value, option.choices)
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
        raise UsageError(value_advice.number_fault(name, value, _example(option), kind))


def _begun(value: str, choices: Sequence[str]) -> str:
    """Return the shortest choice that begins with a value of three letters or more; empty if there is none."""
    return min((c for c in choices if len(value) > 2 and c.startswith(value.casefold())), key=len, default="")


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
