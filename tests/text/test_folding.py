"""Long conditions whose parts differ in a number of their names: written once, and read back as the same."""

import random
import re

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, any_of, clauses
from symbcast.core.text import parse_formula
from symbcast.core.text.folding import FOLDED_FROM
from symbcast.core.text.notation import formula_text

PARTS = (
    "batch == {}k{}",
    "{}k{} == {}v{}",
    "{}k{} + seq == total or total == 1",
    "compatible(batch, {}k{}, bc)",
    "{}k{} <= 4096",
    "'layer {}.k{}' == batch",
    "x.{}.{}.k == seq",
    "?{}a{} >= 2",
    "{}k{} % 8 == 0 and {}v{} >= 2 or seq == 1",
)


def drawn(seed):
    chance = random.Random(seed)
    prefix = chance.choice(("p", "h_", "l0"))
    texts = []
    for part in chance.sample(PARTS, chance.randint(1, 4)):
        numbers = chance.choice((range(12), range(3, 30, 3), [0, 1, 2, 5, 6, 9, 11, 12], range(2)))
        texts += [re.sub(r"{}(?=[kv.a])", prefix, part).replace("{}", str(n)) for n in numbers]
    texts += ["batch == seq", "k007 == 7"][: chance.randint(0, 2)]
    chance.shuffle(texts)
    return chance.choice((all_of, any_of))(map(parse_formula, texts))


@pytest.mark.parametrize("seed", range(60))
def test_a_folded_condition_reads_back_with_the_same_parts(seed):
    formula = drawn(seed)
    text = formula_text(formula)
    read = parse_formula(text)
    assert type(read) is type(formula)
    assert len(read.parts) == len(formula.parts)
    assert {sides(p) for p in read.parts} == {sides(p) for p in formula.parts}


def sides(formula):
    """Return the text of a formula; of an equality, which chains may turn around, those of both sides."""
    is_equality = getattr(formula, "operator", "") == "=="
    return frozenset(map(str, (formula.left, formula.right))) if is_equality else formula_text(formula)


def test_short_conditions_are_written_in_full():
    text = " and ".join(f"batch == k{n}" for n in range(9))
    assert len(text) < FOLDED_FROM
    assert str(sb.Condition(text)) == text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("all(a{i} == b for i in 0..2)", "a0 == b and a1 == b and a2 == b"),
        ("any(a{n} == b or c for n in (1, 3))", None),
        ("any(a{n} == b for n in (1, 3))", "a1 == b or a3 == b"),
        ("not all(a{i} == b for i in 0..1)", "a0 != b or a1 != b"),
        (
            "c == 1 or all(a{i} == b and (b == 1 or x{i}y < 3) for i in 8..8)",
            "c == 1 or a8 == b and (b == 1 or x8y < 3)",
        ),
        (
            "all(any(a{i}_{j} == 1 for j in 0..1) for i in 0..1)",
            "(a0_0 == 1 or a0_1 == 1) and (a1_0 == 1 or a1_1 == 1)",
        ),
        ("all('a {i}' == b for i in 0..1)", "'a 0' == b and 'a 1' == b"),
        ("a == b == c", "a == b and a == c"),
        ("all(a{i} == b for i in 0..999999999)", None),
        ("all(a == b for i in 0..3)", None),
        ("all(a{i} == b for i in 3..0)", None),
        ("all(a{i} == b for i in 0..2", None),
        ("all(all(a{i}{j}{k} == b for i in 0..999) for j in 0..999)", None),
    ],
)
def test_what_folded_texts_stand_for(text, same):
    if same is None:
        with pytest.raises(sb.ShapeSyntaxError):
            sb.Condition(text)
        return
    condition = sb.Condition(text)
    assert condition.equivalent(same)
    assert set(clauses(condition.formula)) == set(clauses(sb.Condition(same).formula))


def test_a_number_that_is_also_an_axis_is_folded_by_its_place():
    text = " and ".join(f"past_{n}_key_dim_0 == batch and past_{n}_key_dim_2 + seq == total" for n in range(8))
    folded = "all(past_{i}_key_dim_0 == batch and past_{i}_key_dim_2 + seq == total for i in 0..7)"
    assert str(sb.Condition(text)) == folded
