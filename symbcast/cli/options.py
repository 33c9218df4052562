"""Options of commands: read from the signatures of functions, shared by several commands, or attributes of rules."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

from symbcast.cli.terminal import Format, UsageError, argument_text
from symbcast.core.characters import prose_list, visible
from symbcast.core.rules import REQUIRED, AttributeValue, Kind, Parameter, RuleInfo
from symbcast.core.rules.registry import is_rule_name, parameters_of, takers_of
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.answers.public.guard_methods import GuardMethods


# Options of commands, read from the signatures of the functions that run them.
#
# An option is a keyword-only parameter. Its annotation says what its values are, and may have a `Meaning`; otherwise
# its help is in the docstring, in numpydoc's section "Parameters".


class Meaning(NamedTuple):
    """What an annotation adds to the type of an option: its help, and names other than the parameter's."""

    help: str = ""
    names: tuple[str, ...] = ()


class Option(NamedTuple):
    """An option of a command: its names, with the one used in messages first, and its values.

    ``number`` is the type of its value if that is a number; ``choices`` lists the allowed values if there are few;
    ``repeats`` says that the option may be repeated, ``is_switch`` that it takes no value;
    ``help`` is what its command's help says of it; ``parameter`` is the name of the function's parameter.
    """

    names: tuple[str, ...]
    choices: tuple[str, ...] = ()
    number: type[int] | type[float] | None = None
    repeats: bool = False
    is_switch: bool = False
    help: str = ""
    parameter: str = ""

    @classmethod
    def of(cls, parameter: str, annotation: Any, help: str = "") -> Option:
        """Return the option for a parameter with some annotation.

        >>> from typing import Literal
        >>> Option.of("min_size", int | None).names, Option.of("format", Literal["text", "json"]).choices
        (('--min-size',), ('text', 'json'))
        """
        hint, meaning = type_and_meaning(annotation)
        kinds = [hint, *(k for k in get_args(hint) if isinstance(k, type) or get_args(k))]
        choices = tuple(c for kind in kinds for c in get_args(kind) if isinstance(c, str))
        number = next((n for n in (int, float) if n in kinds), None)
        names = meaning.names or (f"--{parameter.replace('_', '-')}",)
        return cls(names, choices, number, list[str] in kinds, hint is bool, meaning.help or help, parameter)


class UnknownOption(NamedTuple):
    """An option that a command does not have, as typed.

    ``argument`` is the whole argument, ``name`` its option (empty if it is none), ``following`` its value, ``command``
    the command, ``others`` the arguments of the command that are not options, ``rule`` the rule's name, and
    ``arguments`` all arguments of the command.
    """

    argument: str
    name: str
    following: str
    command: str
    others: Sequence[str]
    rule: str = "numpy"
    arguments: Sequence[str] = ()

    @property
    def word(self) -> str:
        """The name without its hyphens, in lower case."""
        return self.name.lstrip("-").casefold()

    @property
    def words(self) -> list[str]:
        """The whole name and the words in it, in lower case: ``minShapes`` has ``min``, ``shape1`` has ``shape``."""
        parts = re.findall(r"[^\W\d_][^\W\d_A-Z]*", self.name)
        return list(dict.fromkeys([self.word, *(part.casefold() for part in parts)]))


Options = Sequence[Option]
Command = Callable[..., int]


def type_and_meaning(annotation: Any) -> tuple[Any, Meaning]:
    """Return the type in an annotation, and its meaning."""
    if get_origin(annotation) is not Annotated:
        return annotation, Meaning()
    hint, *about = get_args(annotation)
    return hint, next((a for a in about if isinstance(a, Meaning)), Meaning())


def options_of(command: Command) -> list[Option]:
    """Return the options of a command.

    >>> def show(*shapes: str, rank: int | None = None) -> int:
    ...     '''Show shapes.
    ...
    ...     Parameters
    ...     ----------
    ...     rank
    ...         Their rank.
    ...     '''
    ...     return 0
    >>> [option] = options_of(show)
    >>> option.names, option.number, option.help
    (('--rank',), <class 'int'>, 'Their rank.')
    """
    helps = helps_of(command)
    own = inspect.signature(command, eval_str=True).parameters.values()
    keywords = [p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return [Option.of(p.name, p.annotation, helps.get(p.name, "")) for p in keywords]


def helps_of(command: Command) -> dict[str, str]:
    """Return what the docstring of a command says of each parameter."""
    _, _, section = inspect.cleandoc(command.__doc__ or "").partition("Parameters\n----------\n")
    found = re.findall(r"^(\w+)\n((?:[ ]+.+(?:\n|$))+)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def most_others(command: Command) -> int | None:
    """Return how many arguments a command takes that are no options; None if that is not limited."""
    own = inspect.signature(command).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in own):
        return None
    return sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in own)


