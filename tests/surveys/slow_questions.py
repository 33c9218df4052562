"""A search for slow questions, and for wrong answers: random calls and programs over products and symbolic divisors.

Run it by hand: ``python tests/surveys/slow_questions.py [COUNT] [SEED] [BUDGET]``. It prints the slowest questions
with their CPU times, how many took more than two seconds, how many were left undecided, and the most units of effort
that one call used. Answers are compared with Python at small sizes: ``WRONG`` is a fault. With a budget in seconds, of
CPU so that other processes do not count, it prints which questions took over 0.2 s longer than that.

``--start 100`` begins at that place, ``--only 36 98`` asks the questions of these places alone, ``--each`` prints all
questions, and ``--profile`` prints where the CPU time went.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import pstats
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import reference

import symbcast as sb
from symbcast.core import effort
from symbcast.core import effort as budgets

NAMES = tuple("NMKHWST")
SLOW = 2.0
POINTS = 40
"""Sizes at which an answer is compared with Python."""


class Watched(effort.Effort):
    """A counter that is noted when it is made, if no other is in force: that of a call."""

    made: list[Watched] = []  # noqa: RUF012 - emptied before each question

    def __init__(self, limit: int, *, is_call: bool = False, clock: effort.Clock | None = None) -> None:
        super().__init__(limit, is_call=is_call, clock=clock)
        if is_call and effort.current() is None:
            Watched.made.append(self)


class Question(NamedTuple):
    """A question, in words, what asks it, and what says that an answer is wrong at small sizes."""

    text: str
    ask: Callable[[], Any]
    faults: Callable[[Any], Iterable[str]] = lambda _: ()


class Measured(NamedTuple):
    """What a question took, and what came out."""

    seconds: float
    units: int
    answer: str
    text: str


# Texts.


def number(rng: random.Random) -> int:
    """Return a number, mostly small."""
    return rng.choice((1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 97, 128, 1021, 10**9 + 7))


def term(rng: random.Random, depth: int) -> str:
    """Return the text of a size."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(NAMES) if rng.random() < 0.85 else str(number(rng))
    left, right = term(rng, depth - 1), term(rng, depth - 1)
    match rng.randrange(9):
        case 0 | 1:
            return f"({left} + {right})"
        case 2:
            return f"({left})*({right})"
        case 3:
            return f"{number(rng)}*({left})"
        case 4:
            return f"({left})//({right})"
        case 5:
            return f"({left}) % ({right})"
        case 6:
            return f"({left})//{number(rng)}"
        case 7:
            return f"({left}) % {number(rng)}"
        case _:
            return f"{rng.choice(('min', 'max'))}({left}, {right})"


def relation(rng: random.Random, depth: int = 2) -> str:
    """Return the text of a comparison."""
    return f"{term(rng, depth)} {rng.choice(('==', '==', '<=', '<', '!='))} {term(rng, depth)}"


def condition(rng: random.Random, count: int, depth: int = 2) -> str:
    """Return the text of a condition of several comparisons."""
    parts = [relation(rng, 1 if rng.random() < 0.5 else depth) for _ in range(count)]
    text = parts[0]
    for part in parts[1:]:
        text += f" {rng.choice(('and', 'and', 'or'))} {part}"
    return text


def shape(rng: random.Random, rank: int, depth: int = 2) -> str:
    """Return the text of a shape."""
    sizes = ("1" if rng.random() < 0.15 else term(rng, rng.randrange(depth + 1)) for _ in range(rank))
    return f"[{', '.join(sizes)}]"


def readable_shape(rng: random.Random, rank: int) -> str:
    """Return the text of a shape that divides by nothing that is plainly 0."""
    while True:
        text = shape(rng, rank)
        try:
            sb.shape(text)
        except sb.ShapeSyntaxError:
            continue
        return text


def assumptions(rng: random.Random) -> list[str]:
    """Return the texts of some assumptions that one name or two are about; mostly none."""
    some = [f"{rng.choice(NAMES)} >= {rng.randint(1, 4)}", f"{rng.choice(NAMES)} % {rng.randint(2, 8)} == 0"]
    some += [f"{rng.choice(NAMES)} <= {rng.choice(NAMES)}", relation(rng, 1)]
    return [] if rng.random() < 0.6 else rng.sample(some, rng.randint(1, 2))


# The oracle: Python, at small sizes.


