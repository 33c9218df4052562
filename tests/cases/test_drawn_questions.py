"""A sample of the questions of `drawn_questions`: their operands are joins, products and quotients by sizes."""

import drawn_questions
import pytest

import symbcast as sb

COUNTS = {"cases": 30, "expands": 20, "solve": 40, "compare": 8, "repairs": 40}


@pytest.mark.parametrize("kind", COUNTS)
def test_drawn_questions(kind):
    wrong, left_open = drawn_questions.examined(kind, COUNTS[kind], seed=0)
    assert not wrong
    assert left_open * 20 <= COUNTS[kind]


@pytest.mark.parametrize("kind", COUNTS)
def test_more_drawn_questions(kind):
    wrong, left_open = drawn_questions.examined(kind, 20 * COUNTS[kind], seed=1)
    assert not wrong
    assert left_open * 20 <= 20 * COUNTS[kind]


@pytest.mark.parametrize("second", ["broadcast(min(N, 1), M**2)", "broadcast(min(N, 1), 1, M**2)", "broadcast(N, M*M)"])
def test_an_operand_that_is_a_join_is_stretched_where_all_its_members_are_1(second):
    for case in sb.broadcast("M, 2", f"({second},)").cases():
        if case.has({"M": 1, "N": 1}):
            assert case.stretched[1][1]


def test_a_factor_is_1_where_the_product_and_the_other_factor_are():
    case = sb.broadcast("broadcast(N, M*K)", "K").cases().find(N=0, M=1, K=1)
    assert (str(case.shape), case.stretched) == ("(N,)", ((False,), (True,)))
