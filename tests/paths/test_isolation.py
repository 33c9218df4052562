"""Child processes: a time limit counts their work, so that a loaded machine gives the same answers."""

import time

import pytest
import working

from symbcast.core.isolation import ChildProcess, TimedOutError, load_nothing, processor_seconds


@pytest.fixture
def child():
    with ChildProcess(load_nothing) as process:
        yield process


def test_a_process_that_works_with_pauses_has_more_time_than_its_limit(child):
    if processor_seconds(1) is None:
        pytest.skip("this system does not say how long processes have worked")
    assert child.ask(working.with_pauses, 0.4, timeout=1) == "done"


@pytest.mark.parametrize(("function", "seconds"), [(time.sleep, 60), (working.with_pauses, 60)])
def test_a_process_is_given_up_when_it_does_nothing_or_has_worked_long_enough(child, function, seconds):
    with pytest.raises(TimedOutError, match="took more than"):
        child.ask(function, seconds, timeout=0.2)
    assert child.ask(working.with_pauses, 0, timeout=60) == "done"
