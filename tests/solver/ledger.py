"""The ledger of the solver: switches its modules off one by one, and shows which answers change or cost more.

Run it by hand: ``python tests/solver/ledger.py [MODULE...]``; modules are written as ``f3_linear/lattices``, and all
are taken if none is given. Each is switched off in its own process that asks all of `ledger_questions.questions`.
It prints the table of the README: for each module the question that the fewest other modules are needed for.
A module earns its place if an answer changes without it, or a question takes three times the effort. What an answer
costs is counted in units (`symbcast.core.effort`), which are the same on every run; CPU time, which is not, counts
only where units do not show the work.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from solver.ledger_questions import Answer, Question, questions

from symbcast.core import effort

SOLVER = "symbcast.core.solver"
FOLDER = Path(effort.__file__).parent / "solver"
SLOWER = 3
LEAST_UNITS = 20_000
"""Units that a question must take more without a module to count as slower."""
LEAST_SECONDS = 0.3


class SwitchedOffError(Exception):
    """A module that is switched off was asked for what nothing else can answer."""


class Measured(NamedTuple):
    """What came out of a question, and what it took."""

    answer: Answer
    units: int
    seconds: float


def modules() -> list[str]:
    """Return the solver's modules, each as folder and name, and the shortcuts in them, as ``module:shortcut``."""
    paths = (path.relative_to(FOLDER).with_suffix("") for path in FOLDER.rglob("*.py"))
    return sorted({path.as_posix() for path in paths if path.name != "__init__"} | set(SHORTCUTS))


def imported(name: str) -> Any:
    """Return the module of a row of the ledger."""
    return import_module(f"{SOLVER}.{name.partition(':')[0].replace('/', '.')}")


# Switches: what stands in for a module that only makes others quicker or better.


def _given_up(*_: Any, **__: Any) -> Any:
    from symbcast.core.solver.points import GivenUpError

    raise GivenUpError


def _alone(likenesses: Any, symbols: Any, assumptions: Any, formulas: Any) -> Any:
    from symbcast.core.solver.linear_groups import LinearGroup

    return LinearGroup(symbols, likenesses.domains, assumptions, formulas, likenesses.weights)


def _one_point(sets: Any, _: Any) -> Any:
    point = tuple(s.least(1) or s.least() or 0 for s in sets)
    return ([point] if all(sets) else []), not all(sets)


def _unsubstituted(formulas: Any) -> Any:
    from symbcast.core.solver.evaluation import normal_conjuncts
    from symbcast.core.solver.f3_linear.equations import SubstitutionResult

    return SubstitutionResult(normal_conjuncts(formulas), [])


def _unfiltered(questions: Any, given: Any, needed: Any = ()) -> Any:
    from symbcast.core.solver.irredundance import NeighbourhoodSearch

    near = NeighbourhoodSearch(questions) if questions.suits_neighbourhood(given) else None
    for formula in given if near is not None else ():
        near.add(formula)
    return near, list(given)


