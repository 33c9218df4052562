"""Plots: what is drawn at every cell against brute force, what is written around it, and that all can be told apart."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from itertools import combinations, pairwise, product

import matplotlib as mpl
import numpy as np
import pytest
import small_models
import sympy

import symbcast as sb
from symbcast.notebook.subjects import FailureSource
from symbcast.notebook.surveys import Cell, Outcome, Survey, survey

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patches import PathPatch
from matplotlib.transforms import Bbox

from symbcast.notebook import plot, plots
from symbcast.notebook.figures.colours import MARKS, AnyPage, Page, Shading, ink_on
from symbcast.notebook.words import MOST, categories

PAGES = {"light": nullcontext, "dark": lambda: plt.style.context("dark_background")}
FIRST = sb.broadcast("N, 3", "M, 1")
TWO_AXES = sb.broadcast("N, K", "M, N")


@pytest.fixture(autouse=True)
def _no_figures_are_left():
    yield
    plt.close("all")


def meshes(ax):
    return [c for c in ax.collections if isinstance(c, QuadMesh)]


def texts(ax):
    """Return what is written into cells, by place; titles are not in the cells."""
    return {t.get_position(): t.get_text() for t in ax.texts if t.get_transform() == ax.transData}


def legend_texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def patches(ax):
    return [p for p in ax.patches if isinstance(p, PathPatch)]


def patch_at(ax, x, y):
    """Return the one patch that covers a place, None where none does."""
    found = [p for p in patches(ax) if p.get_path().contains_point((x, y))]
    assert len(found) <= 1
    return found[0] if found else None


def legend_patch(ax, label):
    legend = ax.get_legend()
    (found,) = [h for h, t in zip(legend.legend_handles, legend.get_texts(), strict=True) if t.get_text() == label]
    return found


def inside(figure):
    """Return whether all that is drawn of a figure lies within it."""
    figure.draw_without_rendering()
    box, whole = figure.get_tightbbox(), figure.bbox_inches
    return box.x0 >= -0.01 and box.y0 >= -0.01 and box.x1 <= whole.x1 + 0.01 and box.y1 <= whole.y1 + 0.01


CALLS = [
    (FIRST, {}, 0),
    (FIRST, {"axis": 1}, 1),
    (FIRST, {"axis": -2, "sizes": [1, 2, 4, 1024]}, 0),
    (FIRST, {"sizes": range(0, 40, 5), "y_sizes": (3, 1, 7)}, 0),
    (sb.broadcast("3, N", "3, M"), {}, 1),
    (TWO_AXES, {"fixed": {"K": 3}}, 0),
    (sb.broadcast("N - 1, N//M", "3, 2", assume=["N >= 1", "M % 3 != 1"]), {}, 0),
    (sb.broadcast("N", "N, M", rule="none"), {}, None),
    (sb.broadcast("N**16", "M"), {"sizes": [0, 1, 2, 90]}, 0),
    (sb.broadcast("N, M", "3, 4"), {"x": "M", "y": "N", "sizes": range(60)}, 0),
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("result", "options", "axis"), CALLS, ids=str)
def test_every_cell_is_drawn_as_it_is(result, options, axis, page):
    with PAGES[page]():
        ax = plot(result, **options)
        ax.figure.draw_without_rendering()
    sizes = list(options.get("sizes", range(17)))
    y_sizes = list(options.get("y_sizes", sizes))
    x, y = options.get("x", "N"), options.get("y", "M")
    array = meshes(ax)[0].get_array().reshape(len(y_sizes), len(sizes)) if meshes(ax) else None
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    for (j, y_size), (i, x_size) in product(enumerate(y_sizes), enumerate(sizes)):
        place = left + (i + 0.5) * (right - left) / len(sizes), low + (j + 0.5) * (high - low) / len(y_sizes)
        patch = patch_at(ax, *place)
        try:
            shape = result.evaluate({x: x_size, y: y_size, **options.get("fixed", {})})
        except sb.IncompatibleShapesError:
            assert patch.get_hatch()
            assert array is None or array.mask[j, i]
        except sb.BindingError:
            assert not patch.get_hatch()
            assert array is None or array.mask[j, i]
        else:
            assert patch is None
            assert array[j, i] == float(shape[axis])


def test_what_is_written_around_the_first_example():
    ax = plot(FIRST, "N", "M", range(17))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("N", "M")
    assert ax.get_title("left") == "numpy: (N, 3), (M, 1)"
    assert "works where N == M or N == 1 or M == 1" in [t.get_text() for t in ax.texts]
    assert legend_texts(ax) == ["works, with the size of output axis 0", "fails on axis 0 (-2)"]
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    assert bar.get_ylabel() == "size of output axis 0"
    assert [t.get_text() for t in bar.get_yticklabels()] == [str(n) for n in range(17)]
    for axis in (ax.xaxis, ax.yaxis):
        assert [t.get_text() for t in axis.get_ticklabels()] == [str(n) for n in range(17)]
    assert texts(ax)[4, 4] == texts(ax)[1, 4] == texts(ax)[4, 1] == "4"
    assert len(texts(ax)) == len(meshes(ax)[0].get_array().compressed())


@pytest.mark.parametrize("stop", [18, 33, 201, 500])
def test_ticks_are_sizes(stop):
    ax = plot(FIRST, "N", "M", range(stop))
    ax.figure.draw_without_rendering()
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        shown = {float(p): t.get_text() for p, t in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)}
        shown = {place: text for place, text in shown.items() if low <= place <= high}
        assert all(text == str(int(place)) == f"{place:g}" for place, text in shown.items())
        assert 4 <= len(shown) <= 18
        boxes = [
            t.get_window_extent()
            for p, t in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            if low <= p <= high
        ]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_sizes_that_are_not_even_are_named_where_they_are():
    ax = plot(FIRST, "N", "M", [1, 2, 4, 1024])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2", "4", "1024"]
    assert list(ax.get_xticks()) == [0, 1, 2, 3]
    ax = plot(FIRST, "N", "M", range(0, 4096, 512))
    assert list(ax.get_xticks()) == list(range(0, 4096, 512))


LARGE = [
    (sb.broadcast("N", "M"), [2**60, 2**60 + 1, 2**60 + 2], [str(2**60), str(2**60 + 1), str(2**60 + 2)]),
    (sb.broadcast("N**16*M**16", "M**16*N**16"), [1, 2**62, 2**63 - 1], ["1", str(2**62), str(2**63 - 1)]),
    (sb.broadcast("N", "M"), [3, 3, 1], ["3", "3", "1"]),
    (sb.broadcast("N", "M"), range(3, 0, -1), ["3", "2", "1"]),
]


@pytest.mark.parametrize(("result", "sizes", "labels"), LARGE, ids=str)
def test_large_sizes_and_sizes_in_another_order(result, sizes, labels):
    ax = plot(result, "N", "M", sizes)
    assert [t.get_text() for t in ax.get_yticklabels()] == labels
    assert inside(ax.figure)
    assert meshes(ax)[0].get_array().shape == (3, 3)
    assert not np.ma.getmaskarray(meshes(ax)[0].get_array())[np.eye(3, dtype=bool)].any()


def test_a_strip_of_one_symbol():
    for ax in (plot(sb.broadcast("N", "3"), "N", range(9)), plot(sb.broadcast("N", "3"), sizes=range(9))):
        assert not ax.yaxis.get_visible()
        assert legend_texts(ax) == ["works: output axis 0 is 3", "fails on axis 0 (-1)"]
        assert texts(ax) == {(1, 0): "3", (3, 0): "3"}
        assert ax.figure.axes == [ax], "no colour bar for one size"
        assert ax.figure.get_figheight() < 2
    ax = plot(FIRST, "N", range(60), fixed={"M": 1})
    assert legend_texts(ax) == ["works, shaded by the size of output axis 0"]
    assert "M = 1 · works where" in ax.texts[-1].get_text()
    assert len(ax.figure.axes) == 2


def test_each_kind_of_failure_has_its_own_mark():
    ax = plot(TWO_AXES, "N", "M", range(9), fixed={"K": 3})
    labels = ["fails on axis 0 (-2)", "fails on axes 0 and 1", "fails on axis 1 (-1)"]
    assert legend_texts(ax)[1:] == labels
    for label, (n, m) in zip(labels, [(3, 2), (2, 3), (2, 2)], strict=True):
        drawn, shown = patch_at(ax, n, m), legend_patch(ax, label)
        assert drawn.get_hatch() == shown.get_hatch()
        assert drawn.get_facecolor() == shown.get_facecolor()
    assert len({patch.get_hatch() for patch in patches(ax)}) == 3


def test_many_kinds_of_failure_are_grouped():
    ax = plot(sb.broadcast("N, M, N + M, K, M", "3, N, 4, N, 2*N"), "N", "M", range(13), fixed={"K": 3})
    assert legend_texts(ax) == [
        "works: output axis 0 is 3",
        "fails on axes 0, 1, 2, 3 and 4",
        "fails on axes 0, 2 and 3",
        "fails on axis 0 (-5) first",
        "fails on axis 1 (-4) first",
        "fails on axis 2 (-3) first",
        "fails on axis 4 (-1) first",
    ]


def made_up(*sets, blames=9):
    """Return a survey whose cells fail by the given sets of blamed."""
    row = tuple(Cell(Outcome.FAILS, None, blamed) for blamed in sets)
    named = tuple(FailureSource(f"axis {n} ({n - blames})", n) for n in range(blames))
    return Survey(("N",), (tuple(range(len(row))),), {}, named, (row,))


@pytest.mark.parametrize("count", range(1, 9))
def test_every_failure_is_of_one_kind_and_kinds_are_few(count):
    sets = [blamed for size in (1, 2, 3) for blamed in combinations(range(count), size)]
    found = made_up(*sets, *sets[: len(sets) // 2])
    kinds = categories([found], found.blames)
    assert 1 <= len(kinds) <= MOST
    assert sorted(blamed for kind in kinds for blamed in kind.blamed) == sorted(sets)
    assert len({kind.label for kind in kinds}) == len(kinds)
    if len(sets) <= MOST:
        assert all(len(kind.blamed) == 1 for kind in kinds)
    elif count <= MOST:
        assert all(len({blamed[0] for blamed in kind.blamed}) == 1 for kind in kinds)
    else:
        assert "fails elsewhere" in [kind.label for kind in kinds]


def test_what_is_excluded():
    ax = plot(sb.broadcast("N", "M", assume=["N >= 2", "M % 2 == 0"]), "N", "M", range(5))
    label = "excluded by N >= 2, M % 2 == 0"
    assert legend_texts(ax)[-1] == label
    assert patch_at(ax, 3, 3).get_facecolor() == legend_patch(ax, label).get_facecolor()
    ax = plot(sb.broadcast("N", "M", min_size=1))
    assert legend_texts(ax)[-1] == "excluded by the assumptions"


def test_programs_and_models():
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "M, 3", origin="add_3")
    env.broadcast("N", "4", origin="bias")
    ax = plot(env, "N", "M", range(6))
    assert ax.get_title("left") == "2 operations over 2 sizes"
    assert legend_texts(ax) == ["works", "fails at add_3", "fails at bias"]
    assert ax.figure.axes == [ax]
    pytest.importorskip("onnx")
    report = sb.onnx.check(small_models.small_model("mask"), assume="C >= 2")
    ax = plot(report, "B", "C", range(5), fixed={"T": 2})
    assert legend_texts(ax) == ["works", "fails at n0", "excluded by C >= 2"]
    assert "T = 2, S = 1" in ax.texts[-1].get_text()


HOSTILE = ["$x^2$", "_hidden", "\\frac{", "$", "a_b^c", "two\nlines", "<b>&amp;", "%s {} {0}", "x" * 300]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_as_they_are(name):
    N, M = sympy.Symbol(name, integer=True, nonnegative=True), sb.symbol("M")
    result = sb.broadcast((N, 3), (M, 1), assume=sympy.Ge(N, 1))
    shown = name.replace("\n", " ")
    ax = plot(result, N, M, range(5))
    assert ax.get_xlabel().startswith(shown[:20])
    assert inside(ax.figure)
    env = sb.ShapeEnv()
    env.broadcast((N,), (M,), origin=name)
    ax = plot(env, N, M, range(5))
    assert legend_texts(ax)[-1].startswith(f"fails at {shown[:20]}")
    assert inside(ax.figure)
    written = [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, ax.texts[-1], *ax.get_legend().get_texts()]
    assert not any(text.get_parse_math() for text in written if text.get_text())
    panels = plots(result, M, None, range(4), each={N: (1, 2)})
    assert panels[1].get_title("left").startswith(shown[:20])
    assert inside(panels[0].figure)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("subject", [FIRST, TWO_AXES, sb.broadcast("N, 3", "M, 4"), sb.broadcast("N", "3")], ids=str)
@pytest.mark.parametrize("sizes", [[2], range(1, 4), range(17), range(201), [1, 10**6]], ids=str)
def test_nothing_is_cut(subject, sizes, page):
    with PAGES[page]():
        ax = plot(subject, sizes=sizes)
        assert inside(ax.figure)
        legend = ax.get_legend().get_window_extent()
        assert not legend.overlaps(ax.get_window_extent())
        assert not legend.overlaps(ax.xaxis.label.get_window_extent())
        assert not ax._left_title.get_window_extent().overlaps(ax.texts[-1].get_window_extent())
        assert ax.get_window_extent().width > 0.6 * (ax.figure.bbox.width - 60), "the legend does not squeeze the axes"


def test_given_axes_are_drawn_into():
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(11, 4.5))
    assert plot(FIRST, ax=right) is right
    assert not left.collections
    assert meshes(right)
    assert inside(figure)
    assert plt.get_fignums() == [figure.number]


def test_an_operation_called_ranks_is_an_operation():
    env = sb.ShapeEnv()
    env.broadcast("N", "M", origin="ranks")
    found = survey(env, "N", "M", range(4))
    assert [kind.label for kind in categories([found], found.blames)] == ["fails at ranks"]
    refused = survey(sb.broadcast("N", "N, M", rule="none"), "N", "M", range(4))
    assert [kind.label for kind in categories([refused], refused.blames)] == ["fails because of the ranks"]


def around(ax):
    """Return all that a plot takes up: its axes with titles and legend, and its colour bar."""
    ax.figure.draw_without_rendering()
    bars = [o for o in ax.figure.axes if getattr(o, "_colorbar_info", {}).get("parents") == [ax]]
    return Bbox.union([part.get_tightbbox() for part in (ax, *bars)])


@pytest.mark.parametrize("size", [(8, 7), (14, 6)], ids=str)
def test_given_axes_give_room_where_there_is_no_layout(size):
    figure, grid = plt.subplots(2, 2, figsize=size)
    subjects = [FIRST, TWO_AXES, sb.broadcast("N", "M", assume=["N >= 2", "M % 2 == 0"]), FIRST]
    for ax, subject in zip(grid.flat, subjects, strict=True):
        plot(subject, "N", "M", ax=ax)
    assert inside(figure)
    boxes = [around(ax) for ax in grid.flat]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    figure.tight_layout()
    assert inside(figure)


def test_a_colour_bar_is_as_high_as_its_axes():
    for layout in (None, "constrained"):
        figure, (ax, _) = plt.subplots(1, 2, layout=layout)
        plot(FIRST, ax=ax)
        figure.draw_without_rendering()
        (bar,) = [other for other in figure.axes if other.get_ylabel().startswith("size of")]
        assert bar.get_window_extent().height == pytest.approx(ax.get_window_extent().height, rel=0.1)


@pytest.mark.parametrize("size", [(1, 1), (2, 1.5), (3, 2)], ids=str)
def test_small_axes_keep_half_of_their_height(size):
    _, ax = plt.subplots(figsize=size)
    before = ax.get_window_extent()
    plot(TWO_AXES, ax=ax)
    after = ax.get_window_extent()
    assert after.height >= 0.49 * before.height
    assert after.width >= 0.49 * before.width


NO_AXES = {
    "polar": lambda: plt.figure().add_subplot(projection="polar"),
    "3d": lambda: plt.figure().add_subplot(projection="3d"),
    "figure": plt.figure,
    "list": lambda: list(plt.subplots(1, 2)[1]),
    "name": lambda: "ax",
}


@pytest.mark.parametrize("kind", NO_AXES)
def test_what_cannot_be_drawn_into(kind):
    with pytest.raises(sb.ShapeTypeError, match="is not axes for drawing a grid"):
        plot(FIRST, ax=NO_AXES[kind]())


def test_given_axes_need_not_be_fresh():
    _, ax = plt.subplots(layout="constrained")
    ax.set(xscale="log", yscale="log")
    ax.invert_xaxis()
    with mpl.rc_context({"pcolor.shading": "gouraud"}):
        plot(FIRST, "N", "M", range(4), ax=ax)
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 3.5), (-0.5, 3.5))
    assert list(ax.get_xticks()) == list(ax.get_yticks()) == [0, 1, 2, 3]
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")


@pytest.mark.parametrize("count", [1, 3, 6, 7])
def test_title_and_legend_begin_where_the_first_axes_do(count):
    axes = plots(TWO_AXES, "N", "M", range(5), each={"K": range(count)})
    figure = axes[0].figure
    assert inside(figure)
    left = axes[0].get_window_extent().x0
    (legend,) = figure.legends
    assert figure._suptitle.get_window_extent().x0 == pytest.approx(left, abs=3)
    assert legend.get_window_extent().x0 == pytest.approx(left, abs=3)
    assert not any(legend.get_window_extent().overlaps(ax.get_tightbbox()) for ax in axes)
    assert not any(figure._suptitle.get_window_extent().overlaps(ax.get_tightbbox()) for ax in axes)


def test_every_column_of_plots_has_its_sizes():
    axes = plots(TWO_AXES, "N", "M", range(5), each={"K": range(6)})
    assert [ax.get_xlabel() for ax in axes] == ["", "", "N", "N", "N", "N"]
    assert [ax.get_ylabel() for ax in axes] == ["M", "", "", "", "M", ""]
    for ax in axes:
        ax.figure.draw_without_rendering()
        assert ax.xaxis.get_tick_params()["labelbottom"] is bool(ax.get_xlabel())
        assert ax.yaxis.get_tick_params()["labelleft"] is bool(ax.get_ylabel())


def test_plots_beside_each_other_share_legend_and_scale():
    axes = plots(TWO_AXES, "N", "M", range(6), each={"K": (1, 2, 3)})
    figure = axes[0].figure
    assert [ax.get_title("left") for ax in axes] == ["K = 1", "K = 2", "K = 3"]
    for ax, size in zip(axes, (1, 2, 3), strict=True):
        found = survey(TWO_AXES, "N", "M", range(6), fixed={"K": size})
        array = meshes(ax)[0].get_array().reshape(6, 6)
        works = [[c.outcome is Outcome.WORKS for c in row] for row in found.rows]
        assert (~np.ma.getmaskarray(array) == np.array(works)).all()
        assert ax.get_legend() is None
    assert len({id(meshes(ax)[0].norm) for ax in axes}) == 1
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == [
        "works, with the size of output axis 0",
        "fails on axis 0 (-2)",
        "fails on axes 0 and 1",
        "fails on axis 1 (-1)",
    ]
    assert figure.get_suptitle() == "numpy: (N, K), (M, N)"
    assert len(figure.axes) == 4, "one colour bar"
    assert inside(figure)


def test_plots_of_several_symbols():
    result = sb.broadcast("N, K, 1", "M, L, J")
    axes = plots(result, each={"K": range(2), sympy.Symbol("L"): iter((1, 2, 3))}, sizes=iter(range(4)), fixed={"J": 5})
    assert [ax.get_title("left") for ax in axes] == [f"K = {k}, L = {m}" for k in range(2) for m in (1, 2, 3)]
    assert (axes[0].get_ylabel(), axes[1].get_ylabel()) == ("M", "")
    assert axes[0].figure.get_suptitle().endswith("· J = 5")
    (strip,) = plots(result, "N", sizes=range(5), each={"K": [1]})
    assert not strip.yaxis.get_visible()
    assert len(plots(result, each={"K": range(7)}, sizes=range(3))) == 7


BAD = [
    ({"axis": 2}, sb.BindingError, ["axis=2 is not an axis of the output", "from -2 to 1"]),
    ({"axis": -3}, sb.BindingError, ["axis=-3 is not an axis"]),
    ({"axis": True}, sb.BindingError, ["axis=True is not an axis"]),
    ({"axis": "0"}, sb.BindingError, ["axis='0' is not an axis"]),
    ({"x": "n"}, sb.BindingError, ["no size here is named 'n'"]),
    ({"x": "N", "y": "N"}, sb.BindingError, ["N is named for both axes"]),
    ({"y": "M"}, sb.BindingError, ["no symbol is left for the first axis"]),
    ({"x": "N", "y": 3, "sizes": (1, 2)}, sb.BindingError, ["3 is not the name of a size"]),
    ({"x": "N", "y": 3}, sb.BindingError, ["3 are not sizes of N"]),
    ({"sizes": []}, sb.BindingError, ["the sizes of N are empty"]),
    ({"sizes": range(600)}, sb.BindingError, ["at most 250,000"]),
    ({"fixed": {"N": 1, "M": 1}}, sb.BindingError, ["no symbol is left"]),
    ({"x": "N", "fixed": {"N": 1}}, sb.BindingError, ["N cannot both vary and be fixed"]),
]


@pytest.mark.parametrize(("options", "error", "pieces"), BAD)
def test_what_cannot_be_plotted(options, error, pieces):
    with pytest.raises(error) as caught:
        plot(FIRST, **options)
    for piece in pieces:
        assert piece in str(caught.value)
    assert plt.get_fignums() == [], "nothing is half drawn"


BAD_EACH = [
    ({}, ["does not map names to the sizes"]),
    ([1, 2], ["does not map names to the sizes"]),
    ({"J": (1, 2)}, ["no size here is named 'J'"]),
    ({"K": 3}, ["3 are not sizes of K"]),
    ({"K": "123"}, ["'123' are not sizes of K"]),
    ({"K": [-1]}, ["K=-1 is not a size"]),
    ({"K": []}, ["each has no sizes"]),
    ({"K": range(10**9)}, ["more than 36 plots"]),
    ({"K": range(7), "N": range(7)}, ["more than 36 plots"]),
    ({"K": (1,), "N": (1,), "M": (1,)}, ["no symbol is left"]),
]


@pytest.mark.parametrize(("each", "pieces"), BAD_EACH)
def test_what_cannot_be_shown_beside_each_other(each, pieces):
    with pytest.raises(sb.BindingError) as caught:
        plots(TWO_AXES, each=each)
    for piece in pieces:
        assert piece in str(caught.value)
    assert plt.get_fignums() == []


def test_other_errors():
    with pytest.raises(sb.BindingError, match="K is both in each and fixed at 2"):
        plots(TWO_AXES, each={"K": (1,)}, fixed={"K": 2})
    with pytest.raises(sb.BindingError, match="needs a single output"):
        env = sb.ShapeEnv()
        env.broadcast("N", "M")
        plot(env, axis=0)
    with pytest.raises(sb.BindingError, match="its rank is 0"):
        plot(sb.broadcast((), assume=sb.Condition("N >= 1")), axis=0)
    with pytest.raises(sb.BindingError, match="all sizes here are integers"):
        plot(sb.broadcast((2,), (3,)))
    with pytest.raises(sb.ShapeTypeError, match="is not a result"):
        plot("N, 3")


def test_no_global_state_is_changed():
    before = dict(mpl.rcParams)
    with PAGES["dark"]():
        plot(FIRST)
    plots(TWO_AXES, each={"K": (1, 2)}, sizes=range(4))
    assert dict(mpl.rcParams) == before


def test_without_matplotlib_the_extra_is_named():
    code = """
