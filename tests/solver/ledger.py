"""The ledger of the solver: what each of its modules decides on the corpus, and what that costs.

``python tests/solver/ledger.py [--every N] [--jobs N] [--kinds KIND,...] [MODULE...]`` asks the questions of
`corpus.py`, of its drawn programs every Nth in an order that is always the same, and prints the table of the README. A
module that makes others quicker or better can be switched off: the questions in which it acts, because it returns
something else than what stands in for it, are asked again without it, each in its own process, some at once. The table
has how many of them have another answer then, with one of them, and the CPU seconds with and without it. A module that
changes no answer there, and saves no time, has to go.

With ``--stated N`` it asks only the questions that N drawn rows of the README's table name, with and without the row's
module, and names the modules without which the answer stays.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import inspect
import json
import os
import random
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from solver.corpus import Answer, Question, questions

from symbcast.core import effort

SOLVER = "symbcast.core.solver"
FOLDER = Path(effort.__file__).parent / "solver"
CPU_SECONDS = 60
"""What a question may take; one that takes more has no answer."""
SHORT_TEXT = 40


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


def _one_point(sets: Any, _: Any) -> Any:
    point = tuple(s.least(1) or s.least() or 0 for s in sets)
    return ([point] if all(sets) else []), not all(sets)


def _unsubstituted(formulas: Any) -> Any:
    from symbcast.core.solver.evaluation import normal_conjuncts
    from symbcast.core.solver.f3_linear.equations import SubstitutionResult

    return SubstitutionResult(normal_conjuncts(formulas), [])


def _unfiltered(_: Any, given: Any, needed: Any = ()) -> Any:
    return list(given)


def _false(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> None:
    return None


def _nothing(*_: Any, **__: Any) -> list[Any]:
    return []


SHORTCUTS: dict[str, dict[str, Callable[..., Any]]] = {
    "smallest_clash:hitting_set": {"smallest_hitting_set": _none},
    "f2_one_size/set_products:boxes": {"divided_by_boxes": _none},
    "linear_groups:isomorphism": {"IsomorphicGroups._key": _none},
    "f2_one_size/decided_terms:composite_sizes": {"solved_composites": lambda constraints, *_: list(constraints)},
    "f2_one_size/ranges:small_parts": {"with_small_part": _none},
    "f3_linear/branch_and_bound": {"Search.at_level": _given_up},
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
    "points:samples": {"_points": _one_point},
    "simplification/factoring:candidates": {"without_extremes": lambda conjuncts, _: conjuncts},
    "simplification/simplify:decided_operations": {"without_decided_operations": list},
    "f3_linear/orders": {"Orders.of": _none},
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
    """Load all modules, and z3 and ONNX, whose imports are no part of what the first question takes."""
    import onnx  # noqa: F401
    import z3  # noqa: F401

    for name in modules():
        imported(name)
    gc.freeze()  # a fork that collects garbage would copy all of it


def forked(work: Callable[[], Any]) -> Any:
    """Return the outcome of work in its own process, which has what this one loaded; None if it ends without one."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), 1)
        with os.fdopen(writer, "w") as file:
            json.dump(work(), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def asked(question: Question, without: str = "") -> Measured:
    """Ask a question in its own process, with a module switched off."""

    def work() -> Measured:
        if without:
            switch_off(without)
        return measured(question)

    return Measured(*(forked(work) or ({"error": "the process ended"}, 0, CPU_SECONDS)))


# Which shortcuts act in a question.


@contextlib.contextmanager
def noted_acts() -> Iterator[set[str]]:
    """Note the shortcuts whose functions return something else than what stands in for them would."""
    found: set[str] = set()
    with contextlib.ExitStack() as undone:
        for module, replaced in SHORTCUTS.items():
            for name, other in replaced.items():
                owner, _, attribute = name.rpartition(".")
                place = getattr(imported(module), owner) if owner else imported(module)
                original = inspect.getattr_static(place, attribute)
                noting = _noting(original, other, module, found)
                if owner:
                    undone.callback(setattr, place, attribute, original)
                    setattr(place, attribute, noting)
                else:
                    undone.callback(_replace, noting, original)
                    _replace(original, noting)
        yield found


def _noting(original: Any, other: Callable[..., Any], module: str, found: set[str]) -> Any:
    """Return what does the same as a function or a class method, and notes its module where it acts."""
    function = original.__func__ if isinstance(original, classmethod) else original

    def noting(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if module not in found and _is_other(result, other, args, kwargs):
            found.add(module)
        return result

    return classmethod(noting) if isinstance(original, classmethod) else noting


def _is_other(result: Any, other: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    from symbcast.core.solver.points import GivenUpError

    try:
        return bool(other(*args, **kwargs) != result)
    except GivenUpError:
        return True


def with_acts(question: Question) -> tuple[Measured, list[str]]:
    """Ask a question in its own process, and return the shortcuts that act in it as well."""

    def work() -> tuple[Measured, list[str]]:
        with noted_acts() as found:
            return measured(question), sorted(found)

    answer, acting = forked(work) or (({"error": "the process ended"}, 0, CPU_SECONDS), [*SHORTCUTS])
    return Measured(*answer), acting


# What a module is for.


class Row(NamedTuple):
    """What the corpus says of a module.

    Attributes:
        acting: The questions in which it acts.
        changed: Of those, the ones that have another answer without it, and what changes.
        seconds: The CPU seconds of those questions, with it and without it.
    """

    acting: list[str]
    changed: dict[str, str]
    seconds: tuple[float, float]

    def text(self, module: str) -> str:
        """Return the row of the table."""
        if module not in SHORTCUTS:
            return f"| `{module}` | the only way: {subject_of(module)} | |"
        example = next((f": `{name}`: {what}" for name, what in self.changed.items()), "")
        before, after = self.seconds
        return f"| `{module}` | {len(self.changed)} of {len(self.acting)}{example} | {before:.1f}, {after:.1f} |"


DRAWN = ("deep", "sized", "mixed")
"""The kinds of questions that are drawn programs: they take nine tenths of the seconds."""


def drawn(every: int, kinds: Sequence[str] = ()) -> list[Question]:
    """Return the questions, of all kinds or of some; of the drawn programs, every one of so many."""
    found = [q for q in questions() if not kinds or q.name.split()[0] in kinds]
    random.Random(0).shuffle(found)
    programs = [q for q in found if q.name.split()[0] in DRAWN]
    return [*programs[::every], *(q for q in found if q.name.split()[0] not in DRAWN)]


def row(module: str, acting: Sequence[Question], known: dict[str, Measured], pool: Executor) -> Row:
    """Return what the questions in which a shortcut acts say of it."""
    names = [q.name for q in acting]
    if module not in SHORTCUTS:
        return Row(names, {}, (0, 0))
    answers = pool.map(lambda question: asked(question, module), acting)
    without = {question.name: answer for question, answer in zip(acting, answers, strict=True)}
    changed = {
        name: difference(known[name].answer, found.answer)
        for name, found in without.items()
        if found.answer != known[name].answer
    }
    return Row(names, changed, (sum(known[n].seconds for n in names), sum(m.seconds for m in without.values())))


def difference(before: Answer, after: Answer) -> str:
    """Return the first part of an answer that is another one without a module."""
    part = next(key for key in [*after, *before] if after.get(key) != before.get(key))
    return f"{part} {_short(after.get(part))} instead of {_short(before.get(part))}"


def _short(text: str | None) -> str:
    return "none" if text is None else text if len(text) <= SHORT_TEXT else f"{len(text):,} characters"


def subject_of(module: str) -> str:
    """Return what a module is about, by its document."""
    first = re.split(r"[:.,;(]", imported(module).__doc__, maxsplit=1)[0]
    return first[0].lower() + first[1:]


def main(every: int, kinds: Sequence[str], wanted: Sequence[str], pool: Executor) -> int:
    """Print a row for each module; return 1 if one changes no answer and saves no time."""
    prepare()
    made = drawn(every, kinds)
    outcomes = dict(zip((q.name for q in made), pool.map(with_acts, made), strict=True))
    known = {name: answer for name, (answer, _) in outcomes.items()}
    print(f"{len(made)} questions, {sum(m.seconds for m in known.values()):.0f} s", flush=True)
    idle = []
    for module in wanted or modules():
        found = row(module, [q for q in made if module in outcomes[q.name][1]], known, pool)
        print(found.text(module), flush=True)
        before, after = found.seconds
        if module in SHORTCUTS and not found.changed and after <= before:
            idle.append(module)
    print(f"idle: {', '.join(idle) or 'none'}")
    return bool(idle)


def read_rows(text: str) -> list[tuple[str, str]]:
    """Return the modules of the table in a text, each with the name of the question that changes without it."""
    section = text.split("## The ledger\n")[1].split("\n## ", maxsplit=1)[0]
    return re.findall(r"^\| `(.+?)` \| [^`|]*(?:`(.+?)`)?.*\|$", section, re.MULTILINE)


def idle_of_stated(count: int) -> int:
    """Print the modules, of so many drawn rows of the README, without which their question's answer stays."""
    prepare()
    by_name = {question.name: question for question in questions()}
    rows = [(module, by_name[name]) for module, name in read_rows((FOLDER / "README.md").read_text()) if name]
    asked_rows = random.Random(0).sample(rows, count)
    idle = [module for module, question in asked_rows if asked(question).answer == asked(question, module).answer]
    print(f"{len(asked_rows)} rows; idle: {', '.join(idle) or 'none'}")
    return bool(idle)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=())
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--stated", type=int, default=0)
    options = parser.parse_args()
    if options.stated:
        sys.exit(idle_of_stated(options.stated))
    with ThreadPoolExecutor(options.jobs) as threads:
        sys.exit(main(options.every, options.kinds, options.modules, threads))