def _false(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> None:
    return None


def _nothing(*_: Any, **__: Any) -> list[Any]:
    return []


SHORTCUTS: dict[str, dict[str, Callable[..., Any]]] = {
    "smallest_clash:hitting_set": {"smallest_hitting_set": _none},
    "f2_one_size/set_products:boxes": {"divided_by_boxes": _none},
    "linear_groups:isomorphism": {"IsomorphicGroups.decide": _alone},
    "f2_one_size/decided_terms:composite_sizes": {"solved_composites": lambda constraints, *_: list(constraints)},
    "f3_linear/branch_and_bound:all_different": {"cliques": _nothing, "different_groups": _nothing},
    "f3_linear/branch_and_bound": {"Search.at_level": _given_up},
    "f3_linear/integer_programming:integers": {"some_point": _given_up, "smallest_point": _given_up},
    "f3_linear/lattices:lattice_reduction": {"reduced_basis": _none, "reduce_lattice": lambda vectors: vectors},
    "f3_linear/equations:substitution": {"substitute_equations": _unsubstituted},
    "f3_linear/z3_solver": {"some_point": _given_up},
    "f4_products/divisions": {"refuted_by_divisions": _false},
    "f4_products/refutation:elimination": {"refuted": _false},
    "f4_products/propagation": {"propagated": lambda constraints, *_: list(constraints)},
    "f4_products/quotients:whole_quotients": {
        "WholeQuotients.evaluated": _none,
        "WholeQuotients.merged": lambda _, found: found,
        "WholeQuotients.multiplied_out": lambda _, value: value,
    },
    "f3_linear/equations:definitions": {"set_aside": lambda formulas, *_: ([], list(formulas))},
    "irredundance": {"without_implied": _unfiltered},
    "f3_linear/z3_solver:least_sizes": {"smallest_point": _given_up},
    "irredundance:local_search": {
        "NeighbourhoodSearch.possible": _none,
        "NeighbourhoodSearch.ask": lambda *_: (None, {}),
    },
    "points:samples": {"_points": _one_point},
    "f2_one_size/piecewise:monotone": {"by_thresholds": _none},
    "simplification/factoring:candidates": {"without_extremes": lambda conjuncts, _: conjuncts},
    "simplification/simplify:decided_operations": {"without_decided_operations": list},
    "f3_linear/difference_constraints": {"DifferenceRegion.point": _none},
    "repeats": {"repeats_of": _none},
    "simplification/factoring": {"factored": lambda conjuncts, *_: list(conjuncts)},
}
"""For each shortcut: what its functions are replaced by. A name is a module, or a module and what is a shortcut in it.

The functions of other modules raise an error."""


def switch_off(module: str) -> None:
    """Replace the functions of a module wherever they are used."""
    found = imported(module)
    for name, other in SHORTCUTS.get(module, {}).items():
        owner, _, attribute = name.rpartition(".")
        if owner:
            setattr(getattr(found, owner), attribute, other)
        else:
            _replace(getattr(found, name), other)
    if module in SHORTCUTS:
        return
    for name, value in list(vars(found).items()):
        if name.startswith("_") or getattr(value, "__module__", "") != found.__name__:
            continue
        if not inspect.isclass(value) or issubclass(value, Enum):
            if callable(value):
                _replace(value, _switched_off)
        elif not issubclass(value, (Exception, tuple)):
            value.__init__ = _switched_off
            value.__new__ = _switched_off


def _switched_off(*_: Any, **__: Any) -> Any:
    raise SwitchedOffError


def _replace(one: object, other: object) -> None:
    for module in [m for name, m in sys.modules.items() if name.startswith("symbcast")]:
        for name, value in list(vars(module).items()):
            if value is one:
                setattr(module, name, other)


# Asking.


@contextlib.contextmanager
def counters() -> Iterator[list[effort.Effort]]:
    """Note the counters that are opened while no other is in force."""
    found: list[effort.Effort] = []
    counter = effort.Effort

    class Noted(counter):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if effort.current() is None:
                found.append(self)

    effort.Effort = Noted  # type: ignore[misc]
    try:
        yield found
    finally:
        effort.Effort = counter  # type: ignore[misc]


def measured(question: Question) -> Measured:
    """Ask a question; what goes wrong in it is its answer."""
    start = time.process_time()
    with counters() as found:
        try:
            answer = question.ask()
        except Exception as error:  # a module that is switched off may break anything
            answer = {"error": type(error).__name__}
    return Measured(answer, sum(counter.used for counter in found), time.process_time() - start)


def prepare() -> None:
    """Load all modules, and z3, whose import is no part of what the first question takes."""
    import z3  # noqa: F401

    for name in modules():
        imported(name)


def ask_all(module: str) -> None:
    """Ask all questions with a module switched off, or with none, and write what came out, one line a question."""
    prepare()
    made = questions()
    if module:
        switch_off(module)
    for question in made:
        print(json.dumps([question.name, *measured(question)]), flush=True)


def answers(module: str = "") -> dict[str, Measured]:
    """Return what its own process says with a module switched off."""
    command = [sys.executable, __file__, "--without", module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        name, answer, units, seconds = json.loads(line)
        found[name] = Measured(answer, units, seconds)
    return found


# What a module is for.


def differences(known: dict[str, Measured], found: dict[str, Measured]) -> Iterator[tuple[str, str]]:
    """Yield the questions that need a module, each with what changes without it."""
    for name, before in known.items():
        after = found.get(name)
        if after is None:
            yield name, "the process ends"
        elif after.answer != before.answer:
            yield name, _changed(before.answer, after.answer)
        elif after.units > SLOWER * before.units and after.units - before.units > LEAST_UNITS:
            yield name, f"{after.units:,} units instead of {before.units:,}"
        elif after.seconds > SLOWER * before.seconds and after.seconds - before.seconds > LEAST_SECONDS:
            yield name, f"{after.seconds:.2f} s instead of {before.seconds:.2f}"


def _changed(before: Answer, after: Answer) -> str:
    if "error" in after:
        return "no answer"
    part = next(key for key in [*after, *before] if after.get(key) != before.get(key))
    return f"{part}: {after.get(part)} instead of {before.get(part)}"


def main(wanted: list[str]) -> int:
    """Print a row of the README for each module; return 1 if no question needs some module."""
    known = answers()
    needing = {module: dict(differences(known, answers(module))) for module in wanted or modules()}
    for row in rows(needing):
        print(row[:240])
    idle = [module for module, changes in needing.items() if not changes]
    print(f"needed by no question: {', '.join(idle) or 'none'}")
    return bool(idle)


def rows(needing: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield a row for each module that some question needs: of these, that which fewest modules are needed for."""
    users = Counter(name for changes in needing.values() for name in changes)
    for module, changes in needing.items():
        counted = [name for name in changes if not changes[name].endswith(" s")] or list(changes)
        if counted:
            name = min(counted, key=users.__getitem__)
            yield f"| `{module}` | {name} | {changes[name]} |"


def read_rows(text: str) -> list[tuple[str, str]]:
    """Return the modules of the table in a text, each with its question."""
    section = text.split("## The ledger\n")[1].split("\n## ", maxsplit=1)[0]
    return re.findall(r"^\| `(.+?)` \| (.+?) \| .+ \|$", section, re.MULTILINE)


def check() -> int:
    """Ask the question of each row with and without the module; return 1 if some module is not needed for its own."""
    prepare()
    asked = {question.name: question for question in questions()}
    table = read_rows((FOLDER / "README.md").read_text())
    known = {name: forked(asked[name], "") for name in dict.fromkeys(name for _, name in table)}
    found = ((module, name, forked(asked[name], module)) for module, name in table)
    idle = [module for module, name, after in found if not any(differences({name: known[name]}, {name: after}))]
    print(f"not needed for their questions: {', '.join(idle) or 'none'}")
    return bool(idle)


def forked(question: Question, module: str) -> Measured:
    """Ask a question in its own process, which has what this one loaded, with a module switched off."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        if module:
            switch_off(module)
        with os.fdopen(writer, "w") as file:
            json.dump(measured(question), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answer, units, seconds = json.load(file)
    os.waitpid(child, 0)
    return Measured(answer, units, seconds)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--without", module]:
            ask_all(module)
        case ["--check"]:
            sys.exit(check())
        case chosen:
            sys.exit(main(chosen))