import sys
sys.modules["matplotlib"] = None
import symbcast as sb
for call in (sb.notebook.plot, lambda result: sb.notebook.plots(result, each={"N": (1,)})):
    try:
        call(sb.broadcast("N", "M"))
    except sb.MissingExtraError as error:
        assert "pip install '.[notebook]'" in str(error) and "symbcast.notebook.plot" in str(error)
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Whether what is drawn can be told apart: Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.

VISION = {
    "all colours": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "no colours": [[0.2126, 0.7152, 0.0722]] * 3,
}
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour, vision="all colours"):
    """Return a colour in CIELAB (D65) as it is seen."""
    given = np.array(to_rgb(colour))
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    xyz = _TO_XYZ @ np.clip(np.array(VISION[vision]) @ linear, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one, other, vision):
    return np.linalg.norm(lab(one, vision) - lab(other, vision))


COLOURS = {"light": Page("white", "black"), "dark": Page("black", "white")}


@pytest.mark.parametrize("page", COLOURS.values(), ids=COLOURS)
@pytest.mark.parametrize("vision", VISION)
def test_colours_are_told_apart(page, vision):
    tints = [page.tint(mark) for mark in MARKS]
    assert len({mark.hatch for mark in MARKS}) == len(MARKS) == MOST
    if vision != "no colours":  # there the hatches tell
        assert min(distance(a, b, vision) for a, b in combinations(tints, 2)) >= 5.5
    for mark, tint in zip(MARKS, tints, strict=True):
        assert distance(page.line(mark), tint, vision) >= 14, "the hatch is seen on its tint"
        assert distance(page.background, tint, vision) >= 3.5
    shades = [page.works(n / 16) for n in range(17)]
    for shade in shades:
        assert min(distance(shade, tint, vision) for tint in (*tints, page.background, page.excluded)) >= 14
    assert distance(page.excluded, page.background, vision) >= 4


