"""A survey of functions that were never tried: those of packages that are named before anything of them is run.

The functions are chosen by a rule. Of each package: its modules in the order of their names, without tests, command
lines and plots; of each module, at most four functions that `survey.candidates` admits; at most sixteen of a package,
until there are sixty. Each is traced in a child process with another name for each axis, and compared with itself at
sizes up to 5.

Run as ``python tests/paths/blind_survey.py transforms3d mir_eval filterpy``, with installed packages that the tests do
not use otherwise. A set is spent once its failures were read: take other packages to measure what was mended.
"""

import contextlib
import importlib
import io
import pkgutil
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from paths.survey import candidates, row, shapes

from symbcast.batch.endings import DiedError, TimedOutError
from symbcast.batch.isolation import Child

OF_MODULE, OF_PACKAGE, ALL = 4, 16, 60
SECONDS = 60
LEFT_OUT = ("test", "plot", "cli", "__main__", "example", "conftest", "display", "io", "visual")


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def modules(package):
    """The names of the modules of a package, in order."""
    try:
        found = importlib.import_module(package)
    except ImportError:  # it needs something that is not installed
        return []
    names = [package]
    places = getattr(found, "__path__", [])
    names += [i.name for i in pkgutil.walk_packages(places, f"{package}.", onerror=lambda _: None)]
    return sorted(n for n in names if not any(w in p for p in n.split(".")[1:] for w in LEFT_OUT))


def names_of(package):
    """The modules, names, counts and ranks of a package's functions that the rule takes. Run in a child."""
    chosen, seen = [], set()
    with quiet():
        for module in modules(package):
            of_module = 0
            try:
                for name, function, count, rank in candidates(module):
                    if id(function) in seen or of_module == OF_MODULE:
                        continue
                    seen.add(id(function))
                    of_module += 1
                    chosen.append((module, name, count, rank))
            except Exception:  # a module whose other requirements are not installed
                continue
            if len(chosen) >= OF_PACKAGE:
                break
    return chosen[:OF_PACKAGE]


def traced(job):
    """What became of one function. Run in a child."""
    module, name, count, rank = job
    with quiet():
        function = getattr(importlib.import_module(module), name)
        return row(f"{module}.{name}", function, shapes(count, rank), sizes=range(6))


def outcome(child, job):
    try:
        return child.ask(traced, job, SECONDS)
    except (DiedError, TimedOutError) as error:
        return {"name": ".".join(job[:2]), "outcome": "incomplete", "reason": f"{type(error).__name__}: {error}"}


def main(packages):
    counts, number = Counter(), 0
    with Child() as child:
        jobs = [job for package in packages for job in child.ask(names_of, package)]
        for job in jobs[:ALL]:
            found = outcome(child, job)
            number += 1
            counts[found["outcome"]] += 1
            said = found.get("wrong") or found.get("reason", "")
            print(number, found["outcome"], found["name"], f"{found.get('ms')} ms", said, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    from paths import blind_survey  # a child process finds its functions by this name

    blind_survey.main(sys.argv[1:])
