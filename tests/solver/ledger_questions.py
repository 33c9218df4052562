"""The questions of the ledger: each asks the public interface, and its answer is a mapping of texts.

They are the same on every run: some are pinned by tests, some are TVM's, some are drawn from ten families with a seed.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import symbcast as sb
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.text import parse_formula

DATA = Path(__file__).parents[1] / "data" / "tvm_arithmetic.tsv"
TVM_STEP = 24
"""One of so many TVM questions is asked."""
PER_FAMILY = 8
_FAILURES = 3
"""For so many conditions of a program sizes are asked for at which they alone fail."""
Answer = dict[str, str]


class Question(NamedTuple):
    """A question with its name, and what asks it."""

    name: str
    ask: Callable[[], Answer]


def questions() -> list[Question]:
    """Return all questions, each with a name of its own."""
    return [*pinned(), *groups(), *programs(), *of_tvm(), *drawn()]


# What is asked of each kind of answer.


def of_broadcast(*shapes: str, **options: Any) -> Callable[[], Answer]:
    """Ask a broadcast for everything that the solver decides."""

    def ask() -> Answer:
        result = sb.broadcast(*shapes, **options)
        return {
            "verdict": result.verdict.name,
            "clauses": str([str(c) for c in result.clauses]),
            "shape": str(result.shape),
            "witness": str(result.witness()),
            "counterexample": str(result.counterexample()),
            "unproven": str([str(c) for c in result.unproven]),
            "reason": result.reason,
            "conflict": str(result.conflict),
        }

    return ask


def of_condition(text: str, *given: str) -> Callable[[], Answer]:
    """Ask for the verdict on a condition, and its simplified form."""

    def ask() -> Answer:
        condition = sb.Condition(text)
        return {"verdict": condition.verdict_under(given).name, "simplified": str(condition.simplified(given))}

    return ask


def of_implication(given: str, asked: str) -> Callable[[], Answer]:
    """Ask whether one condition implies another."""

    def ask() -> Answer:
        condition = sb.Condition(given)
        return {"implies": str(condition.implies(asked)), "counterexample": str(condition.counterexample(asked))}

    return ask


def of_bounds(text: str, given: str) -> Callable[[], Answer]:
    """Ask for the least and greatest value of an expression."""

    def ask() -> Answer:
        found = sb.bounds(text, assume=given)
        return {"least": str(found.least), "greatest": str(found.greatest)}

    return ask


def of_rules(*shapes: str, rules: list[str]) -> Callable[[], Answer]:
    """Ask where rules differ."""

    def ask() -> Answer:
        return {"compared": json.dumps(sb.compare(*shapes, rules=rules).to_dict())}

    return ask


def of_function(function: Callable[..., object], *shapes: str) -> Callable[[], Answer]:
    """Ask for which sizes a NumPy function works."""

    def ask() -> Answer:
        report = sb.trace(function, *shapes)
        return {
            "verdict": report.verdict.name,
            "condition": str(report.condition),
            "witness": str(report.witness()),
            "counterexample": str(report.counterexample()),
        }

    return ask


def of_program(record: Callable[[sb.ShapeEnv], object]) -> Callable[[], Answer]:
    """Record a program and ask it for everything that the solver decides."""

    def ask() -> Answer:
        env = sb.ShapeEnv()
        try:
            record(env)
        except sb.IncompatibleProgramError as error:
            return {"refused": str(error)}
        program = plain_answer(env)
        return {
            "verdict": env.verdict.name,
            "requirements": str([str(r) for r in program.requirements()]),
            "witness": str(env.witness()),
            "counterexample": str(env.counterexample()),
            "failures": str([program.counterexample(r.condition) for r in program.requirements()[:_FAILURES]]),
            "reason": f"{env.reason} {env.evidence_reason}",
        }

    return ask


def required(*texts: str) -> Callable[[], Answer]:
    """Ask a program that only requires conditions."""
    return of_program(lambda env: [env.require(text) for text in texts])


# Questions pinned by tests and by the solver's README.


def all_different(count: int, bound: int) -> list[str]:
    """Return conditions under which so many sizes below a bound all differ."""
    names = [f"x{n}" for n in range(count)]
    return [*(f"{a} != {b}" for a, b in combinations(names, 2)), *(f"{n} < {bound}" for n in names)]


KNAPSACK = "12343*a + 98765*b + 55557*c + 77773*d", "100000007"
NO_KNAPSACK = "123456791*a + 987654321*b + 555555557*c", "10000000000037"
SPREAD = [f"s{n}" for n in range(100)]
CASES = " or ".join(f"({x} == 1 and {y} >= {n})" for n, (x, y) in enumerate(combinations("abcd", 2)))


def pinned() -> Iterator[Question]:
    """Yield questions that tests and documents are about."""
    many = "max(" + ", ".join(SPREAD) + ")"
    by_call = {
        "knapsack": of_broadcast(*KNAPSACK),
        "knapsack without solution": of_broadcast(*NO_KNAPSACK),
        "a maximum of 100": of_broadcast(many, "N"),
        "a sum of 100": of_broadcast(" + ".join(SPREAD), "N"),
        "products": of_broadcast("N*M*K + 3", "K*N + M*M + 7*N"),
        "products assumed": of_broadcast("N*M, K", "K*N + 2, M//N", assume="N*M >= K"),
        "no such square": of_broadcast("N*N + 2, 3", "1 - N*0, 4"),
        "a square twice a square": of_broadcast("a*a", "2*b*b + 3", assume="a >= 2 and b >= 1"),
        "names": of_broadcast("B, 1, N, C", "N, 1, C", "B, 1, M, 1"),
        "clashing names": of_broadcast("N, 2, M", "3, N, M", "N, M, 4"),
        "more shapes": of_broadcast("A, B", "B, A", "C, 3", "1, A", assume="A >= 2 and C != 3"),
        "a window": of_broadcast("(H + 2*p - k)//s + 1, W//2", "H, (W + 1)//2", assume="k >= 1 and s >= 1"),
        "eight congruences": of_broadcast("N", "8", assume=[f"N % {p} == 1" for p in (2, 3, 5, 7, 11, 13, 17, 19)]),
        "remainders added": of_broadcast("N % 6 + N % 10 + N % 15", "7"),
        "a cubic": of_broadcast("N*N*N - 6*N*N + 11*N", "6"),
        "a divisor that is a size": of_broadcast("N//M", "K", assume="M >= 1"),
        "one divisor": of_broadcast("1000//N", "N + 3"),
        "ranges": of_broadcast("max(N, 4) + min(N, 9)", "13"),
        "both": of_broadcast("N + M", "7", assume="N <= 2*M and M % 3 == 1"),
        "joined sums": of_broadcast("a + b, b + c, c + a", "5, 6, 7"),
        "the greatest product of a sum": of_bounds("x*y", "x + y <= 30"),
    }
    for name, ask in by_call.items():
        yield Question(name, ask)
    for count, bound in ((7, 7), (8, 7), (9, 9), (5, 9)):
        yield Question(f"{count} below {bound} all differ", required(*all_different(count, bound)))
    bounded = [*all_different(8, 10), " + ".join(f"x{n}" for n in range(8)) + " <= 27"]
    yield Question("eight that differ and sum to 27", required(*bounded))
    far = ("1000000000000000009//M <= M", "1000000000000000009//(M*K) <= M*K + K%7", "a*b == 1000003*1000033")
    for text in (*far, "a*a*a == b*b*c + 5 and c*c*c == a*b + 7 and b*b*b == a*c + 11"):
        yield Question(f"sizes of {text}", required(text))
    for text in PINNED_CONDITIONS:
        yield Question(f"condition {text}", of_condition(text))
    rules = ["numpy", "unidirectional", "pdpd"]
    yield Question("three rules", of_rules("N, 2*K, 3", "M, K + 1, 1", rules=rules))
    yield Question("the first five that are not 0", of_function(lambda a, b: np.flatnonzero(a)[:5] + b, "N", "M"))
    yield Question("a hundred cases of six literals", of_condition(hundred_cases()))
    yield Question("forty cases of differences", of_condition(cases_of_differences()))
    yield Question("a slice beside what it is added to", of_condition("M <= N or min(M, N) == 1 or M == 1"))
    for given, asked in PINNED_IMPLICATIONS:
        yield Question(f"{given} implies {asked}", of_implication(given, asked))


def hundred_cases() -> str:
    """Return a union of cases that only compare sizes."""
    rng = random.Random(2)

    def literal() -> str:
        left, right = rng.sample("abcd", 2)
        return f"{left} {rng.choice(['==', '!=', '<=', '>='])} {rng.choice([right, str(rng.randint(0, 6))])}"

    return " or ".join("(" + " and ".join(literal() for _ in range(6)) + ")" for _ in range(100))


def cases_of_differences() -> str:
    """Return a union of cases that compare sizes with others, some more or less."""
    rng = random.Random(2)

    def literal() -> str:
        left, right = rng.sample("abcd", 2)
        more = rng.randint(-4, 4)
        difference = f"{left} + {max(0, -more)} {rng.choice(['==', '<=', '>=', '!='])} {right} + {max(0, more)}"
        return rng.choice([difference, f"{left} {rng.choice(['<=', '>=', '=='])} {rng.randint(0, 9)}"])

    return " or ".join("(" + " and ".join(literal() for _ in range(4)) + ")" for _ in range(40))


PINNED_CONDITIONS = (
    CASES,
    "(a < b and b < c) or (a < b and b >= c) or a >= 5",
    "(a == b or a == 1 or b == 1) and (b == c or b == 1 or c == 1) and (a != 1 or c == 2)",
    "(N == 1 and M == 2) or (N == 1 and M != 2) or (N != 1 and M == 2)",
    "N*M == K and (N == 1 or M == K)",
    "a + b == 3 or a + b == 4 or a + b == 5",
    "a != b and b != c and a != c and a <= 1 and b <= 1 and c <= 1",
    "a <= b and b <= c and c <= a",
    "(a + b)//2 == c or a + b == 2*c + 1",
    "N % 4 == 0 or N % 4 == 2",
    "N % 12 == 5 or N % 12 == 11 or N == 3",
    "a*b == 0 and a >= 1 and b >= 1",
    "a*b == 6 and a == 4",
    "a == b + 2 and a*b == 9",
    "a*a == 4*b + 2",
    "a*b == b*a + 1 or c == 1",
    "(a == 1 or b == 1 or c == 1) and (a == 1 or b == 1 or d == 1) and (a <= b or b <= c or c <= d)",
)
PINNED_IMPLICATIONS = (
    ("x >= 1", "(x + y + z)//x == (y + z)//x + 1"),
    ("z >= 1", "(x*z + y) % z == y % z"),
    ("M >= 1", "(N*M + N + K)//(M + 1) == N + K//(M + 1)"),
    ("y >= 1", "(x - x % y) % y == 0"),
    ("x >= 1", "2*x*x*y//(4*x*x*x) == y//(2*x)"),
    ("a <= 7 and b <= 9", "a*b <= 63"),
    ("b >= 1", "(a//b)*b <= a"),
    ("a*b == c*d and c >= 1", "a*b % c == 0"),
    ("a <= b and b <= c and c <= d", "a + c <= b + d"),
    ("3*a + 5*b == 7*c and c % 5 == 1", "a % 5 == 4"),
)


# Groups of formulas, as programs of thousands of operations make them.


def of_group(texts: list[str]) -> Callable[[], Answer]:
    """Ask for all that is decided about formulas together; recorded one by one they would take long."""

    def ask() -> Answer:
        formulas = [parse_formula(text) for text in texts]
        symbols = sorted({s for f in formulas for s in symbols_in(f)}, key=lambda s: (len(s.name), s.name))
        decision = Decision(AssumptionSet(symbols, {}, ()), formulas)
        return {
            "verdict": decision.verdict.name,
            "clauses": str(decision.clauses),
            "witness": str(decision.witness()),
            "counterexample": str(decision.counterexample()),
            "reason": decision.reason,
        }

    return ask


def groups() -> Iterator[Question]:
    """Yield questions about large groups."""
    made = {
        "450 definitions": [f"s{n + 1} == s{n} + {n % 3}" for n in range(450)],
        "60 definitions": [f"s{n + 1} == s{n} + t{n}//2 + 1" for n in range(60)],
        "60 in a chain doubled": [*(f"s{n + 1} == 2*s{n}" for n in range(60)), "s60 <= s0"],
        "a fixed chain of 300": [*(f"s{n + 1} == s{n} + 2" for n in range(300)), "s300 == 605"],
        "300 layers alike": [t for n in range(300) for t in (f"c{n} == a{n} + b{n}", f"a{n}//2 + 1 <= 3*b{n}")],
        "100 ordered": [f"s{n} + 1 <= s{n + 1}" for n in range(100)],
    }
    for name, texts in made.items():
        yield Question(name, of_group(texts))


# Programs.


def programs() -> Iterator[Question]:
    """Yield questions about whole programs."""
    for name, record in recorded_programs().items():
        yield Question(name, of_program(record))


def recorded_programs() -> dict[str, Callable[[sb.ShapeEnv], object]]:
    """Return the programs by name, each as what records it."""
    return {
        "reshape and split": _reshaped,
        "layers alike": _layers,
        "caches of 24 layers": _caches,
        "a chain of 60 definitions": _definitions,
        "20 doubled": lambda env: [env.require(f"s{n + 1} == 2*s{n}") for n in range(20)] and env.require("s20 != s0"),
        "a fixed chain": lambda env: (
            [env.require(f"s{n + 1} == s{n} + 2") for n in range(16)] and env.require("s16 == 37")
        ),
        "60 inequalities": lambda env: [env.require(f"s{n} + 1 <= s{n + 1}") for n in range(60)],
        "few imply many": _implied,
        "a product equation": lambda env: (env.reshape(env.broadcast("N*M, K"), ["K*N", -1]), env.require("M*N <= 9")),
        "a network": _network,
        "attention over batches": _attention,
        "tokens per image": _tokens,
        "at most two patches": lambda env: env.require("min(H*W, 1) == 0 or H*W == min(H*W, 1) + 1 or H*W == 1"),
        "windows of an image": _windows,
        "a cropped table": _cropped,
        "patches of two images": _patches,
        "names in a program": _names,
        "40 orders that clash": _orders_that_clash,
        "names that clash": lambda env: (env.broadcast("N, M", "M, N"), env.require("N == 3"), env.require("M == 4")),
        "a conflict of sums": lambda env: [
            env.require(t) for t in ("a + b == 5", "b + c == 6", "a + c == 8", "a <= b")
        ],
    }


def _windows(env: sb.ShapeEnv) -> None:
    """Record that an image has 14 windows along each side, and half as many where it is halved; never less than one."""
    env.assume("H >= 1", "W >= 1")
    env.require("(H % 8 == 0 or H % 8 == 7) and (W % 8 == 0 or W % 8 == 7)")
    env.require("max((H + 7)//16, 1)*max((W + 7)//16, 1) == 196")
    env.require("max(max((H + 7)//16, 1)//2, 1)*max(max((W + 7)//16, 1)//2, 1) == 49")


def _tokens(env: sb.ShapeEnv) -> None:
    """Record a reshape to an inferred size, and one to that size where it is not 0."""
    env.assume("eb >= 1", "seq >= 1", "batch >= 1")
    size = "(eb*seq//batch)"
    copied = f"({size} + 4 - 4*min({size}, 1))"
    env.require("eb*seq % batch == 0", f"4*batch*{size} % {copied} == 0")
    env.require(f"4*batch*{size} == (4*eb*seq//{copied})*{size}")


def _reshaped(env: sb.ShapeEnv) -> None:
    value = env.reshape(env.broadcast("B, 4*N, C"), ["B", "N", -1])
    half, other = env.split(value, 2, -1)
    env.broadcast(half, other, "B, N, K")


def _layers(env: sb.ShapeEnv) -> None:
    for n in range(30):
        env.require(f"c{n} == a{n} + b{n}")
        env.broadcast(f"a{n}//2 + 1", f"b{n}")


def _caches(env: sb.ShapeEnv) -> None:
    env.assume("batch >= 1", "seq >= 1", "total >= 1", "bm >= 1", "sc >= 1")
    env.require("batch*seq == broadcast(batch, bm)*broadcast(seq, sc)")
    for n in range(24):
        env.assume(f"k{n} >= 1", f"v{n} >= 1", f"p{n} >= 1", f"q{n} >= 1")
        env.require(f"k{n} == broadcast(batch, bm) and v{n} == k{n}")
        env.require(f"broadcast(total, p{n} + seq) == q{n} + seq and (total == p{n} + seq or total == 1)")


def _definitions(env: sb.ShapeEnv) -> None:
    for n in range(60):
        env.require(f"s{n + 1} == s{n} + {n % 3} + t{n}//2")


def _attention(env: sb.ShapeEnv) -> None:
    """Require what attention over frames does, with keys of another batch: products of joins."""
    env.assume("batch >= 1", "tb >= 1", "eb >= 1", "frames >= 1", "H >= 2")
    env.require("compatible(batch, tb)")
    env.require("compatible(batch*frames, frames*broadcast(batch, tb))")
    env.require("H*broadcast(batch, tb) % eb == 0")
    env.require("compatible(eb*frames, frames*broadcast(batch, tb))")
    env.require("compatible(H*broadcast(batch, tb)//eb, H)")
    scores = "broadcast(H, H*broadcast(batch, tb)//eb)*broadcast(eb*frames, frames*broadcast(batch, tb))"
    env.require(f"{scores} == H*frames*broadcast(batch, tb)")
    env.require("batch == broadcast(batch, tb)")


def _cropped(env: sb.ShapeEnv) -> None:
    """Require that patches and a table of positions, cropped around its centre with an error of rounding, are added."""
    env.assume("H >= 1", "W >= 1", "B >= 1", "T >= 1")
    patches = "(H//2)*(W//2)"
    start = "max(6 - ({0}//2 + 1)//2, 0) + 12*min({0}//28, 1)"
    rows, columns = (f"max(min({s}//2 + 6 - {s}//4, 12) - min({start.format(s)}, 12), 0)" for s in "HW")
    env.require(f"compatible({patches}, ({rows})*({columns}))")
    env.require("compatible(T, B)")
    env.require(f"broadcast({patches}, ({rows})*({columns}))*broadcast(T, B) == B*{patches}")


def _patches(env: sb.ShapeEnv) -> None:
    """Require what two images do that are divided into patches together: sizes rounded down and up are equal."""
    env.require("H % 8 == 0 and H >= 8 and W % 8 == 0 and W >= 8")
    env.require("M*(H//8)*(W//8) == ((M + N + 1)//2)*((H + 7)//8)*((W + 7)//8)")
    env.require("M + N == 2*((M + N + 1)//2)")


def _orders_that_clash(env: sb.ShapeEnv) -> None:
    """Require orders that hold at some hidden sizes, and one that does not; the fewest that clash are asked for."""
    rng = random.Random(10)
    names = [f"s{n}" for n in range(9)]
    sizes = {name: rng.randint(3, 30) for name in names}

    def order(beyond: int) -> str:
        a, b = rng.sample(names, 2)
        return f"{a} + {max(0, sizes[b] - sizes[a] + beyond)} <= {b} + {max(0, sizes[a] - sizes[b] - beyond)}"

    for _ in range(40):
        env.require(order(-rng.randint(0, 1)))
    env.require(order(1))


def _implied(env: sb.ShapeEnv) -> None:
    rng = random.Random(0)
    known = [("c", "(a + b)"), ("d", "(2*c + 1)"), ("e", "(d//2 + a)")]
    for left, right in known:
        env.require(f"{left} == {right}")
    for _ in range(80):
        (first, second), (third, fourth) = rng.sample(known, 2)
        k, m, n = (rng.randint(1, 5) for _ in range(3))
        env.require(f"{k}*{first} + {m}*{third} {rng.choice(('==', '<='))} {k}*{second} + {m}*{fourth}")
        env.require(f"{first} + {m}*{third} <= {second} + {m}*{fourth} + {n}")


def _network(env: sb.ShapeEnv) -> None:
    value = env.broadcast("B, C, H, W")
    for n in range(4):
        value = env.broadcast(value, f"B, C, (H + {n})//2*2, W{n}")
    env.require("H % 2 == 0 and W0 + W1 == W2 + 2")


def _names(env: sb.ShapeEnv) -> None:
    for n in range(30):
        env.broadcast(f"a{n}, b{n}", f"a{n + 1}, 1", f"1, b{n // 2}")


# TVM's questions of arithmetic.


def of_tvm() -> Iterator[Question]:
    """Yield one of so many questions of TVM's tests of arithmetic."""
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for n, row in enumerate(rows[::TVM_STEP]):
        relation = "==" if row["relation"] == "iff" else row["relation"]
        if row["relation"] != "iff":
            name = f"TVM {n * TVM_STEP}: {row['left']} {relation} {row['right']}"
            yield Question(name, of_implication(row["given"] or "0 == 0", f"{row['left']} {relation} {row['right']}"))


