"""Rules that a program defines: what `symbcast.rule` takes, and what it refuses."""

from __future__ import annotations

from itertools import product

import pytest

import symbcast as sb
from symbcast.cli import Exit, run
from symbcast.core.rules import (
    AtRight,
    Emission,
    Equal,
    FromAxis,
    Join,
    Kind,
    Onto,
    OntoRight,
    Parameter,
    SameRank,
    find_rule,
)
from symbcast.core.rules.broadcast_rule import JoinAtMost
from symbcast.core.rules.registry import forget

SAID = {"family": "tests", "summary": "as numpy", "document": "a test", "law": Join()}


def defined(name="of-a-test", **said):
    """Return a class of a rule, as a cell of a notebook would define it."""
    return type("Defined", (sb.Rule,), {"name": name, **SAID, **said})


@pytest.fixture
def add():
    """`symbcast.rule`, undone after the test."""
    added = []

    def made(definition):
        added.append(definition)
        return sb.rule(definition)

    yield made
    for definition in added:
        forget(definition)


def test_a_rule_is_listed_last_and_answers(add):
    add(defined(aliases=("of-tests",)))
    assert [rule.name for rule in sb.rules()][-1] == "of-a-test"
    assert sb.broadcast("N, 3", "M, 1", rule="of-tests").shape == sb.broadcast("N, 3", "M, 1").shape
    with pytest.raises(sb.UnknownRuleError, match="did you mean 'of-a-test'"):
        sb.broadcast("N", "M", rule="of-a-tests")


def test_a_join_at_the_right_is_held_on_masks(add):
    add(defined())
    join = find_rule("of-a-test")
    assert join.is_join([("N",), ("M",)])
    assert not find_rule("paddle", {"min_rank": 1}).is_join([(), (2,)])
    add(defined("with-emit", emit=lambda self, shapes: Emission([], tuple(shapes[0]))))
    assert not find_rule("with-emit").is_join([("N",), ("M",)])
    assert sb.broadcast("N", "M", rule="with-emit").verdict is sb.Verdict.ALWAYS


def test_the_same_class_may_be_defined_again(add):
    add(defined(placement=AtRight(least=2)))
    assert sb.broadcast("2", "2", rule="of-a-test").verdict is sb.Verdict.NEVER
    add(defined(placement=AtRight()))
    assert sb.broadcast("2", "2", rule="of-a-test").verdict is sb.Verdict.ALWAYS
    assert [rule.name for rule in sb.rules()].count("of-a-test") == 1


def test_a_fixed_axis_is_no_attribute_that_a_fix_could_change(add):
    add(defined(placement=FromAxis(0)))
    answer = sb.broadcast("N, M, 3", "M", rule="of-a-test")
    assert "axis=" not in answer.explain()
    assert sb.broadcast("2, 3", "3", rule="of-a-test").verdict is sb.Verdict.NEVER
    assert "axis=" not in sb.broadcast("2, 3", "3", rule="of-a-test").explain()


WRONG = [
    ({"summary": None}, "it has no summary"),
    ({"law": sb.Rule.law}, "it has neither a law nor an emit"),
    ({"name": "numpy"}, "'numpy' is a rule of symbcast itself"),
    ({"aliases": ("broadcast-to",)}, "'broadcast-to' is a rule of symbcast itself"),
    ({"parameters": (Parameter("assume", 0),)}, "no attribute can be called 'assume'"),
    ({"parameters": (Parameter("emit", 0),)}, "no attribute can be called 'emit'"),
    ({"parameters": (Parameter("two words", 0),)}, "no attribute can be called 'two words'"),
    ({"parameters": (Parameter("side", "up", ("left", "right"), Kind.WORD),)}, "side='up' is not offered"),
    ({"parameters": (Parameter("dims", None),), "aliases": "abc"}, "aliases are not a tuple of names"),
    ({"parameters": [("side", 0)]}, "parameters are not a tuple of Parameter"),
]


@pytest.mark.parametrize(("said", "problem"), WRONG, ids=[problem for _, problem in WRONG])
def test_a_definition_is_refused_whole(said, problem):
    before = sb.rules()
    with pytest.raises(sb.RuleDefinitionError, match=problem):
        sb.rule(defined(**said))
    assert sb.rules() == before


def test_what_is_no_rule_is_refused():
    with pytest.raises(sb.RuleDefinitionError, match="not a class derived from"):
        sb.rule(int)


def test_the_name_of_another_modules_rule_is_refused(add):
    add(defined())
    other = defined()
    other.__module__ = "elsewhere"
    with pytest.raises(sb.RuleDefinitionError, match="is a rule of"):
        sb.rule(other)


def test_an_option_of_two_kinds_is_read_by_the_rule_that_is_asked(add, capsys):
    add(defined(parameters=(Parameter("axis", "left", ("left", "right"), Kind.WORD, "the side"),)))
    assert run(["check", "2, 3", "3", "--rule", "of-a-test", "--axis", "right"]) == Exit.ALWAYS
    assert "of-a-test(axis='right')" in capsys.readouterr().out
    assert run(["check", "2, 3", "2", "--rule", "pdpd", "--axis", "0"]) == Exit.ALWAYS
    assert run(["check", "2, 3", "2", "--rule", "pdpd", "--axis", "left"]) == Exit.USAGE
    assert "--axis left: write it as --axis 0" in capsys.readouterr().err
    assert run(["check", "2, 3", "2", "--rule", "of-a-test", "--axis", "up"]) == Exit.USAGE
    assert "write axis='left' or 'right'" in capsys.readouterr().err


PLACED = [
    *((AtRight(), law) for law in (Join(), Equal(), JoinAtMost())),
    *((placement, law) for placement in (SameRank(), OntoRight()) for law in (Join(), Equal(), Onto(), JoinAtMost())),
    *((FromAxis(axis), law) for axis in (0, 1) for law in (Join(), Equal(), Onto(), JoinAtMost())),
]


@pytest.mark.parametrize(("placement", "law"), PLACED, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize(
    "shapes", [("3, 4", "*b, 4"), ("*b, 4", "3, 4"), ("*b", "*c, 3"), ("*b, 3", "3"), ("1, 3", "*b, 3")]
)
def test_an_answer_at_unknown_rank_is_that_at_each_rank(add, placement, law, shapes):
    """`Equal` took an axis that an operand lacks for one of size 1: by `AtRight`, ``3, 4`` beside ``4`` was refused."""
    add(defined(placement=placement, law=law))
    try:
        guard = sb.broadcast(*shapes, rule="of-a-test").guard()
    except sb.RuleArgumentError:
        return  # it takes only known ranks
    axes = [axes for rank in range(3) for axes in product((1, 3, 4), repeat=rank)]
    for values in product(axes, repeat=len(guard.parameters)):
        sizes = dict(zip(guard.parameters, values, strict=True))
        known = [tuple(n for part in shape.split(", ") for n in axes_of(part, sizes)) for shape in shapes]
        assert guard(**sizes) is (sb.broadcast(*known, rule="of-a-test").verdict is sb.Verdict.ALWAYS), sizes


def axes_of(part, sizes):
    return sizes[part[1:]] if part.startswith("*") else (int(part),)
