"""The ledger of the solver's modules: its switches, how it measures, and the table in the README."""

from __future__ import annotations

import subprocess
import sys

import pytest
from solver import ledger
from solver.corpus import questions

QUESTIONS = {question.name: question for question in questions()}
ROWS = ledger.read_rows((ledger.FOLDER / "README.md").read_text())


def test_each_module_can_be_switched_off():
    assert set(ledger.SHORTCUTS) <= set(ledger.modules())


def test_the_readme_lists_each_module_and_names_questions_of_the_corpus():
    assert [module for module, _ in ROWS] == ledger.modules()
    assert {question for _, question in ROWS if question} <= set(QUESTIONS)


def test_an_answer_changes_without_each_module_that_is_said_to_change_one():
    """In a process of its own, which forks: other tests load libraries whose threads no fork may copy."""
    run = subprocess.run(
        [sys.executable, ledger.__file__, "--stated", "5"], capture_output=True, text=True, check=False
    )
    assert (run.stdout.strip(), run.stderr) == ("5 rows; idle: none", "")


@pytest.mark.parametrize("name", ["MLIR", "exported qwen2", "cvc5 regress1/nl/rewriting-sums.smt2"])
def test_a_question_costs_the_same_each_time(name):
    question = next(q for n, q in QUESTIONS.items() if n.startswith(name))
    first, second = (ledger.measured(question) for _ in range(2))
    assert (first.answer, first.units) == (second.answer, second.units)


def test_the_shortcuts_that_answer_a_question_act_in_it():
    with ledger.noted_acts() as acting:
        ledger.measured(next(q for n, q in QUESTIONS.items() if n.startswith("cvc5 regress1/nl/rewriting-sums")))
    assert "f4_products/refutation:elimination" in acting
    assert "simplification/factoring" not in acting
