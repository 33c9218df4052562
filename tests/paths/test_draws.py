"""Draws of random generators: traced, and held against NumPy at all sizes to 5, in a process that may be killed."""

import pytest
from paths.draws_cases import ARGUMENTS, cases, function_of
from paths.held import held

import symbcast as sb
from symbcast.core.isolation import ChildProcess

OPEN = {"np.frombuffer(r.bytes(n), np.uint8)", "x[r.integers(0, 5, size=len(y))]", "x[r.poisson(3.0, size=len(y))]"}
"""What is not known for all sizes: as many bytes as a number says, and indices that may lie beyond an axis."""


def compared(job):
    """What became of some calls: those that are wrong, and those that are not known for all sizes. Run in a child."""
    found = []
    for text, maker, before in job:
        function = function_of(text, maker, before)
        report = sb.trace(function, *ARGUMENTS)
        result = held(report, function, *ARGUMENTS, sizes=range(6), most=36)
        found.append((text, maker, before, len(result.wrong), report.complete))
    return found


@pytest.fixture(scope="module")
def child():
    with ChildProcess() as found:
        yield found


def test_draws_are_as_numpy_has_them(child):
    jobs = [(text, maker, False) for text, maker in cases()]
    found = child.ask(compared, [*jobs, *((text, maker, True) for text, maker, _ in jobs[::8])])
    assert len(found) > 300
    assert [f for f in found if f[3]] == []
    assert {f[0] for f in found if not f[4]} == OPEN


def check_random_state(x):
    from sklearn.utils import check_random_state as checked

    return checked(0).normal(size=x.shape) + checked(None).uniform(size=len(x))[:, None]


def randomized_svd(x):
    from sklearn.utils.extmath import randomized_svd as svd

    return svd(x, 2, random_state=0)


def distribution(x):
    from scipy import stats

    return stats.norm.rvs(size=x.shape, random_state=0) + stats.gamma(2).rvs(size=(len(x), 1))


def nested(x):
    return BOX[0].normal(size=x.shape) + x


BOX = []


def traced_and_held(name):
    """Whether a trace is right at all sizes to 5. Run in a child."""
    import numpy as np

    BOX[:] = [np.random.default_rng(0)]
    function = globals()[name]
    report = sb.trace(function, "N, M")
    return held(report, function, "N, M", sizes=range(6), most=36).wrong, report.complete, report.reason


NEEDED = {"check_random_state": ["sklearn"], "randomized_svd": ["sklearn"], "distribution": ["scipy"], "nested": []}


@pytest.mark.parametrize("name", NEEDED)
def test_packages_that_draw_are_right_or_say_what_is_not_known(child, name):
    for package in NEEDED[name]:
        pytest.importorskip(package)
    wrong, is_complete, reason = child.ask(traced_and_held, name)
    assert wrong == []
    assert is_complete or reason