def call(command: Command, given: Iterable[tuple[Option, str]], others: Sequence[str]) -> int:
    """Run a command with checked values of its options, and the arguments that are none."""
    keywords: dict[str, Any] = {}
    for option, value in given:
        if option.is_switch:
            keywords[option.parameter] = True
        elif option.repeats:
            keywords.setdefault(option.parameter, []).append(value)
        else:
            keywords[option.parameter] = value if option.number is None else option.number(value)
    return command(*others, **keywords)


# Options that several commands share, with their help.


RuleName: TypeAlias = Annotated[str, Meaning("The rule to broadcast by; see `symbcast rules`.")]
Assumed: TypeAlias = Annotated[
    list[str] | None, Meaning('An assumption about the sizes, such as "N >= 2"; may be repeated.')
]
MinSize: TypeAlias = Annotated[int, Meaning("The minimum size of every symbol.")]
Language: TypeAlias = Literal["python", "cpp", "smtlib", "mlir"]
GuardIn: TypeAlias = Annotated[
    Language | None, Meaning("Print only the condition, as a guard in this language, instead of the report.")
]
TextOrJson: TypeAlias = Annotated[Format, Meaning("Text to read, or JSON.")]


def open_reasons(answer: GuardMethods) -> tuple[str, ...]:
    """Return why some sizes are neither proved to work nor proved to fail; empty if there are no such sizes."""
    account = answer._account
    return tuple(part.reason for part in account.open) if account.is_open else ()


def guard_text(answer: GuardMethods, language: Language, format: str) -> str:
    """Return the guard of an answer; raise `UsageError` if a format is given too.

    It is false for sizes that are open, which a comment says.
    """
    if format != "text":
        raise UsageError(f"--guard prints source text: leave --format {format} out")
    sources = {"python": answer.to_python, "cpp": answer.to_cpp, "smtlib": answer.to_smtlib, "mlir": answer.to_mlir}
    mark = {"python": "#", "smtlib": ";"}.get(language, "//")
    left = open_reasons(answer)
    comment = [f"{mark} False for sizes that are open: {visible(reason)}\n" for reason in left]
    return f"{''.join(comment)}{sources[language](open=False)}".rstrip("\n")


# The options of `symbcast check` that set attributes of rules, generated from the rules' declarations.


AttributeText: TypeAlias = int | str | list[str] | None
"""What an option of a rule is given as: a number, text, or a list of texts; None where it is not given."""

_NUMBERS = (Kind.INTEGER, Kind.FLAG)
_EXAMPLES = {Kind.INTEGERS: "0,2", Kind.WORD: "WORD"}


class RuleOption(NamedTuple):
    """An option and the rules that take it, with their declarations."""

    name: str
    declared: tuple[tuple[RuleInfo, Parameter], ...]

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return _flag(self.name)

    @property
    def annotation(self) -> object:
        """The type of its value, with its help. It is text, which the rules parse, if they take different types."""
        kinds = {parameter.kind for _, parameter in self.declared}
        if kinds == {Kind.INTEGERS}:
            return Annotated[list[str] | None, Meaning(self.help)]
        return Annotated[int | None if kinds <= {*_NUMBERS} else str | None, Meaning(self.help)]

    @property
    def help(self) -> str:
        """Its meaning, its allowed words or its form, and the rules that take it."""
        texts: dict[str, list[str]] = {}
        for rule, parameter in self.declared:
            called = f"{rule.name}, required" if parameter.default is REQUIRED else rule.name
            texts.setdefault(parameter.summary or f"the rule's {self.name}=", []).append(called)
        meanings = "; ".join(f"{text} ({', '.join(rules)})" for text, rules in texts.items())
        words = dict.fromkeys(word for _, parameter in self.declared for word in parameter.choices)
        kinds = {parameter.kind for _, parameter in self.declared}
        form = f": {', '.join(words)}" if words else ""
        if Kind.INTEGERS in kinds:
            form = f": {self.flag} 0,2"
        elif kinds == {Kind.FLAG}:
            form = f": {Kind.FLAG.value}"
        return f"{meanings[0].upper()}{meanings[1:]}{form}."