# Random questions.


def _sum(rng: random.Random, names: str, most: int) -> str:
    return " + ".join(f"{rng.randint(1, most)}*{n}" for n in rng.sample(names, rng.randint(1, len(names))))


def _compared(rng: random.Random, left: str, right: str) -> str:
    return f"{left} {rng.choice(('==', '<=', '<', '!=', '>='))} {right}"


def _joined(rng: random.Random, parts: list[str]) -> str:
    text = parts[0]
    for part in parts[1:]:
        text = f"({text}) {rng.choice(('and', 'or'))} ({part})"
    return text


def _shape(rng: random.Random, sizes: list[str], rank: int = 3) -> str:
    return ", ".join(rng.choice(sizes) for _ in range(rank))


def _of_names(rng: random.Random) -> Callable[[], Answer]:
    sizes = [*"ABCD", "1", "3"]
    return of_broadcast(*(_shape(rng, sizes) for _ in range(3)))


def _of_one_name(rng: random.Random) -> Callable[[], Answer]:
    terms = [f"N//{rng.randint(2, 6)}", f"N % {rng.randint(2, 9)}", f"{rng.randint(2, 5)}*N + 1", "N*N", "max(N, 7)"]
    return of_broadcast(f"{rng.choice(terms)} + {rng.choice(terms)}", rng.choice(("N", "6", rng.choice(terms))))