@pytest.mark.parametrize("page", COLOURS.values(), ids=COLOURS)
def test_lightness_tells_where_it_works_and_which_size_is_larger(page):
    shades = [lab(page.works(n / 16))[0] for n in range(17)]
    steps = np.diff(shades)
    assert (steps > 1.2).all() if page.is_dark else (steps < -1.2).all()
    failing = [lab(page.tint(mark))[0] for mark in MARKS]
    assert max(failing) + 8 < min(shades) if page.is_dark else min(failing) > max(shades) + 8


@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot", "grayscale", "Solarize_Light2", "bmh"])
def test_any_style_will_do(style):
    with plt.style.context(style):
        ax = plot(FIRST)
        background, ink = ax.get_facecolor(), mpl.rcParams["text.color"]
        if style == "default":  # it is not drawn on, but on the page
            background, ink = AnyPage().border, AnyPage.INK
        assert inside(ax.figure)
    for patch in patches(ax):
        assert distance(patch.get_facecolor(), background, "all colours") >= 2
    assert ax._left_title.get_color() == ink
    (borders,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert to_rgb(borders.get_colors()[0]) == to_rgb(background)


@pytest.mark.parametrize("points", [6, 16, 24])
def test_letters_of_any_size_leave_room_for_the_cells(points, recwarn):
    with mpl.rc_context({"font.size": points}):
        for ax in (plot(FIRST), plot(FIRST, "N", range(9)), plots(TWO_AXES, each={"K": (1, 2)})[0]):
            assert inside(ax.figure)
            assert not any(a.overlaps(b) for a, b in pairwise([t.get_window_extent() for t in ax.get_xticklabels()]))
            assert ax.get_window_extent().width > 0.25 * ax.figure.bbox.width
    assert not recwarn.list


def test_numbers_in_cells_are_legible():
    for page in COLOURS.values():
        found = survey(FIRST, "N", "M", range(17))
        shading = Shading([found], 0, page)
        for size in range(17):
            colour = shading.colour(size)
            assert distance(ink_on(colour), colour, "all colours") >= 45


GROUNDS = {"white": "white", "JupyterLab's dark": "#111111", "black": "black"}


def on(colour, ground):
    """Return a colour as it is seen on a ground, with its opacity."""
    red, green, blue, opacity = to_rgba(colour)
    return tuple(opacity * c + (1 - opacity) * g for c, g in zip((red, green, blue), to_rgb(ground), strict=True))


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("vision", VISION)
def test_colours_without_a_ground_are_told_apart_on_any(ground, vision):
    page = AnyPage()
    tints, excluded = [on(page.tint(mark), ground) for mark in MARKS], on(page.excluded, ground)
    if vision != "no colours":  # there the hatches tell
        assert min(distance(a, b, vision) for a, b in combinations(tints, 2)) >= 5.5
    for mark, tint in zip(MARKS, tints, strict=True):
        assert distance(page.line(mark), tint, vision) >= 14, "the hatch is seen on its tint"
        assert distance(ground, tint, vision) >= 3.5
    for shade in (page.works(n / 16) for n in range(17)):
        assert min(distance(shade, other, vision) for other in (*tints, ground, excluded)) >= 12
    assert distance(excluded, ground, vision) >= 4


@pytest.mark.parametrize("ground", ["white", "#111111", "#0d1117"])
def test_words_without_a_ground_can_be_read_on_any(ground):
    def light(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(ground), light(AnyPage.INK)))
    # 4.5 on a page of either kind is more than there is between white and these.
    assert (bright + 0.05) / (dark + 0.05) >= 4.3


