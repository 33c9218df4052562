"""Rules as text: ``pdpd(axis=1)``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symbcast.core.broadcasting import AttributeValue, Kind, Rule, find_rule
from symbcast.core.broadcasting.registry import is_known, listed_rules, parameters_of
from symbcast.errors import RuleArgumentError, ShapeTypeError, SymbcastError, UnknownRuleError

_WRITTEN = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\((?P<attributes>.*)\))?\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\([^()]*\)|\[[^\[\]]*\]|[^,()\[\]]+)\s*(?:,|$)")


def read_rule(rule: str | Rule) -> Rule:
    """Return a rule given as text, with attributes in parentheses after its name, or as a `Rule`.

    Raises `UnknownRuleError` and `RuleArgumentError` as `symbcast.broadcast` does, and `RuleArgumentError` for text
    that cannot be read.

    >>> read_rule("explicit(axes=(0, 2), flavour='openvino')")
    <Rule explicit, axes=(0, 2), flavour='openvino'>
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str):
        raise ShapeTypeError(rule, "a rule", "write its name, with attributes as in 'pdpd(axis=1)'")
    written = _WRITTEN.fullmatch(rule)
    if written is None:
        raise _not_written(rule)
    name = written["name"]
    return find_rule(name, dict(_attributes(name, written["attributes"] or "")))


def _not_written(text: str) -> SymbcastError:
    """Return the error for text that is not a rule's name with attributes in parentheses."""
    name, rest = re.match(r"\s*([\w.-]*)\s*(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr] # it matches
    if not is_known(name):
        return UnknownRuleError(text, [info.name for info in listed_rules()])
    if rest.startswith("(") and ")" not in rest:
        return RuleArgumentError(name, f"no ')' ends its attributes {rest!r:.60}", f"write '{name}{rest.strip()})'")
    inside = rest.strip(" :,")
    hint = f"write '{name}({inside})'" if re.fullmatch(r"\w+\s*=[^()]*", inside) else _example(name)
    return RuleArgumentError(name, f"{rest!r:.60} is not a list of attributes in parentheses", hint)


def _example(name: str) -> str:
    """Return an example of how a rule's attributes are written, with its first attribute."""
    values = {Kind.INTEGERS: "(0, 1)", Kind.WORD: "..."}
    first = next((f"{p.name}={values.get(p.kind, '1')}" for p in parameters_of(name)), None)
    return f"write {name!r}: it takes no attributes" if first is None else f"write '{name}({first})', for example"


def _attributes(rule: str, text: str) -> Iterator[tuple[str, AttributeValue]]:
    declared = {p.name: p for p in parameters_of(rule)}
    place = 0
    while text[place:].strip():
        found = _ATTRIBUTE.match(text, place)
        if found is None:
            raise RuleArgumentError(rule, f"{text[place:].strip()!r} is not an attribute", _example(rule))
        name, value = found["name"], found["value"].strip().strip("'\"")
        parameter = declared.get(name)
        is_left_out = value == "None" and parameter is not None and parameter.default is None
        yield name, None if is_left_out else value if parameter is None else parameter.read(rule, value)
        place = found.end()