def _of_residues(rng: random.Random) -> Callable[[], Answer]:
    parts = [f"N % {rng.randint(2, 30)} {rng.choice(('==', '!=', '<='))} {rng.randint(0, 4)}" for _ in range(4)]
    return of_condition(_joined(rng, parts))


def _of_sums(rng: random.Random) -> Callable[[], Answer]:
    return of_broadcast(f"{_sum(rng, 'abc', 5)}, {_sum(rng, 'abc', 4)}", f"{_sum(rng, 'abc', 5)}, {rng.randint(2, 30)}")


def _of_orders(rng: random.Random) -> Callable[[], Answer]:
    return of_condition(_joined(rng, [_compared(rng, *rng.sample([*"abcd", "3"], 2)) for _ in range(5)]))


def _of_divisions(rng: random.Random) -> Callable[[], Answer]:
    left = f"({_sum(rng, 'abc', 4)})//{rng.randint(2, 7)}"
    return required(_compared(rng, left, _sum(rng, "ab", 2)), f"({_sum(rng, 'bc', 3)}) % {rng.randint(2, 9)} <= 1")


def _of_products(rng: random.Random) -> Callable[[], Answer]:
    left, right = "*".join(rng.choices("abc", k=2)), "*".join(rng.choices("abc", k=2))
    return of_broadcast(f"{left} + {rng.randint(0, 3)}", f"{right} + {rng.choice('abc')}")


