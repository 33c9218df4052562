"""The options of `symbcast check` that set attributes of rules, generated from the rules' declarations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

from symbcast.cli.advice.words import shown
from symbcast.cli.option import Command, Meaning
from symbcast.cli.statuses import UsageError
from symbcast.core.broadcasting import REQUIRED, AttributeValue, Kind, Parameter, RuleInfo
from symbcast.core.broadcasting.registry import is_known, parameters_of, takers_of
from symbcast.core.characters import listed
from symbcast.errors import RuleArgumentError

Given: TypeAlias = int | str | list[str] | None
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


def rule_of(rule: str, given: Mapping[str, Given]) -> dict[str, Any]:
    """Return a rule with its attributes as keywords of `symbcast.broadcast`.

    The attributes are in parentheses after the rule's name, as `symbcast compare` writes them, or options. Raises
    `UsageError` if they are both.
    """
    meant = _written(rule)
    if meant:
        raise UsageError(f"--rule {shown(rule)}: attributes are in parentheses; write --rule {shown(meant)}")
    if "(" not in rule:
        return {"rule": rule, **_attributes_of(rule, given)}
    from symbcast.answers.comparison.rule_texts import read_rule

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


def _attributes_of(rule: str, given: Mapping[str, Given]) -> dict[str, AttributeValue]:
    """Return the attributes that options give a rule, each read as the rule declares it.

    Raises `UsageError` for text that cannot be read. An attribute that the rule does not have is also returned: the
    rule's own error explains it best.
    """
    own = {p.name: p for p in parameters_of(rule)}
    if is_known(rule):
        _check_attributes(rule, own, [name for name, value in given.items() if value is not None])
    return {name: _read(rule, name, own.get(name), value) for name, value in given.items() if value is not None}


def _check_attributes(rule: str, own: Mapping[str, Parameter], given: Sequence[str]) -> None:
    """Raise `UsageError` for options that a rule does not take, or for missing options that it needs."""
    for name in given:
        if name not in own:
            takers = takers_of(name)
            default = f": write --rule {takers[0]} (without --rule, the rule is numpy)" if rule == "numpy" else ""
            raise UsageError(f"rule {rule!r} has no attribute {name!r}; {_flag(name)} is for {listed(takers)}{default}")
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
