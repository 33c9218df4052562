"""Plots of traced functions: what stands at each cell, held against the function, and what is not known."""

import matplotlib as mpl
import numpy as np
import pytest

import symbcast as sb

mpl.use("Agg")


def skips(x):
    h, w = x.shape
    if min(h, w) < 2:
        raise ValueError("too small")
    half = x[: h // 2 * 2 : 2, : w // 2 * 2 : 2]
    return np.repeat(np.repeat(half, 2, 0), 2, 1) + x


def test_each_cell_is_what_the_function_does():
    found = sb.notebook.survey(sb.trace(skips, "H, W"), "H", "W", range(7))
    labels = {"too small": 0, "sizes": 0}
    for w, row in enumerate(found.rows):
        for h, cell in enumerate(row):
            try:
                assert cell.shape == skips(np.ones((h, w))).shape
            except ValueError as error:
                assert cell.outcome is sb.notebook.Outcome.FAILS
                (blamed,) = cell.blamed
                is_small = found.blames[blamed].label.endswith(f":{skips.__code__.co_firstlineno + 3}")
                assert is_small is (str(error) == "too small")
                labels["too small" if is_small else "sizes"] += 1
    assert all(labels.values())


def test_what_was_not_followed_is_said_to_be_unknown():
    report = sb.trace(lambda n: [1, 2, 3][n], sb.size("N"))
    axes = sb.notebook.plot(report, "N", sizes=range(13))
    texts = [t.get_text() for t in axes.get_legend().get_texts()]
    assert "result unknown" in texts
    assert "as far as it was traced" in " ".join(t.get_text() for t in axes.figure.findobj(mpl.text.Text))
    mpl.pyplot.close("all")


def test_a_function_of_data_has_no_plot():
    report = sb.trace(lambda x, y: x[x > 0] + y, "N", "M")
    with pytest.raises(sb.BindingError, match="depends on data"):
        sb.notebook.plot(report)
