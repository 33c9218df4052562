"""The functions of `written/`, as people write them, traced and held against real runs at all sizes from 0 to 5.

Each is traced with the shapes that its annotations say, in a child process that may die or take too long, and compared
as in `numpy_survey.py`. Run as ``python tests/paths/user_functions.py [NAME...]``.
"""

import importlib
import inspect
import json
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from paths import numpy_survey

from symbcast.core.isolation import ChildProcess, DiedError, TimedOutError

MODULES = ("users", "functions", "loops", "idioms", "science")
SECONDS = 120


def functions():
    """The functions by name."""
    modules = [importlib.import_module(f"paths.written.{name}") for name in MODULES]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    }


def outcome(function):
    """What became of one function: its outcome, and the sizes at which it is wrong or the reason."""
    return row(function)[:2]


def row(function):
    """What became of one function, why, and the seconds of CPU that its trace took."""
    import symbcast as sb

    arguments = [numpy_survey.argument(text) for text in function.__annotations__.values()]
    start = time.process_time()
    report = sb.trace(function, *arguments, max_paths=40)
    report.verdict  # noqa: B018 - it is part of what the trace costs
    seconds = round(time.process_time() - start, 2)
    _, _, wrong = numpy_survey.compared(report, function, arguments)
    found = "wrong" if wrong else "right" if report.complete else "unknown"
    return found, wrong[0] if wrong else report.reason, seconds


def row_of(name):
    """What became of a function, by its name: run in a child process."""
    return row(functions()[name])


def main(names):
    counts = Counter()
    with ChildProcess() as child:
        for name in names or functions():
            try:
                found = child.ask(row_of, name, SECONDS)
            except DiedError as error:
                found = "killed", str(error)
            except TimedOutError:
                found = "no end", f"within {SECONDS} seconds"
            except Exception as error:
                found = "crash", repr(error)
            counts[found[0]] += 1
            print(json.dumps([name, *found]), flush=True)
    print(dict(counts))


if __name__ == "__main__":
    from paths import user_functions  # a child process finds its functions by this name

    user_functions.main(sys.argv[1:])
