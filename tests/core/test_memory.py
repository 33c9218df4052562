"""Many questions leave little behind: names that nobody holds any longer go, and what is remembered is bounded."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys

import pytest

import symbcast as sb

MEGABYTE = 2**20
ALLOWED = 10 * MEGABYTE
"""While the caches fill; a leak of a few hundred bytes in each call is above it at these numbers of calls."""

MEASURED = """
import gc, os
import symbcast as sb

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def call(n):
    assert sb.broadcast(f"n{n}, 3", "M, 1").verdict is sb.Verdict.SOMETIMES

def condition(n):
    result = sb.broadcast((f"n{n}", 3), ("M", 1))
    assert len(result.clauses) == 1 and result.witness() == {f"n{n}": 1, "M": 1}

def program(n):
    env = sb.ShapeEnv()
    output = env.broadcast(f"n{n}, 3", "M, 1")
    env.equal(output, f"(n{n}, 3)")
    assert env.verdict is sb.Verdict.SOMETIMES

def term(n):
    assert sb.broadcast(f"n{n}//2 + 1, {n + 2}", f"n{n}, 1").verdict is sb.Verdict.SOMETIMES

def unknown(n):
    assert sb.broadcast("?, 3", (None, 1)).verdict is sb.Verdict.SOMETIMES

def run(ask, count):
    for n in range(count // 2):
        ask(n)
    half = resident()
    for n in range(count // 2, count):
        ask(n)
    print(resident() - half)
"""

KINDS = {"call": 100_000, "condition": 30_000, "program": 900, "term": 5_000, "unknown": 20_000}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_new_names_leave_bounded_memory(kind):
    """The second half of many questions, each on a name met for the first time, takes hardly any more memory."""
    done = subprocess.run(
        [sys.executable, "-c", f"{MEASURED}\nrun({kind}, {KINDS[kind]})"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < ALLOWED


def test_a_dropped_program_needs_no_search_for_cycles():
    """Its shapes do not keep it: its memory is free at once, and Python's collector has nothing to find."""
    names = sb.shape(", ".join(f"d{n}" for n in range(100)))
    gc.collect()
    gc.disable()
    try:
        env = sb.ShapeEnv()
        outputs = [env.broadcast((left, 3), (right, 1)) for left, right in itertools.pairwise(names)]
        del env
        assert gc.collect() == 0
        assert outputs[0] == sb.broadcast("d0, 3", "d1, 1").shape
        del outputs
        assert gc.collect() == 0
    finally:
        gc.enable()
