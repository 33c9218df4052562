"""The functions of `programs/`, as people write them, traced and held against real runs at all sizes from 0 to 5.

Each is traced with the shapes that its annotations say, in a child process, as in `numpy_survey.py`. Run as
``python tests/paths/user_functions.py [NAME...]``; a process that dies is named.
"""

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from paths import numpy_survey

MODULES = ("users", "functions")


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
    import symbcast as sb

    arguments = [numpy_survey.argument(text) for text in function.__annotations__.values()]
    report = sb.trace(function, *arguments, max_paths=40)
    _, _, wrong = numpy_survey.compared(report, function, arguments)
    return ("wrong", wrong[0]) if wrong else ("right" if report.complete else "unknown", report.reason)


def main(names):
    if "--child" in names:
        for name in names[1:]:
            print(json.dumps([name, *outcome(functions()[name])]), flush=True)
        return
    left = names or list(functions())
    while left:
        run = subprocess.run([sys.executable, __file__, "--child", *left], capture_output=True, text=True, check=False)
        done = [line for line in run.stdout.splitlines() if line.startswith('["')]
        print(*done, sep="\n", flush=True)
        left = left[len(done) :]
        if left:
            print(json.dumps([left.pop(0), "killed", run.stderr[-300:]]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
