"""A command is one file in ``commands/``: a function whose signature and docstring declare all its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from symbcast.core.rules import REQUIRED, Kind, Parameter, RuleInfo
from symbcast.core.rules.registry import listed_rules
from symbcast.core.structs import NamedTuple

# An option is a keyword-only parameter. Its annotation says what its values are, and may have a `Meaning`; otherwise
# its help is in the docstring, in numpydoc's section "Parameters".


class Meaning(NamedTuple):
    """What an annotation adds to the type of an option.

    That is its help, names other than the parameter's, and the function that lists its words if its type does not.
    """

    help: str = ""
    names: tuple[str, ...] = ()
    choices: Callable[[], Iterable[str]] = tuple


class Option(NamedTuple):
    """An option of a command: its names, with the one used in messages first, and its values.

    ``number`` is the type of its value if that is a number; ``choices`` lists the allowed values if there are few;
    ``repeats`` says that the option may be repeated, ``is_switch`` that it takes no value;
    ``help`` is what its command's help says of it; ``parameter`` is the name of the function's parameter, and
    ``default`` its default.
    """

    names: tuple[str, ...]
    choices: tuple[str, ...] = ()
    number: type[int] | type[float] | None = None
    repeats: bool = False
    is_switch: bool = False
    help: str = ""
    parameter: str = ""
    default: object = None

    @classmethod
    def of(cls, parameter: inspect.Parameter, help: str = "") -> Option:
        """Return the option for a keyword-only parameter.

        >>> from typing import Literal
        >>> def show(*, min_size: int | None = None, format: Literal["text", "json"] = "text") -> int: ...
        >>> first, second = inspect.signature(show, eval_str=True).parameters.values()
        >>> Option.of(first).names, Option.of(second).choices
        (('--min-size',), ('text', 'json'))
        """
        annotation = parameter.annotation
        hint, *others = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        meaning = next((a for a in others if isinstance(a, Meaning)), Meaning())
        kinds = [hint, *(k for k in get_args(hint) if isinstance(k, type) or get_args(k))]
        choices = (*(c for kind in kinds for c in get_args(kind) if isinstance(c, str)), *meaning.choices())
        number = next((n for n in (int, float) if n in kinds), None)
        return cls(
            meaning.names or (flag_of(parameter.name),),
            choices,
            number,
            list[str] in kinds,
            hint is bool,
            meaning.help or help,
            parameter.name,
            parameter.default,
        )


Options = Sequence[Option]


Subject: TypeAlias = Literal["shapes", "models", "function", "other"]
"""What the arguments of a command are that are not options."""


class Command(NamedTuple):
    """A command: the function that runs it, and what its file declares besides the signature.

    ``epilogue`` ends its help. ``fault`` returns the error for arguments and options as typed, or an empty text.
    ``notes`` says what to do instead of options that the command does not have, by words separated by spaces.
    ``prefix`` precedes the function's name: a command about the command line itself is written as an option.
    ``words`` are what people type instead of its name, each with the line to write; ``needs`` is an option that it
    does not work without. ``executes`` says what of the user's it executes, if `docs/security.md` does not.
    ``group`` is its place in the list of commands.
    """

    function: Callable[..., int]
    epilogue: str = ""
    subject: Subject = "other"
    fault: Callable[[Sequence[str], Sequence[str]], str] | None = None
    notes: Mapping[str, str] = {}
    prefix: str = ""
    words: Mapping[str, str] = {}
    needs: str = ""
    executes: str = ""
    group: str = ""

    @property
    def title(self) -> str:
        """The group of commands to which it belongs in the help: by default that of its subject."""
        return self.group or {"shapes": "Shapes", "models": "Models", "function": "Code"}.get(self.subject, "Other")

    @property
    def name(self) -> str:
        """The name as it is typed."""
        return self.prefix + self.function.__name__.replace("_", "-")

    @property
    def takes_attributes(self) -> bool:
        """Whether each attribute of the rules is an option: the function then has a ``**`` parameter."""
        return bool(self._parameters(inspect.Parameter.VAR_KEYWORD))

    @property
    def most_arguments(self) -> int | None:
        """The maximum number of arguments that are not options; None if that is not limited."""
        is_open = self._parameters(inspect.Parameter.VAR_POSITIONAL)
        return None if is_open else len(self._parameters(inspect.Parameter.POSITIONAL_ONLY))

    @property
    def arguments(self) -> Iterator[tuple[str, str]]:
        """The parameters that are not options, each with its help."""
        helps = _helps(self.function)
        own = self._parameters(inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
        return ((p.name, helps.get(p.name, "")) for p in own)

    def _parameters(self, *kinds: Any, eval_str: bool = False) -> list[inspect.Parameter]:
        own = inspect.signature(self.function, eval_str=eval_str).parameters.values()
        return [p for p in own if p.kind in kinds]

    def options(self, with_plugins: bool = False) -> list[Option]:
        """Return its options; with those for attributes of installed packages' rules on request.

        >>> def show(*shapes: str, rank: int | None = None) -> int:
        ...     '''Show shapes.
        ...
        ...     Parameters
        ...     ----------
        ...     rank
        ...         Their rank.
        ...     '''
        ...     return 0
        >>> [option] = Command(show).options()
        >>> option.names, option.number, option.help
        (('--rank',), <class 'int'>, 'Their rank.')
        """
        helps = _helps(self.function)
        own = self._parameters(inspect.Parameter.KEYWORD_ONLY, eval_str=True)
        options = [Option.of(p, helps.get(p.name, "")) for p in own]
        if self.takes_attributes:
            place = 1 + next(n for n, option in enumerate(options) if option.parameter == "rule")
            options[place:place] = _attribute_options(with_plugins)
        return options


def _helps(function: Callable[..., int]) -> dict[str, str]:
    """Return what the docstring of a command says of each parameter."""
    _, _, section = inspect.cleandoc(function.__doc__ or "").partition("Parameters\n----------\n")
    entries = re.findall(r"^(\w+)\n((?:[ ]+.+(?:\n|$))+)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def command(**declared: Any) -> Callable[[Callable[..., int]], Command]:
    """Declare the function below as a command; the keywords are the fields of `Command`."""
    return lambda function: Command(function, **declared)


# Attributes of rules as options, generated from the rules' declarations.


def flag_of(name: str) -> str:
    """Return the option for a parameter or an attribute."""
    return f"--{name.replace('_', '-')}"


def _attribute_options(with_plugins: bool) -> list[Option]:
    """Return an option for each attribute of the rules; attributes of the same name share one option."""
    declared: dict[str, list[tuple[RuleInfo, Parameter]]] = {}
    for rule in listed_rules(with_plugins):
        for parameter in rule.parameters:
            declared.setdefault(parameter.name, []).append((rule, parameter))
    return [_attribute_option(name, pairs) for name, pairs in declared.items()]


def _attribute_option(name: str, declared: Sequence[tuple[RuleInfo, Parameter]]) -> Option:
    kinds = {parameter.kind for _, parameter in declared}
    # Where rules take different types, the value is text, which each rule reads.
    number = int if kinds <= {Kind.INTEGER, Kind.FLAG} else None
    help = _attribute_help(name, declared, kinds)
    return Option((flag_of(name),), number=number, repeats=kinds == {Kind.INTEGERS}, help=help, parameter=name)


def _attribute_help(name: str, declared: Sequence[tuple[RuleInfo, Parameter]], kinds: set[Kind]) -> str:
    """Return what an attribute means, its allowed words or its form, and the rules that take it."""
    rules_by_text: dict[str, list[str]] = {}
    for rule, parameter in declared:
        called = f"{rule.name}, required" if parameter.default is REQUIRED else rule.name
        rules_by_text.setdefault(parameter.summary or f"the rule's {name}=", []).append(called)
    meanings = "; ".join(f"{text} ({', '.join(rules)})" for text, rules in rules_by_text.items())
    words = dict.fromkeys(word for _, parameter in declared for word in parameter.choices)
    form = f": {', '.join(words)}" if words else ""
    if Kind.INTEGERS in kinds:
        form = f": {flag_of(name)} 0,2"
    elif kinds == {Kind.FLAG}:
        form = f": {Kind.FLAG.value}"
    return f"{meanings[0].upper()}{meanings[1:]}{form}."


# The folder is the list of commands: ``torch_error`` in ``torch_error.py`` is ``symbcast torch-error``.


# The only command that is written as an option.
INSTALL = "--install-completion"


@lru_cache
def command_names() -> tuple[str, ...]:
    """Return the names of all commands, in alphabetical order."""
    from pkgutil import iter_modules  # slow to load, and needed for lists only

    names = (module.name.replace("_", "-") for module in iter_modules(import_module("symbcast.cli.commands").__path__))
    return tuple(sorted(name for name in names if not INSTALL.endswith(name)))


def load_command(name: str) -> Command:
    """Return a command; it is loaded when it is called, or when all are listed. Raises `KeyError`."""
    # `__init__`, and a name with a dot, would be modules too.
    if not re.fullmatch(r"(?:--)?[a-z][a-z-]*", name):
        raise KeyError(name)
    # By name: commands import this file, and importing them here would make a circle.
    file = name.removeprefix("--").replace("-", "_")
    module = f"symbcast.cli.commands.{file}"
    try:
        loaded = getattr(import_module(module), file, None)
    except ModuleNotFoundError as error:
        if error.name != module:  # the command itself lacks something
            raise
        raise KeyError(name) from None
    if not isinstance(loaded, Command) or loaded.name != name:
        raise KeyError(name)
    return loaded


def lines_by_word() -> dict[str, str]:
    """Return words that people try as commands, each with the line that they mean."""
    lines = {"commands": "--help", "options": "--help"}
    for name in command_names():
        lines.update(load_command(name).words)
    return lines


class OptionsByCommand(Mapping[str, Options]):
    """The options of each command; those of other commands than the one called are needed for some messages only."""

    def __init__(self, with_plugins: bool) -> None:
        self._options: dict[str, Options] = {}
        self._with_plugins = with_plugins

    def __getitem__(self, name: str) -> Options:
        if name not in self._options:
            self._options[name] = load_command(name).options(self._with_plugins)
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*command_names(), INSTALL))

    def __len__(self) -> int:
        return len(command_names()) + 1
