"""The same question has the same answer in any order, in any process, under any hash seed, on a busy machine."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from solver.test_z3_solver import run

QUESTIONS = """
    import random, sys
    from itertools import combinations
    import symbcast as sb

    QUESTIONS = [
        (("N, 3", "M, 1"), ()),
        (("a, b, c", "b, c, a", "c, a, b"), ()),
        (("2*N", "N"), ()),
        (("N//2", "N"), ()),
        (("2*N + M", "M"), ()),
        (("N*M", "M"), ()),
        (("N*M", "K"), ("K >= 2",)),
        (("N*M", "K*L"), ("N + K == 7",)),
        (("max(N, M, K)", "min(N, 4)"), ()),
        (("2..5, ?", "M, 4.."), ()),
        (("a + b", "c + d"), ("a < c",)),
        (("a//3 + b%4", "c"), ()),
        (("a//b", "c"), ("b >= 2",)),
        (("a % b", "c"), ("a > b",)),
        (("3*a + 5*b", "7*c + 11"), ()),
        (("3*a + 5*b", "7*c + 11"), ("a != b", "b != c", "a != c")),
        (("6*a + 10*b + 15*c", "29"), ()),
        (("12343*a + 98765*b + 55557*c + 77773*d", "100000007"), ()),
        (("123456791*a + 987654321*b + 555555557*c", "10000000000037"), ()),
        (("1234*a + 9876*b", "5555*c + 77773"), ("a < b",)),
        (("a*a + b*b", "c*c"), ("a >= 1", "b >= 1")),
        (("a*a*a + b*b*b", "c*c*c"), ("a >= 1", "b >= 1")),
        (("a*b*c", "d + 1", "2*e"), ()),
        (("a + 2*b, c", "b + 3, 2*c"), ()),
        (("max(a, b)", "max(b, c)", "max(c, a)"), ()),
        (("broadcast(N, M)", "2*K"), ()),
        (("N", "2, M", "3, K, 1"), ()),
        (("(N + 2*p - k)//s + 1", "M"), ("s >= 1", "k >= 1")),
        (("4*a - 3*b", "5"), ("3*b <= 4*a",)),
        (("a", "b", "c", "d"), ("a >= 2", "c % 2 == 0", "d == 3 or d == 5")),
        (("a - b", "c"), ("a + c <= 20", "b <= a", "a % 3 == 1")),
        (("max(" + ", ".join(f"s{n}" for n in range(30)) + ")", "N"), ()),
        ((" + ".join(f"s{n}" for n in range(60)), "N"), ()),
        (("a*b", "c"), ("a + b == 10", "c <= 20")),
        (("a*b", "a + b"), ("a != b",)),
        (("x0 + x1 + x2 + x3", "6"), tuple(f"x{a} != x{b}" for a, b in combinations(range(4), 2))),
        (("x0 + x1 + x2 + x3", "5"), tuple(f"x{a} != x{b}" for a, b in combinations(range(4), 2))),
        (("7*a + 12*b + 17*c", "7*d + 200"), ("d <= 3",)),
        (("min(a, b) + max(a, b)", "c"), ("c == 9", "a < b")),
        (("a//2, b//2", "b, c"), ("a >= 3",)),
    ]

    def answer(question):
        shapes, assumed = question
        try:
            r = sb.broadcast(*shapes, assume=list(assumed))
        except sb.SymbcastError as error:
            return f"{type(error).__name__}: {error}"
        said = r.verdict, r.condition, r.witness(), r.counterexample(), r.shape, sorted(map(str, r.unproven)), r.reason
        return " ".join(map(str, said))

    order = list(range(len(QUESTIONS)))
    random.Random(SEED).shuffle(order)
    answers = {n: answer(QUESTIONS[n]) for n in order}
    for n in sorted(answers):
        print(n, answers[n])
"""

BUSY = "while True: pass"


def answers(seed):
    return run(QUESTIONS.replace("SEED", str(seed)), seed=str(seed), timeout=300)


def test_answers_do_not_depend_on_order_hash_seed_or_load():
    """Each process asks in an order of its own, under a hash seed of its own; some beside two that are busy."""
    first = answers(0)
    assert first.count("\n") >= 40
    assert first.count("Verdict.") >= 36
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    try:
        with ThreadPoolExecutor(2) as pool:
            for other in pool.map(answers, range(1, 4)):
                assert other.splitlines() == first.splitlines()
    finally:
        for process in busy:
            process.kill()
            process.wait()