def points(seed: int, most: int = POINTS) -> Iterator[dict[str, int]]:
    """Yield sizes of all names."""
    rng = random.Random(seed)
    yield from (dict.fromkeys(NAMES, size) for size in range(4))
    for _ in range(most):
        yield {name: rng.choice((0, 1, 1, 2, 2, 3, 4, 6, 8)) for name in NAMES}


def holds(text: str, sizes: Mapping[str, int]) -> bool:
    """Return whether a condition holds: a comparison with a division by 0 does not."""
    return any(all(compared(part, sizes) for part in conjuncts.split(" and ")) for conjuncts in text.split(" or "))


def compared(text: str, sizes: Mapping[str, int]) -> bool:
    """Return whether a comparison holds."""
    try:
        return bool(eval(text, {"min": min, "max": max}, dict(sizes)))
    except ZeroDivisionError:
        return False


def output(texts: Iterable[str], sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return what shapes broadcast to by NumPy's rule; None where they do not, or are no shapes."""
    try:
        found = [eval(text, {"min": min, "max": max}, dict(sizes)) for text in texts]
    except ZeroDivisionError:
        return None
    return reference.numpy(*found)


def verdict_faults(
    found: str, at: Callable[[Mapping[str, int]], bool], where: Iterable[Mapping[str, int]]
) -> Iterator[str]:
    """Yield sizes at which a verdict is wrong."""
    for sizes in where:
        is_valid = at(sizes)
        if (found == "always" and not is_valid) or (found == "never" and is_valid):
            yield f"{found}, but {'valid' if is_valid else 'not valid'} at {sizes}"


def evidence_faults(found: Any, is_valid: bool, at: Callable[[Mapping[str, int]], bool]) -> Iterator[str]:
    """Yield evidence at which it is otherwise."""
    if found is not None and at({**dict.fromkeys(NAMES, 1), **found}) is not is_valid:
        yield f"evidence of {'validity' if is_valid else 'failure'} is wrong: {found}"


# Calls.


def of_shapes(rng: random.Random, budget: float | None = None) -> Question:
    """Return a question about a broadcast."""
    rank = rng.randint(1, 4)
    texts = [shape(rng, rank, rng.randint(1, 3)) for _ in range(rng.choice((1, 2, 2, 2, 3)))]
    given = assumptions(rng)
    linked = [g for g in given if set(re.findall("[A-Z]", g)) & set("".join(texts))]
    wanted = shape(rng, rank, 0)
    relation_ = relation(rng)

    def made() -> sb.Result:
        return sb.broadcast(*texts, assume=linked, budget=budget)

    def at(sizes: Mapping[str, int]) -> bool:
        return output(texts, sizes) is not None

    def allowed() -> list[dict[str, int]]:
        return [p for p in points(len(texts[0])) if all(holds(g, p) for g in given)]

    def verdicts(found: Any) -> Iterator[str]:
        yield from verdict_faults(found.value, at, allowed())

    def implied(found: Any) -> Iterator[str]:
        yield from (f"implies, but not at {p}" for p in allowed() if found and at(p) and not holds(relation_, p))

    asks: dict[str, tuple[Callable[[], Any], Callable[[Any], Iterable[str]]]] = {
        "verdict": (lambda: made().verdict, verdicts),
        "clauses": (lambda: made().clauses, lambda _: ()),
        "explain": (lambda: made().explain(), lambda _: ()),
        "html": (lambda: made()._repr_html_(), lambda _: ()),
        "data": (lambda: made().to_dict(), lambda _: ()),
        "witness": (lambda: made().witness(), lambda w: evidence_faults(w, True, at)),
        "counterexample": (lambda: made().counterexample(), lambda w: evidence_faults(w, False, at)),
        "guard": (lambda: made().guard(), lambda g: _guard_faults(g, at, allowed())),
        "to_cpp": (lambda: made().to_cpp(), lambda _: ()),
        "compare": (
            lambda: sb.compare(
                *texts, rules=["numpy", "none", "unidirectional"], assume=given, budget=budget
            ).explain(),
            lambda _: (),
        ),
        "compare all": (lambda: sb.compare(*texts, budget=budget).explain(), lambda _: ()),
        "cases": (lambda: made().cases().explain(), lambda _: ()),
        "cases guards": (lambda: made().cases(20).to_python(), lambda _: ()),
        "solve": (lambda: sb.solve(*texts, out=wanted, budget=budget).explain(), lambda _: ()),
        "shape": (lambda: made().shape, lambda _: ()),
        "conflict": (lambda: made().conflict, lambda _: ()),
        "repairs": (lambda: made().repairs(), lambda _: ()),
        "surprises": (lambda: made().surprises, lambda _: ()),
        "implies": (lambda: made().implies(relation_), implied),
        "expands": (lambda: made().expands(0, -1), lambda _: ()),
        "certify": (lambda: made().certify(), lambda _: ()),
        "equivalent": (lambda: sb.equivalent(made(), sb.broadcast(*reversed(texts))), lambda _: ()),
    }
    name = rng.choice(list(asks))
    return Question(f"{name} of {texts} assuming {given}, {relation_}", *asks[name])


def _guard_faults(
    guard: Callable[..., bool], at: Callable[[Mapping[str, int]], bool], where: Iterable[Mapping[str, int]]
) -> Iterator[str]:
    names = re.findall(r"\b[A-Z]\b", str(getattr(guard, "names", "")))
    for sizes in where if names else ():
        if guard({n: sizes[n] for n in names}) is not at(sizes):
            yield f"the guard is wrong at {sizes}"


def of_conditions(rng: random.Random) -> Question:
    """Return a question about conditions."""
    depth = rng.randint(1, 3)
    first, second = condition(rng, rng.randint(1, 6), depth), condition(rng, rng.randint(1, 3), depth)
    given = assumptions(rng)

    def allowed() -> list[dict[str, int]]:
        return [p for p in points(len(first)) if all(holds(g, p) for g in given)]

    def ways(found: bool, holding: str, failing: str) -> Iterator[str]:
        for p in allowed():
            if found and holds(holding, p) and not holds(failing, p):
                yield f"said to follow, but not at {p}"

    def same(found: Any) -> Iterator[str]:
        yield from (f"simplified wrongly at {p}" for p in allowed() if found.guard()(_of(found, p)) != holds(first, p))

    asks: dict[str, tuple[Callable[[], Any], Callable[[Any], Iterable[str]]]] = {
        "implies": (lambda: sb.Condition(first).implies(second, given), lambda f: ways(f, first, second)),
        "equivalent": (
            lambda: sb.Condition(first).equivalent(second, given),
            lambda f: [*ways(f, first, second), *ways(f, second, first)],
        ),
        "counterexample": (
            lambda: sb.Condition(first).counterexample(second, given),
            lambda f: [*ways(f is None, first, second), *_counter_faults(f, first, second)],
        ),
        "verdict": (
            lambda: sb.Condition(first).verdict_under(given),
            lambda f: verdict_faults(f.value, lambda p: holds(first, p), allowed()),
        ),
        "simplified": (lambda: sb.Condition(first).simplified(given), same),
        "to_mlir": (lambda: sb.Condition(first).to_mlir(), lambda _: ()),
    }
    name = rng.choice(list(asks))
    return Question(f"{name} of {first!r}, {second!r} assuming {given}", *asks[name])


def _of(found: Any, sizes: Mapping[str, int]) -> dict[str, int]:
    return {str(s): sizes[str(s)] for s in found.symbols}


def _counter_faults(found: Any, first: str, second: str) -> Iterator[str]:
    sizes = None if found is None else {**dict.fromkeys(NAMES, 1), **found}
    if sizes is not None and (not holds(first, sizes) or holds(second, sizes)):
        yield f"the counterexample is wrong: {found}"


# Programs.

Step = tuple[str, tuple[Any, ...]]
"""A method and its arguments, in which a number is the place of an earlier output."""


def steps(rng: random.Random, count: int) -> Iterator[Callable[[int], Step]]:
    """Yield operations, each as a function of how many outputs there are."""
    for _ in range(count):
        kind = rng.randrange(11)
        depth = rng.choice((1, 1, 2))
        pick, other = rng.random(), rng.random()
        texts = shape(rng, rng.randint(1, 3), depth), shape(rng, 2, depth)
        target = [term(rng, 1), term(rng, 1), -1] if rng.random() < 0.5 else [rng.choice(NAMES), -1]
        asked = condition(rng, rng.randint(1, 2))

        def step(outputs: int, fixed: tuple[Any, ...] = (kind, pick, other, texts, target, asked)) -> Step:
            kind, pick, other, texts, target, asked = fixed
            first, second = int(pick * outputs), int(other * outputs)
            made: list[Step] = [
                ("broadcast", (first, second)),
                ("broadcast", (first, texts[0])),
                ("broadcast", (first, texts[0])),
                ("matmul", (first, texts[1])),
                ("reshape", (first, target)),
                ("reshape", (first, target)),
                ("split", (first, 2, -1)),
                ("require", (asked,)),
                ("concat", ([first, second], -1)),
                ("reduce", (first,)),
                ("unsqueeze", (first, 0)),
            ]
            return made[kind]

        yield step


def applied(env: sb.ShapeEnv, step: Step, outputs: list[Any], at: Mapping[str, int] | None = None) -> Any:
    """Record a step, with names put in where sizes are given."""
    name, args = step

    def meant(arg: Any) -> Any:
        return put(arg, at) if isinstance(arg, str) and at is not None else arg

    if name == "require":
        (text,) = args
        return env.require(text) if at is None else env.require(holds(text, at) or "0 == 1")
    if name == "concat":
        return env.concat([outputs[n] for n in args[0]], args[1])
    if name == "reshape":
        return env.reshape(outputs[args[0]], [meant(t) for t in args[1]])
    first, *rest = args
    rest = [outputs[a] if name == "broadcast" and isinstance(a, int) else meant(a) for a in rest]
    found = getattr(env, name)(outputs[first], *rest)
    return found[0] if name == "split" else found


def put(text: str, sizes: Mapping[str, int]) -> str:
    """Return text with numbers for names."""
    return re.sub(r"\b[A-Z]\b", lambda m: str(sizes[m[0]]), text)


class Recorded(NamedTuple):
    """A program, what was recorded and refused, and what it started from."""

    env: sb.ShapeEnv
    start: tuple[str, ...]
    log: list[tuple[Step, bool]]

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Return whether it is valid at some sizes: by the same operations on numbers."""
        return next(self.faults(sizes), "") == ""

    def faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Yield where an operation does otherwise on numbers: ends after the first that is refused there."""
        env = sb.ShapeEnv()
        try:
            outputs = [env.broadcast(put(text, sizes)) for text in self.start]
        except sb.SymbcastError:
            yield "start"
            return
        for step, is_recorded in self.log:
            try:
                found = applied(env, step, outputs, sizes)
            except sb.SymbcastError:
                if is_recorded:
                    yield "refused"
                    return
                continue
            if not is_recorded:
                yield f"WRONG: {step} was refused, but works at {sizes}"
            elif found is not None:
                outputs.append(found)


def of_program(rng: random.Random, budget: float | None) -> Iterator[Question]:
    """Yield each operation of a program as a question, and questions about the whole."""
    env = sb.ShapeEnv(assume=[], budget=budget)
    start = (readable_shape(rng, 3), readable_shape(rng, 2))
    outputs: list[Any] = [env.broadcast(text) for text in start]
    recorded = Recorded(env, start, [])

    def record(step: Step) -> None:
        try:
            found = applied(env, step, outputs)
        except (sb.IncompatibleProgramError, sb.UndecidedError):
            recorded.log.append((step, False))
            raise
        recorded.log.append((step, True))
        if found is not None:
            outputs.append(found)

    for step in steps(rng, rng.choice((5, 10, 20, 40, 60))):
        made = step(len(outputs))
        yield Question(f"{made} after {[s for s, kept in recorded.log if kept]}", lambda made=made: record(made))
    for name in rng.sample(list(_asked(env, "", recorded)), 5):
        given = relation(rng)
        yield Question(f"{name} {given} of {start}, {recorded.log}", *_asked(env, given, recorded)[name])


def _asked(
    env: sb.ShapeEnv, given: str, recorded: Recorded
) -> dict[str, tuple[Callable[[], Any], Callable[[Any], Iterable[str]]]]:
    some = list(points(1, 6))

    def refusals(_: Any) -> Iterator[str]:
        for sizes in some:
            yield from (f for f in recorded.faults(sizes) if f.startswith("WRONG"))

    def implied(found: Any) -> Iterator[str]:
        yield from (f"implies, but not at {p}" for p in some if found and not holds(given, p) and recorded.holds(p))

    return {
        "verdict": (lambda: env.verdict, lambda v: [*verdict_faults(v.value, recorded.holds, some), *refusals(v)]),
        "clauses": (lambda: env.clauses, lambda _: ()),
        "witness": (env.witness, lambda w: evidence_faults(w, True, recorded.holds)),
        "counterexample": (env.counterexample, lambda w: evidence_faults(w, False, recorded.holds)),
        "explain": (env.explain, refusals),
        "to_python": (env.to_python, lambda _: ()),
        "findings": (lambda: env.findings, lambda _: ()),
        "report": (env.report, lambda _: ()),
        "data": (env.to_dict, lambda _: ()),
        "cases": (lambda: env.cases(limit=20).explain(), lambda _: ()),
        "conflict": (lambda: env.conflict, lambda _: ()),
        "proves": (lambda: env.implies(given), implied),
    }


# The search.


def measured(question: Question, profile: cProfile.Profile | None = None) -> tuple[Measured, list[str]]:
    """Return what a question took of CPU and effort, and what is wrong with the answer."""
    Watched.made.clear()
    start = time.process_time()
    found, said = None, ""
    try:
        with profile or nullcontext():
            found = question.ask()
            said = str(found)
    except sb.SymbcastError as error:
        said = f"{type(error).__name__}: {error}"
    took = time.process_time() - start
    units = sum(counter.used for counter in Watched.made)
    faults = [] if "Error:" in said[:40] else list(itertools.islice(question.faults(found), 3))
    return Measured(took, units, said, question.text), faults


def outcome(found: Measured) -> str:
    """Return what kind of answer a question got."""
    if found.answer.startswith("UndecidedError") or "UNKNOWN" in found.answer.upper()[:80]:
        return "undecided"
    return found.answer.split(":")[0] if "Error:" in found.answer[:40] else "answered"


def questions(places: Iterable[int], seed: int, budget: float | None) -> Iterator[Question]:
    """Yield questions: of a third each about shapes, conditions and programs."""
    for place in places:
        rng = random.Random(seed * 1_000_003 + place)
        for question in asked_of(rng, place % 3, budget):
            yield question._replace(text=f"#{place} {question.text}")


def asked_of(rng: random.Random, kind: int, budget: float | None) -> Iterable[Question]:
    """Return questions about shapes, conditions, or a program."""
    return [of_shapes(rng, budget)] if kind == 0 else [of_conditions(rng)] if kind == 1 else of_program(rng, budget)


def load() -> None:
    """Ask something of each part, so that no question that is measured loads a module."""
    env = sb.ShapeEnv()
    env.reshape(env.broadcast("M//N, K % N"), ["K*N", -1])
    env.require("N*M < max(K, S)")
    env.report()
    sb.compare("N + 1", "M").explain()
    sb.broadcast("N*M", "2*K").to_cpp()


def main(given: argparse.Namespace) -> None:
    """Ask questions, and print what they took."""
    effort.Effort = Watched  # type: ignore[misc]
    if given.budget is not None:
        budgets.time = SimpleNamespace(monotonic=time.process_time)  # type: ignore[assignment]
    load()
    profile = cProfile.Profile(time.process_time) if given.profile else None
    found: list[Measured] = []
    for question in questions(given.only or range(given.start, given.count), given.seed, given.budget):
        one, faults = measured(question, profile)
        found.append(one)
        if one.seconds > SLOW / 2 or faults or given.each:
            print(f"{one.seconds:6.2f} s {one.units:>10,} units  {one.answer[:80]!r}  {one.text}", flush=True)
        for fault in faults:
            print(f"WRONG {fault}: {one.text}", flush=True)
        if given.budget is not None and one.seconds > given.budget + 0.2:
            print(f"OVER BUDGET {one.seconds:.2f} s: {one.text}", flush=True)
    print(Counter(map(outcome, found)), f"{sum(m.seconds > SLOW for m in found)} of {len(found)} over {SLOW} s")
    print(f"most units {max(m.units for m in found):,}")
    for one in sorted(found, reverse=True)[:12]:
        print(f"{one.seconds:6.2f} s {one.units:>10,} units  {one.answer[:60]!r}  {one.text[:300]}")
    if profile is not None:
        pstats.Stats(profile).sort_stats("tottime").print_stats(50)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=300)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("budget", nargs="?", type=float)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--profile", action="store_true")
    main(parser.parse_args())
