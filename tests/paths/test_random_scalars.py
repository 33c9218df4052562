"""Random functions with loops, scalars and branches of data: no trace is wrong. `random_scalars.py` draws more."""

import pytest
from paths.random_scalars import SECONDS, checked

from symbcast.core.isolation import ChildProcess

SEEDS = range(12)


@pytest.fixture(scope="module")
def child():
    with ChildProcess() as found:
        yield found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_function_is_never_traced_wrongly(child, seed):
    _, _, right, wrong = child.ask(checked, seed, SECONDS)
    assert not wrong
    assert right
