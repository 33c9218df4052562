"""How long displays, pictures and keystrokes take. Figures, not verdicts: nothing here fails on time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symbcast as sb

pytest.importorskip("anywidget")
pytest.importorskip("matplotlib")

ATTENTION = ("batch, heads, T, P + T", "batch, 1, T, L")


@pytest.mark.benchmark(group="a result shows itself: attention with a mask")
class TestShowing:
    def test_html(self, benchmark):
        result = sb.broadcast(*ATTENTION)
        assert "T + P == L" in benchmark(result._repr_html_)

    def test_latex(self, benchmark):
        result = sb.broadcast(*ATTENTION)
        assert "P + T = L" in benchmark(result._repr_latex_)

    def test_text(self, benchmark):
        result = sb.broadcast(*ATTENTION)
        assert "T + P == L" in benchmark(result.explain)


@pytest.mark.benchmark(group="where it works on a grid of 17 by 17")
class TestGrid:
    def test_survey(self, benchmark):
        result = sb.broadcast("N, C, H, W", "C, 1, M")
        assert len(benchmark(lambda: sb.notebook.survey(result, "W", "M", range(17))).rows) == 17

    def test_evaluate(self, benchmark):
        result = sb.broadcast("N, C, H, W", "C, 1, M")

        def evaluate():
            works = 0
            for w, m in itertools.product(range(17), repeat=2):
                try:
                    result.evaluate(N=1, C=1, H=1, W=w, M=m)
                except sb.IncompatibleShapesError:
                    continue
                works += 1
            return works

        assert benchmark(evaluate) == 49

    def test_numpy_broadcast_shapes(self, benchmark):
        def evaluate():
            works = 0
            for w, m in itertools.product(range(17), repeat=2):
                try:
                    np.broadcast_shapes((1, 1, 1, w), (1, 1, m))
                except ValueError:
                    continue
                works += 1
            return works

        assert benchmark(evaluate) == 49

    def test_plot(self, benchmark):
        import matplotlib.pyplot as plt

        result = sb.broadcast("N, C, H, W", "C, 1, M")

        def draw():
            ax = sb.notebook.plot(result, "W", "M", range(17))
            plt.close(ax.figure)
            return ax

        assert benchmark(draw).get_xlabel() == "W"


TYPED = {
    "a pair": ("N, 3", "M, 1"),
    "attention": ATTENTION,
    "halves": ("H//4*4, W", "H, W//4*4"),
    "products": ("kv*groups*d, T", "width, T"),
    "maxima": ("max(a, b), min(c, d)", "a, c"),
}


@pytest.mark.benchmark(group="a keystroke in the explorer, in the kernel")
@pytest.mark.parametrize("name", TYPED)
def test_keystroke(benchmark, name):
    """The last character of a shape is typed again and again, each time with another one before it."""
    explorer = sb.notebook.explore(*TYPED[name])
    first, second = TYPED[name]
    texts = itertools.cycle([f"{first} + 1", first, first[:-1]])

    def press():
        explorer.shapes = [next(texts), second]

    benchmark.pedantic(press, rounds=100)
    assert explorer.checked["serial"] > 1
