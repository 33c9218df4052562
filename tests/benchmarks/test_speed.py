"""How long a question takes, with peers beside it in the same run. Figures, not verdicts: nothing here fails on time.

python -m pytest tests/benchmarks --benchmark-only --benchmark-columns=median,iqr,rounds
"""

from __future__ import annotations

import numpy as np
import pytest

import symbcast as sb
from benchmarks.processes import python

LONG, SHORT = (8, 1, 6, 1), (7, 1, 5)


@pytest.mark.benchmark(group="concrete: (8, 1, 6, 1) and (7, 1, 5)")
class TestConcrete:
    def test_symbcast(self, benchmark):
        assert benchmark(lambda: sb.broadcast(LONG, SHORT)).shape == (8, 7, 6, 5)

    def test_symbcast_with_verdict_and_shape(self, benchmark):
        def ask():
            result = sb.broadcast(LONG, SHORT)
            return result.verdict, result.shape

        assert benchmark(ask) == (sb.Verdict.ALWAYS, (8, 7, 6, 5))

    def test_symbcast_text(self, benchmark):
        assert benchmark(lambda: sb.broadcast("8, 1, 6, 1", "7, 1, 5")).shape == (8, 7, 6, 5)

    def test_numpy_broadcast_shapes(self, benchmark):
        assert benchmark(lambda: np.broadcast_shapes(LONG, SHORT)) == (8, 7, 6, 5)


@pytest.mark.benchmark(group="symbolic: (N, 3) and (M, 1)")
class TestSymbolicPair:
    first, second = sb.shape("N, 3"), sb.shape("M, 1")

    def ask(self):
        return sb.broadcast(self.first, self.second)

    def test_unresolved(self, benchmark):
        assert benchmark(self.ask).operands == (self.first, self.second)

    def test_unresolved_from_text(self, benchmark):
        assert benchmark(lambda: sb.broadcast("N, 3", "M, 1")).operands == (self.first, self.second)

    def test_verdict(self, benchmark):
        assert benchmark(lambda: self.ask().verdict) is sb.Verdict.SOMETIMES

    def test_shape(self, benchmark):
        assert len(benchmark(lambda: self.ask().shape)) == 2

    def test_minimal_condition(self, benchmark):
        assert str(benchmark(lambda: self.ask().condition)) == "N == M or N == 1 or M == 1"

    def test_minimal_condition_under_assumptions(self, benchmark):
        assume = ("N >= 2", "M >= 2")
        found = benchmark(lambda: sb.broadcast(self.first, self.second, assume=assume).condition)
        assert str(found) == "N == M"

    def test_peer_jax_export(self, benchmark):
        export = pytest.importorskip("jax.export", reason="jax is not installed")
        numpy = pytest.importorskip("jax.numpy")
        n, m = export.symbolic_shape("N, M")

        def ask():
            try:
                return numpy.broadcast_shapes((n, 3), (m, 1))
            except Exception as error:  # what jax says of N beside M: it gives up
                return error

        assert benchmark(ask) is not None


TIERS = {
    "F1: three operands, facts": (("a, b, c", "b, c, a", "3, c, c"), ["a >= 2"]),
    "F2: N//2*2 and N": (("N//2*2", "N"), []),
    "F3: a + b and 2*c": (("a + b, a", "2*c, b"), []),
    "F4: a*b and c": (("a*b, a", "c, b"), []),
}


@pytest.mark.benchmark(group="condition by tier")
@pytest.mark.parametrize("tier", TIERS)
def test_tiers(benchmark, tier):
    shapes, assume = TIERS[tier]
    assert benchmark(lambda: sb.broadcast(*shapes, assume=assume).condition) is not None


@pytest.mark.benchmark(group="start-up, whole process", min_rounds=5)
class TestStartUp:
    def test_bare_python(self, benchmark):
        benchmark(python, "-c", "pass")

    def test_import_symbcast(self, benchmark):
        benchmark(python, "-c", "import symbcast")

    def test_first_symbolic_question(self, benchmark):
        benchmark(python, "-c", "import symbcast as sb; sb.broadcast('N, 3', 'M, 1').condition")