def _of_divisors(rng: random.Random) -> Callable[[], Answer]:
    a, b, c = rng.sample("abc", 3)
    terms = [f"({a} + {b})//{b}", f"({a}*{b} + {c})//{b}", f"{a}*{b} % {c}", f"{a}//{b}*{b}", f"{a} % {b} + {c}"]
    return of_implication(f"{b} >= 1 and {c} >= {rng.randint(1, 3)}", _compared(rng, *rng.sample(terms, 2)))


def _of_cases(rng: random.Random) -> Callable[[], Answer]:
    atoms = ["a == 1", "b == 1", "a == b", "c == 1", "b == c", "a + b == 2*c", "c == 4", "a//2 == b"]
    return of_condition(_joined(rng, [_joined(rng, rng.sample(atoms, 2)) for _ in range(3)]))


def _of_large_numbers(rng: random.Random) -> Callable[[], Answer]:
    first, second = (_sum(rng, "abcd", 10**6) for _ in range(2))
    return required(f"{first} == {rng.randint(10**7, 10**9)}", f"{second} != {rng.randint(1, 10**8)}")


FAMILIES = (
    _of_names,
    _of_one_name,
    _of_residues,
    _of_sums,
    _of_orders,
    _of_divisions,
    _of_products,
    _of_divisors,
    _of_cases,
    _of_large_numbers,
)


def drawn() -> Iterator[Question]:
    """Yield random questions of each family."""
    for family in FAMILIES:
        for n in range(PER_FAMILY):
            yield Question(f"{family.__name__[4:]} {n}", family(random.Random(f"{family.__name__} {n}")))
