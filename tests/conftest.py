"""Which tests run, and with how many examples.

By default property tests have few examples, the same on every run, and the slow tests of ``slow_tests.txt`` are
skipped. ``--run-slow`` runs all tests with more examples; ``--hypothesis-profile=deep`` draws new ones.
"""

import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Packages and files that tests hand to others, and engines of other packages: no tests of ours.
collect_ignore = ["data", "conformance/engines"]
if find_spec("jax") is None:
    collect_ignore += ["stablehlo", "stablehlo_corpora"]

ALIKE = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=15, **ALIKE)
settings.register_profile("ci", max_examples=25, **ALIKE)
settings.register_profile("deep", max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
SLOW = {line for line in Path(__file__).with_name("slow_tests.txt").read_text().splitlines() if line[:1] != "#"}


def pytest_addoption(parser):
    parser.addoption("--run-slow", action="store_true", help="run slow tests too, and more examples of property tests")


def pytest_configure(config):
    """Choose the examples. Hear Ctrl-C, also where a shell that puts tests in the background has it ignored."""
    config.addinivalue_line("markers", "slow: takes more than a second; runs with --run-slow")
    if not config.getoption("hypothesis_profile", None):
        settings.load_profile("ci" if config.getoption("--run-slow") else "quick")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path):
    """Leave helpers and scripts without examples out: ``--doctest-modules`` would import all, and what they import."""
    is_helper = collection_path.suffix == ".py" and not collection_path.name.startswith(("test_", "conftest"))
    if is_helper and Path(__file__).parent in collection_path.parents and ">>>" not in collection_path.read_text():
        return True
    return None


def pytest_collection_modifyitems(config, items):
    """Mark the slow tests, and skip them unless they are asked for."""
    left_out = pytest.mark.skip(reason="slow: runs with --run-slow")
    for item in items:
        if item.nodeid in SLOW or item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.slow)
            if not config.getoption("--run-slow"):
                item.add_marker(left_out)


@pytest.fixture(autouse=True, scope="session")
def width_of_nobody():
    """Take away how wide the terminal is that the tests are run on: the command line would write that wide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)
        # Where readline is loaded it sets COLUMNS for processes that are started, behind the back of os.environ.
        os.unsetenv("COLUMNS")
        yield
