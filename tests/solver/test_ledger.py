"""The ledger of the solver's modules: its switches and its questions."""

from __future__ import annotations

import re

import pytest
from solver import ledger
from solver.ledger_questions import questions

QUESTIONS = {question.name: question for question in questions()}


def test_each_module_can_be_switched_off():
    assert set(ledger.SHORTCUTS) <= set(ledger.modules())


def test_the_readme_lists_each_module_and_names_questions_that_exist():
    text = (ledger.FOLDER / "README.md").read_text()
    section = text.split("## The ledger\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \| .+ \|$", section, re.MULTILINE)
    unmeasured = re.findall("`(.+?)`", section.split("Not measured yet:")[1])
    assert sorted([*(module for module, _ in rows), *unmeasured]) == ledger.modules()
    assert {question for _, question in rows} <= set(QUESTIONS)


def test_the_questions_have_names_of_their_own():
    assert len(QUESTIONS) == len(questions())


@pytest.mark.parametrize("name", ["names", "one divisor", "orders 1"])
def test_a_question_costs_the_same_each_time(name):
    first, second = (ledger.measured(QUESTIONS[name]) for _ in range(2))
    assert (first.answer, first.units) == (second.answer, second.units)
