"""Hypothesis profiles: quick and alike on every run; deep, drawn anew, with ``--hypothesis-profile=deep``."""

import os
import signal
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

# Packages and files that tests hand to others: no tests of ours.
collect_ignore = ["data"]
if find_spec("torch") is None:  # scripts and helpers that load it as they are imported
    collect_ignore += [
        "exported_models.py",
        "exported_others.py",
        "graph_runs.py",
        "random_modules.py",
        "exported/record_guards.py",
        "exported/run_models.py",
    ]

settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("ci")


def pytest_configure():
    """Hear Ctrl-C, and let what is started here hear it: a shell that puts tests in the background has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def width_of_nobody():
    """Take away how wide the terminal is that the tests are run on: the command line would write that wide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)
        # Where readline is loaded it sets COLUMNS for processes that are started, behind the back of os.environ.
        os.unsetenv("COLUMNS")
        yield
