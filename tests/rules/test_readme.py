"""The README beside the rules says what there is: a section for each rule, with its names, attributes and source.

Its example is run as a doctest.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import symbcast as sb
from symbcast.core import rules
from symbcast.core.rules import Law, Placement
from symbcast.core.rules.registry import _registry

README = Path(rules.__file__).parent / "README.md"
TEXT = README.read_text("utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^###|\Z)", TEXT, re.M | re.S))


RULES = [rule for rule in sb.rules() if rule.name in SECTIONS]


def test_each_rule_has_its_section_or_says_itself_what_it_means():
    assert {*SECTIONS} <= {rule.name for rule in sb.rules()}
    assert all(_registry.find(rule.name).__doc__ for rule in sb.rules() if rule not in RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_section_says_what_the_rule_declares(rule):
    section = SECTIONS[rule.name]
    assert "\nSource: " in section
    if not rule.variadic:
        assert section.startswith(f"\nOperands: {', '.join(rule.operands)}.")
    for alias in rule.aliases:
        assert f"`{alias}`" in section
    for parameter in rule.parameters:
        assert re.search(rf"`{parameter.name}[`=]", section), parameter.name
        for word in parameter.choices:
            assert word == parameter.default or f'`{parameter.name}="{word}"`' in section


def test_the_table_at_a_glance_names_every_rule():
    table = TEXT.partition("## At a glance")[2].partition("\n## ")[0]
    for rule in RULES:
        for name in (rule.name, *rule.aliases, *(f"{p.name}=" for p in rule.parameters)):
            assert f"`{name}`" in table, name


def test_the_tables_name_placements_and_laws_that_authors_can_import():
    named = set(re.findall(r"^\| `(\w+)\(", TEXT, re.M))
    public = (getattr(rules, name) for name in rules.__all__)
    classes = {c.__name__ for c in public if isinstance(c, type) and issubclass(c, (Placement, Law))}
    assert named == classes - {"Placement", "Law"}


def test_the_folder_can_be_imported_by_name():
    """In 0.1.0 the function `rules` stood in the way of a folder of that name."""
    import symbcast.core.rules.numpy as family

    assert family.Numpy.name == "numpy"
    assert callable(sb.rules)
    for name in sb.__all__:
        assert not (Path(sb.__file__).parent / f"{name}.py").exists() or not callable(getattr(sb, name))
