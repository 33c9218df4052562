"""Who answers what: the same programs given to symbcast, jax, torch and tvm, and judged against brute force.

python -m pytest tests/benchmarks/test_peers.py --benchmark-enable

prints the tables: what each said, and what that is worth with the time per operation. Nothing
here fails on time, or on what others answer; symbcast's answers have to be exact.
"""

from __future__ import annotations

import warnings

import pytest

from benchmarks.peers import jax, symbcast, torch, tvm
from benchmarks.peers.judging import Truth, judged
from benchmarks.peers.programs import PROGRAMS
from benchmarks.peers.running import NotAskedError
from benchmarks.peers.table import Row

OTHERS = {name: (module, run) for module in (jax, torch, tvm) for name, run in module.CONTESTANTS.items()}
LONG = 5000
"""Programs of more steps than that are given to symbcast alone."""


def ask(benchmark, run, program):
    """Run a program with everything made anew each time; return the last run and the median time per operation."""
    runs = []

    def setup():
        runs[:] = [run(program)]
        return (runs[0],), {}

    is_long = len(program.steps) > 100
    rounds = 3 if is_long else 20
    benchmark.pedantic(lambda made: made.run(), setup=setup, rounds=rounds, warmup_rounds=0 if is_long else 2)
    stats = benchmark.stats
    return runs[0], None if stats is None else stats.stats.median / runs[0].done


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
class TestPeers:
    def test_symbcast(self, program, benchmark, rows):
        benchmark.group = program.name
        done, seconds = ask(benchmark, symbcast.SymbcastRun, program)
        answer = done.answer()
        worth = judged(program, answer)
        if seconds is not None:
            rows.append(Row(program.name, symbcast.NAME, symbcast.core(), worth, answer, seconds))
        assert worth == ("exact" if Truth.of(program).valid.any() else "rightly refused")

    @pytest.mark.parametrize("name", OTHERS)
    def test_others(self, program, name, benchmark, rows):
        if not benchmark.enabled:
            pytest.skip("others are asked with --benchmark-enable")
        benchmark.group = program.name
        module, run = OTHERS[name]
        if len(program.steps) > LONG:
            pytest.skip("this one is for symbcast alone")
        try:
            # Their warnings (of Python's own deprecations, say) are not ours to fail on.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                version = module.version()
                done, seconds = ask(benchmark, run, program)
        except ImportError as error:
            rows.append(Row(program.name, name, "", f"not asked: {error}"))
            pytest.skip(f"not installed: {error}")
        except NotAskedError as error:
            rows.append(Row(program.name, name, version, f"not asked: {error}"))
            pytest.skip(str(error))
        answer = done.answer()
        rows.append(Row(program.name, name, version, judged(program, answer), answer, seconds))
