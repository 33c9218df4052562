"""The ledger of the solver's modules: its switches, its questions, and the table in the README."""

from __future__ import annotations

import subprocess
import sys

import pytest
from solver import ledger
from solver.ledger_questions import questions

QUESTIONS = {question.name: question for question in questions()}


def test_each_module_can_be_switched_off():
    assert set(ledger.SHORTCUTS) <= set(ledger.modules())


def test_the_readme_lists_each_module_and_names_questions_that_exist():
    rows = ledger.read_rows((ledger.FOLDER / "README.md").read_text())
    assert [module for module, _ in rows] == ledger.modules()
    assert {question for _, question in rows} <= set(QUESTIONS)


def test_each_module_is_needed_for_its_question():
    """Without it the answer changes, or takes three times the units."""
    done = subprocess.run([sys.executable, ledger.__file__, "--check"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("not needed for their questions: none\n", 0)


def test_the_questions_have_names_of_their_own():
    assert len(QUESTIONS) == len(questions())


@pytest.mark.parametrize("name", ["names", "one divisor", "orders 1"])
def test_a_question_costs_the_same_each_time(name):
    first, second = (ledger.measured(QUESTIONS[name]) for _ in range(2))
    assert (first.answer, first.units) == (second.answer, second.units)
