"""Rules as they are written: ``pdpd(axis=1)``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symbcast.broadcasting import AttributeValue, Rule, find_rule
from symbcast.broadcasting.registry import parameters_of
from symbcast.errors import RuleArgumentError, ShapeTypeError

_WRITTEN = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\((?P<attributes>.*)\))?\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\([^()]*\)|\[[^\[\]]*\]|[^,()\[\]]+)\s*(?:,|$)")


def read_rule(rule: str | Rule) -> Rule:
    """Return a rule that is given as text, its attributes in parentheses behind its name, or as it is.

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
        return find_rule(rule)
    name = written["name"]
    return find_rule(name, dict(_attributes(name, written["attributes"] or "")))


def _attributes(rule: str, text: str) -> Iterator[tuple[str, AttributeValue]]:
    declared = {p.name: p for p in parameters_of(rule)}
    place = 0
    while text[place:].strip():
        found = _ATTRIBUTE.match(text, place)
        if found is None:
            raise RuleArgumentError(
                rule, f"{text[place:].strip()!r} is no attribute", f"write {rule}(axis=1) or the like"
            )
        name, value = found["name"], found["value"].strip().strip("'\"")
        parameter = declared.get(name)
        is_left_out = value == "None" and parameter is not None and parameter.default is None
        yield name, None if is_left_out else value if parameter is None else parameter.read(rule, value)
        place = found.end()
