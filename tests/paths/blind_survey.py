"""A survey of functions that were never tried: those of packages that are named before anything of them is run.

The functions are chosen by a rule. Of each package: its modules in the order of their names, without tests, command
lines and plots; of each module, at most four functions that `survey.candidates` admits; at most six of a package,
until there are sixty. Each is traced in a child process with another name for each axis, and compared with itself at
sizes up to 5. Modules that cannot be imported are printed with the reason.

Run as ``python tests/paths/blind_survey.py transforms3d mir_eval filterpy``, with installed packages that the tests do
not use otherwise; a number among them replaces the sixty. A set is spent once its failures were read: take other
packages to measure what was mended.
"""

import contextlib
import importlib
import io
import pkgutil
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import numpy as np
from paths.survey import candidates, row, shapes

from symbcast.core.isolation import ChildProcess, DiedError, TimedOutError

OF_MODULE, OF_PACKAGE, ALL = 4, 6, 60
SECONDS = 60
LEFT_OUT = {"test", "tests", "testing", "plot", "plots", "plotting", "cli", "main", "example", "examples", "conftest"}
LEFT_OUT |= {"display", "io", "visual", "visualization"}


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def modules(package):
    """The names of the modules of a package, in order; why some cannot be looked into, by name. Run in a child."""
    names, failed = [package], {}

    def on_error(name):
        failed[name] = reason(sys.exception())

    with quiet():
        try:
            places = getattr(importlib.import_module(package), "__path__", [])
            names += [i.name for i in pkgutil.walk_packages(places, f"{package}.", onerror=on_error)]
        except Exception as error:  # it needs something that is not installed
            return [], {package: reason(error)}
    return sorted(n for n in names if LEFT_OUT.isdisjoint(n.replace("_", ".").split(".")[1:])), failed


def reason(error):
    return f"{type(error).__name__}: {error}"


def names_of(module):
    """The names, counts and ranks of the functions of a module that are candidates; why it fails. Run in a child."""
    found = []
    with quiet():
        try:
            for name, function, count, rank in candidates(module):
                found.append((function.__module__, function.__qualname__, name, count, rank))
                if len(found) == OF_PACKAGE:
                    break
        except Exception as error:  # such as one whose other requirements are not installed
            return found, reason(error)
    return found, ""


def traced(job):
    """What became of one function. Run in a child."""
    module, name, count, rank = job
    with quiet():
        function = getattr(importlib.import_module(module), name)
        return row(f"{module}.{name}", function, shapes(count, rank), sizes=range(6))


def asked(child, function, job, default, seconds=SECONDS):
    """The answer of a child process and no reason; or the default, and why there is no answer."""
    try:
        return child.ask(function, job, seconds), ""
    except (DiedError, TimedOutError) as error:
        return default, reason(error)


def outcome(child, job):
    found, why = asked(child, traced, job, {"name": ".".join(job[:2]), "outcome": "incomplete"})
    return {"reason": why, **found}


def chosen(child, package):
    """The jobs of a package. What cannot be imported is printed."""
    jobs, seen = [], set()
    (names, failed), why = asked(child, modules, package, ([], {}), 10 * SECONDS)  # some compile when imported
    for module in names:
        (found, failed[module]), died = asked(child, names_of, module, ([], ""))
        failed[module] = failed[module] or died
        fresh = [f for f in found if f[:2] not in seen][:OF_MODULE]
        seen.update(f[:2] for f in fresh)
        jobs += [(module, name, count, rank) for _, _, name, count, rank in fresh]
        if len(jobs) >= OF_PACKAGE:
            break
    for name, text in {package: why, **failed}.items():
        if text:
            print("not tried", name, text[:160], flush=True)
    print(len(jobs[:OF_PACKAGE]), "of", package, flush=True)
    return jobs[:OF_PACKAGE]


def main(given):
    number = next((int(g) for g in given if g.isdecimal()), ALL)
    counts = Counter()
    with ChildProcess() as child:
        jobs = [job for g in given if not g.isdecimal() for job in chosen(child, g)]
        for place, job in enumerate(jobs[:number], 1):
            found = outcome(child, job)
            counts[found["outcome"]] += 1
            said = found.get("wrong") or found.get("reason", "")
            print(place, found["outcome"], found["name"], f"{found.get('ms')} ms", said, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    from paths import blind_survey  # a child process finds its functions by this name

    blind_survey.main(sys.argv[1:])
