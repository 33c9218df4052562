"""``symbcast rules`` lists the rules."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.cli.output import Format, print_json, print_text
from symbcast.cli.statuses import Exit

if TYPE_CHECKING:
    from symbcast.broadcasting import Parameter, RuleInfo


def rules(*, format: Format = "text") -> int:
    """List the rules with their attributes, those of installed packages too.

    Parameters
    ----------
    format
        Text to read, or JSON.
    """
    from symbcast.broadcasting.registry import listed_rules, plugin_problems

    for problem in plugin_problems():
        print_text(f"symbcast: {problem}", sys.stderr)
    found = listed_rules()
    if format == "json":
        print_json([_rule_data(rule) for rule in found])
    else:
        print_text("\n\n".join("\n".join(_rule_lines(rule)) for rule in found))
    return Exit.ALWAYS


def _attribute_texts(rule: RuleInfo) -> list[str]:
    return [
        f"{p.name}= (required)" if _is_required(p) else f"{p.name}={p.default!r}{_choices(p.choices)}"
        for p in rule.parameters
    ]


def _is_required(parameter: Parameter) -> bool:
    from symbcast.broadcasting import REQUIRED

    return parameter.default is REQUIRED


def _choices(words: Sequence[str]) -> str:
    return f" (or {', '.join(map(repr, words[1:]))})" if words else ""


def _rule_lines(rule: RuleInfo) -> list[str]:
    lines = [rule.name, f"    {rule.summary}"]
    if rule.aliases:
        lines.append(f"    also called  {', '.join(rule.aliases)}")
    lines.append(f"    attributes   {', '.join(_attribute_texts(rule)) or 'none'}")
    lines.append(f"    operands     {', '.join(rule.operands)}")
    lines.append(f"    document     {rule.document}")
    return lines


def _rule_data(rule: RuleInfo) -> dict[str, Any]:
    attributes = [
        {
            "name": p.name,
            "required": _is_required(p),
            "default": None if _is_required(p) else p.default,
            "takes": p.kind.value,
            "choices": list(p.choices),
            "summary": p.summary,
        }
        for p in rule.parameters
    ]
    return {
        "name": rule.name,
        "aliases": list(rule.aliases),
        "family": rule.family,
        "operands": list(rule.operands),
        "attributes": attributes,
        "summary": rule.summary,
        "document": rule.document,
    }