def test_a_figure_of_our_own_has_no_ground_and_says_what_is_in_it():
    figure = plot(sb.broadcast("batch, heads, T, T + P", "batch, 1, 1, S")).figure
    assert to_rgba(figure.get_facecolor())[3] == 0
    assert figure.description == (
        "Plot of where it works and where it fails, for sizes of T (0 to 16) and S (0 to 16), with batch = 1,"
        " heads = 1, P = 1. numpy: (batch, heads, T, T + P), (batch, 1, 1, S) works where T + P == S or T + P == 1"
        " or S == 1. Of 289 cells, 48 work and 241 fail. It fails on axis 3 (-1)."
    )
    assert b"Description" in figure.as_png()
    panels = plots(TWO_AXES, each={"K": (1, 2)})
    assert panels[0].figure.description.count("Plot of") == 2
    _, ax = plt.subplots()
    plot(FIRST, ax=ax)
    assert to_rgba(ax.figure.get_facecolor())[3] == 1, "a caller's figure is as it is"


def test_a_figure_is_displayed_with_its_alternative_text():
    code = """
import symbcast as sb
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
figure = sb.notebook.plot(sb.broadcast("'<b>', 3", "M, 1")).figure
with capture_output() as shown:
    shell.display_formatter.format(figure)
(output,) = shown.outputs
assert output.metadata["image/png"]["alt"] == output.data["text/plain"] == figure.description
assert output.data["text/html"].startswith('<img style="max-width:100%;height:auto" alt="Plot of where it works')
assert "&lt;b&gt;" in output.data["text/html"] and "<b>" not in output.data["text/html"]
assert "needs_background" not in output.metadata
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "MPLBACKEND": "agg"})


def test_an_outcome_that_is_not_there_is_told():
    result = sb.broadcast("T, T + P", "1, S")
    ax = plot(result, "T", "P", fixed={"S": 1})
    assert "nothing fails at these sizes; it fails at T=1, P=1, S=3" in [text.get_text() for text in ax.texts]
    assert inside(ax.figure)
    assert "nothing fails" in ax.figure.description


def test_panels_have_the_sizes_of_all():
    result = sb.broadcast("N, C", "K, C", assume="N != 1 and K >= 2")
    axes = plots(result, each={"K": (3, 40)})
    assert {ax.get_xlim() for ax in axes} == {axes[0].get_xlim()}
    for ax in axes:
        assert patches(ax) and meshes(ax)
