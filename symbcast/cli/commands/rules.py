"""``symbcast rules`` lists the rules."""

from __future__ import annotations

from typing import Any

from symbcast.cli.command import command
from symbcast.cli.terminal import Exit, Format, print_error, print_json, print_wrapped
from symbcast.core.rules import REQUIRED, RuleInfo
from symbcast.core.rules.declaration import Alias
from symbcast.core.rules.registry import listed_rules, plugin_problems

EPILOGUE = """Example: symbcast rules --format json

Exit status of rules: 0, 2 wrong usage."""
WORDS = dict.fromkeys(["list", "ls"], "rules for the rules, or symbcast --help for the commands")


@command(epilogue=EPILOGUE, group="Shapes", words=WORDS)
def rules(*, format: Format = "text") -> int:
    """List the rules, including those of installed packages, with their attributes.

    Parameters
    ----------
    format
        Text to read, or JSON.
    """
    for problem in plugin_problems():
        print_error(str(problem))
    listed = listed_rules()
    if format == "json":
        print_json([_rule_data(rule) for rule in listed])
    else:
        print_wrapped("\n\n".join("\n".join(_rule_lines(rule)) for rule in listed), indent=17)
    return Exit.ALWAYS


def _attribute_texts(rule: RuleInfo) -> list[str]:
    others = {p.name: f" (or {', '.join(map(repr, p.choices[1:]))})" if p.choices else "" for p in rule.parameters}
    return [
        f"{p.name}= (required)" if p.default is REQUIRED else f"{p.name}={p.default!r}{others[p.name]}"
        for p in rule.parameters
    ]


def _rule_lines(rule: RuleInfo) -> list[str]:
    lines = [rule.name, f"    {rule.summary}"]
    others = [f"{', '.join(names)}{text}" for text, names in _meanings(rule).items()]
    lines += [
        f"    {label:<11}  {other}" for label, other in zip(["also called", *[""] * len(others)], others, strict=False)
    ]
    lines.append(f"    attributes   {', '.join(_attribute_texts(rule)) or 'none'}")
    lines.append(f"    operands     {', '.join(rule.operands)}")
    lines.append(f"    document     {rule.document}")
    return lines


def _meanings(rule: RuleInfo) -> dict[str, list[str]]:
    """Return a rule's other names, grouped by remark: where its law is documented and how many shapes it takes."""
    names_by_remark: dict[str, list[str]] = {}
    for alias in rule.meanings:
        count = f", of {_count(alias)}" if rule.variadic else ""
        names_by_remark.setdefault(f": {alias.document}{count}" if alias.document else "", []).append(alias.name)
    return names_by_remark


def _count(alias: Alias) -> str:
    if alias.most is not None:
        return f"{alias.least} shapes" if alias.least == alias.most else f"{alias.least} to {alias.most} shapes"
    return {0: "any number of shapes", 1: "one shape or more"}.get(alias.least, f"{alias.least} or more")


def _rule_data(rule: RuleInfo) -> dict[str, Any]:
    attributes = [
        {
            "name": p.name,
            "required": p.default is REQUIRED,
            "default": None if p.default is REQUIRED else p.default,
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