def rule_options(rules: Iterable[RuleInfo]) -> list[RuleOption]:
    """Return an option for each attribute of some rules; attributes of the same name share one option."""
    declared: dict[str, list[tuple[RuleInfo, Parameter]]] = {}
    for rule in rules:
        for parameter in rule.parameters:
            declared.setdefault(parameter.name, []).append((rule, parameter))
    return [RuleOption(name, tuple(pairs)) for name, pairs in declared.items()]


def with_options(command: Command, options: Sequence[RuleOption], after: str) -> Command:
    """Return a command with options instead of its ``**`` parameter, listed after one of its own options."""

    def made(*shapes: str, **given: Any) -> int:
        return command(*shapes, **given)

    own = inspect.signature(command, eval_str=True)
    parameters = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    place = 1 + next(n for n, p in enumerate(parameters) if p.name == after)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters[place:place] = [
        inspect.Parameter(o.name, keyword, default=None, annotation=o.annotation) for o in options
    ]
    made.__name__, made.__doc__ = command.__name__, command.__doc__
    made.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # functions take attributes
    made.__annotations__ = {p.name: p.annotation for p in parameters}
    return made


def rule_of(rule: str, given: Mapping[str, AttributeText]) -> dict[str, Any]:
    """Return a rule with its attributes as keywords of `symbcast.broadcast`.

    The attributes are in parentheses after the rule's name, as `symbcast compare` writes them, or options. Raises
    `UsageError` if they are both.
    """
    meant = _written(rule)
    if meant:
        raise UsageError(
            f"--rule {argument_text(rule)}: attributes are in parentheses; write --rule {argument_text(meant)}"
        )
    if "(" not in rule:
        return {"rule": rule, **_attributes_of(rule, given)}
    from symbcast.answers.comparison.rule_answers import read_rule

    option = next((name for name, value in given.items() if value is not None), None)
    if option is not None:
        raise UsageError(f"--rule {rule} has its attributes in parentheses; leave {_flag(option)} out")
    return {"rule": read_rule(rule)}


def _written(rule: str) -> str:
    """Return a rule whose attributes follow its name without parentheses as it is written; else empty.

    >>> _written("pdpd axis=1"), _written("pdpd:1"), _written("numpy")
    ('pdpd(axis=1)', 'pdpd(axis=1)', '')
    """
    found = re.fullmatch(r"\s*([\w-]*\w)\s*[\s:,/=]\s*([^()]+)", rule)
    own = parameters_of(found[1]) if found else ()
    if found is None or not own:
        return ""
    rest = found[2].strip()
    listed_axes = f"({rest})" if "," in rest else rest
    return f"{found[1]}({rest})" if "=" in rest else f"{found[1]}({own[0].name}={listed_axes})"


def _attributes_of(rule: str, given: Mapping[str, AttributeText]) -> dict[str, AttributeValue]:
    """Return the attributes that options give a rule, each read as the rule declares it.

    Raises `UsageError` for text that cannot be read. An attribute that the rule does not have is also returned: the
    rule's own error explains it best.
    """
    own = {p.name: p for p in parameters_of(rule)}
    if is_rule_name(rule):
        _check_attributes(rule, own, [name for name, value in given.items() if value is not None])
    return {name: _read(rule, name, own.get(name), value) for name, value in given.items() if value is not None}


def _check_attributes(rule: str, own: Mapping[str, Parameter], given: Sequence[str]) -> None:
    """Raise `UsageError` for options that a rule does not take, or for missing options that it needs."""
    for name in given:
        if name not in own:
            takers = takers_of(name)
            default = f": write --rule {takers[0]} (without --rule, the rule is numpy)" if rule == "numpy" else ""
            raise UsageError(
                f"rule {rule!r} has no attribute {name!r}; {_flag(name)} is for {prose_list(takers)}{default}"
            )
    for name, parameter in own.items():
        if parameter.default is REQUIRED and name not in given:
            raise UsageError(f"rule {rule!r} needs {_flag(name)}; write {_flag(name)} {_example(parameter)}")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _example(parameter: Parameter) -> str:
    return parameter.choices[0] if parameter.choices else _EXAMPLES.get(parameter.kind, "0")


def _read(rule: str, name: str, parameter: Parameter | None, value: int | str | list[str]) -> AttributeValue:
    if isinstance(value, int):
        return value
    text = value if isinstance(value, str) else ",".join(part.strip("()[] ") for part in value)
    if parameter is None:
        return text
    try:
        return parameter.read(rule, text)
    except RuleArgumentError:
        what = "axes" if parameter.kind is Kind.INTEGERS else "it"
        raise UsageError(f"{_flag(name)} {text}: write {what} as {_flag(name)} {_example(parameter)}") from None
