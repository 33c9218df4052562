"""Options that several commands share, the attributes of rules as options, and answers on shapes as typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from symbcast.answers.guards.languages import LANGUAGES, comment_of
from symbcast.cli.argument_advice import note_unknown_names
from symbcast.cli.command import Meaning, flag_of
from symbcast.cli.terminal import Format, UsageError, argument_text, checked, read_shapes
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.characters import prose_list, visible
from symbcast.core.rules import REQUIRED, AttributeValue, Kind, Parameter
from symbcast.core.rules.registry import is_rule_name, parameters_of, takers_of
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.answers.public.guard_methods import GuardMethods
    from symbcast.answers.public.result import Result


# Options that several commands share, with their help.


RuleName: TypeAlias = Annotated[str, Meaning("The rule to broadcast by; see `symbcast rules`.")]
Assumed: TypeAlias = Annotated[
    list[str] | None, Meaning('An assumption about the sizes, such as "N >= 2"; may be repeated.')
]
MinSize: TypeAlias = Annotated[int, Meaning("The minimum size of every symbol.")]
GuardIn: TypeAlias = Annotated[
    str | None,
    Meaning("Print only the condition, as a guard in this language, instead of the report.", choices=lambda: LANGUAGES),
]
TextOrJson: TypeAlias = Annotated[Format, Meaning("Text to read, or JSON.")]


def open_reasons(answer: GuardMethods) -> tuple[str, ...]:
    """Return why some sizes are neither proved to work nor proved to fail; empty if there are no such sizes."""
    account = answer._account
    return tuple(part.reason for part in account.open) if account.is_open else ()


def guard_text(answer: GuardMethods, language: str, format: str) -> str:
    """Return the guard of an answer; raise `UsageError` if a format is given too.

    It is false for sizes that are open, which a comment says.
    """
    if format != "text":
        raise UsageError(f"--guard prints source text: leave --format {format} out")
    mark = comment_of(language)
    comment = [f"{mark} False for sizes that are open: {visible(reason)}\n" for reason in open_reasons(answer)]
    return f"{''.join(comment)}{getattr(answer, f'to_{language}')(open=False)}".rstrip("\n")


# Attributes of rules, given as options or in parentheses after a rule's name.


AttributeText: TypeAlias = int | str | list[str] | None
"""What an option of a rule is given as: a number, text, or a list of texts; None where it is not given."""

_EXAMPLES = {Kind.INTEGERS: "0,2", Kind.WORD: "WORD"}


def rule_of(rule: str, attributes: Mapping[str, AttributeText]) -> dict[str, Any]:
    """Return a rule with its attributes as keywords of `symbcast.broadcast`.

    The attributes are in parentheses after the rule's name, as `symbcast compare` writes them, or options. Raises
    `UsageError` if they are both.
    """
    corrected = _written(rule)
    if corrected:
        raise UsageError(
            f"--rule {argument_text(rule)}: attributes are in parentheses; write --rule {argument_text(corrected)}"
        )
    if "(" not in rule:
        return {"rule": rule, **_attributes_of(rule, attributes)}
    from symbcast.answers.comparison.rule_answers import read_rule

    option = next((name for name, value in attributes.items() if value is not None), None)
    if option is not None:
        raise UsageError(f"--rule {rule} has its attributes in parentheses; leave {flag_of(option)} out")
    return {"rule": read_rule(rule)}


def _written(rule: str) -> str:
    """Return a rule whose attributes follow its name without parentheses as it is written; else empty.

    >>> _written("pdpd axis=1"), _written("pdpd:1"), _written("numpy")
    ('pdpd(axis=1)', 'pdpd(axis=1)', '')
    """
    match = re.fullmatch(r"\s*([\w-]*\w)\s*[\s:,/=]\s*([^()]+)", rule)
    own = parameters_of(match[1]) if match else ()
    if match is None or not own:
        return ""
    rest = match[2].strip()
    listed_axes = f"({rest})" if "," in rest else rest
    return f"{match[1]}({rest})" if "=" in rest else f"{match[1]}({own[0].name}={listed_axes})"


def _attributes_of(rule: str, attributes: Mapping[str, AttributeText]) -> dict[str, AttributeValue]:
    """Return the attributes that options give a rule, each read as the rule declares it.

    Raises `UsageError` for text that cannot be read. An attribute that the rule does not have is also returned: the
    rule's own error explains it best.
    """
    own = {p.name: p for p in parameters_of(rule)}
    if is_rule_name(rule):
        _check_attributes(rule, own, [name for name, value in attributes.items() if value is not None])
    return {name: _read(rule, name, own.get(name), value) for name, value in attributes.items() if value is not None}


def _check_attributes(rule: str, own: Mapping[str, Parameter], names: Sequence[str]) -> None:
    """Raise `UsageError` for options that a rule does not take, or for missing options that it needs."""
    for name in names:
        if name not in own:
            takers = takers_of(name)
            default = f": write --rule {takers[0]} (without --rule, the rule is numpy)" if rule == "numpy" else ""
            raise UsageError(
                f"rule {rule!r} has no attribute {name!r}; {flag_of(name)} is for {prose_list(takers)}{default}"
            )
    for name, parameter in own.items():
        if parameter.default is REQUIRED and name not in names:
            raise UsageError(f"rule {rule!r} needs {flag_of(name)}; write {flag_of(name)} {_example(parameter)}")


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
        raise UsageError(f"{flag_of(name)} {text}: write {what} as {flag_of(name)} {_example(parameter)}") from None


# Shapes as arguments of commands that ask further questions about one broadcast.


def result_for_shapes(  # noqa: PLR0913, PLR0917 - the options of the commands
    command: str,
    shapes: Sequence[str],
    rule: str,
    assume: list[str] | None,
    min_size: int,
    attributes: dict[str, AttributeText],
) -> Result:
    """Return the answer about the shapes given to a command; raise `UsageError` if there are none."""
    from symbcast.answers.public.result import broadcast

    checked("--min-size", check_min_size, min_size)
    operands = shapes_of(shapes, command)
    rule_keywords = rule_of(rule, attributes)
    result = broadcast(*operands, assume=assume or (), min_size=min_size, budget=None, **rule_keywords)
    note_unknown_names(assume, operands)
    return result


def shapes_of(shapes: Sequence[str], command: str, is_blank_read: bool = False) -> list[str]:
    """Return the shapes given to a command; raise `UsageError` if there are none."""
    if not shapes:
        raise UsageError(f'give one shape or more, each in quotes: symbcast {command} "N, 3" "M, 1"')
    return read_shapes(shapes, is_blank_read)
