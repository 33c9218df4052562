"""Without z3, as in a browser: what it would decide is open and says so, and the rest is answered as with it."""

from __future__ import annotations

import subprocess
import sys

DECIDED = """
import sys
if sys.argv[1:]:
    sys.modules["z3"] = None  # an import of it raises ModuleNotFoundError
import symbcast as sb
for shapes in (("N, 3", "M, 1"), ("H", "H//2*2"), ("?", "N"), ("2", "3"), ("*b, N", "M, 1"), ("N*M", "K*N + 1")):
    answer = sb.broadcast(*shapes)
    print(answer.verdict, answer.condition, answer.shape, answer.witness(), answer.counterexample(), answer.explain())
env = sb.ShapeEnv()
env.broadcast(env.matmul("b, T, d", "b, d, S"), "b, 1, M")
env.reshape("N, 6", "M, -1")
print(env.condition)
"""
OPEN = """
import sys
sys.modules["z3"] = None
import symbcast as sb
answer = sb.broadcast("N*N*N + M*M*M", "K*K*K", assume=["N >= 2", "M >= 2", "K >= 2"])
print(answer.verdict.value, answer.reason)
for call in (answer.certify, answer.to_z3):
    try:
        call()
    except sb.UndecidedError as error:
        print(error)
"""


def printed(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_what_needs_no_z3_is_the_same_without_it():
    assert printed(DECIDED, "without") == printed(DECIDED)


def test_what_needs_z3_is_open_and_says_so():
    first, *others = printed(OPEN).splitlines()
    assert first.startswith("unknown z3 is not available here")
    assert others == ["undecided: z3 is not available here"] * 2
