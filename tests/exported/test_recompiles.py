"""Why torch compiles again: stories run here, with marks verified by counting entries, and logs of public threads."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

import symbcast as sb
from symbcast.errors import ShapeTypeError
from symbcast.torch import explain_recompiles, read_error

THREADS = json.loads((Path(__file__).parent.parent / "data" / "torch" / "recompile_threads.json").read_text("utf-8"))


@pytest.mark.parametrize("row", THREADS, ids=lambda row: row["link"])
def test_a_log_of_a_thread_is_explained(row):
    found = explain_recompiles(row["text"])
    assert [m.call for m in found.marks] == row["marks"]
    assert [r.kind for event in found.recompilations for _, r in event.reasons] == row["kinds"]
    assert found.is_one_enough is row["is_one_enough"]
    assert found.explain().count("    do: ") == len(row["kinds"])


def test_an_error_reader_explains_recompilations_too():
    for row in THREADS:
        assert explain_recompiles(row["text"]).explain() in read_error(row["text"]).explain()


def test_a_text_without_recompilations_says_so():
    assert explain_recompiles("all is well").explain() == "no recompilation was found"


torch = pytest.importorskip("torch")
STORIES = {
    "a batch that changes": (lambda x: x * 2, [(3, 2), (4, 2), (5, 2)], ["mark_dynamic(x, 0)"], 1),
    "two axes": (lambda x: x.sum(), [(3, 2), (4, 2), (4, 5), (6, 7)], ["mark_dynamic(x, 0)", "mark_dynamic(x, 1)"], 1),
    "a last batch of one": (lambda x: x * 2, [(4, 2), (3, 2), (1, 2)], ["mark_unbacked(x, 0)"], 1),
    "two axes at once": (lambda x: x.sum(), [(3, 2), (4, 5), (6, 7)], ["mark_dynamic(x, 0)", "mark_dynamic(x, 1)"], 1),
    "an if on a size": (lambda x: x * 2 if x.shape[0] > 4 else x + 1, [(3, 2), (4, 2), (8, 2)],
                        ["mark_dynamic(x, 0)"], 2),
    "an if on a remainder": (lambda x: x * 2 if x.shape[0] % 2 else x + 1, [(3, 2), (5, 2), (8, 2)],
                             ["mark_dynamic(x, 0)"], 2),
    "a window that needs a number": (lambda x: torch.nn.functional.max_pool1d(x, 2), [(3, 8), (3, 9), (3, 12)], [], 3),
    "another rank": (lambda x: x * 2, [(3, 2), (3, 2, 2)], [], 2),
}  # fmt: skip


def run(function, calls, marks, **options):
    """Return the compiled function, and how many entries it has after some calls, each with the marks."""
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", **options)
    for args in calls:
        for mark in marks:
            space = {"torch": torch, **args}
            exec(mark.call, space)
        compiled(**args)
    return compiled, len(explain_recompiles(compiled).entries)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STORIES)
def test_the_marks_of_a_story_leave_as_many_entries_as_it_says(name):
    function, shapes, marks, count = STORIES[name]
    compiled, before = run(function, [{"x": torch.zeros(s)} for s in shapes], [])
    found = explain_recompiles(compiled)
    assert before > 1 and [m.call.rpartition(".")[2] for m in found.marks] == marks
    assert found.is_one_enough is (count == 1)
    _, after = run(function, [{"x": torch.zeros(s)} for s in shapes], found.marks)
    assert after == count


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", [r for r in THREADS if r["marks"]], ids=lambda row: row["link"])
def test_the_mark_for_a_thread_leaves_one_entry(row):
    name, axis = row["marks"][0].partition("(")[2].rstrip(")").split(", ")
    space = {}
    exec(f"def function({name}):\n    return {name} * 2", space)
    calls = [{name: torch.ones([n if a == int(axis) else 3 for a in range(3)])} for n in (5, 6, 7)]
    marks = [SimpleNamespace(call=call) for call in row["marks"]]
    assert run(space["function"], calls, [])[1] == 2
    assert run(space["function"], calls, marks)[1] == 1


def test_sizes_that_were_equal_by_chance_get_marks_of_their_own():
    def function(x, y):
        return x.sum() + y.sum()

    calls = [{"x": torch.zeros(a), "y": torch.zeros(b)} for a, b in ((3, 3), (4, 4), (5, 6))]
    compiled, before = run(function, calls, [], dynamic=True)
    found = explain_recompiles(compiled)
    assert before == 2 and {m.tensor for m in found.marks} == {"x", "y"}
    assert run(function, calls, found.marks)[1] == 1


@pytest.mark.filterwarnings("ignore")
def test_what_no_mark_changes_is_named():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x, scale: x * scale, backend="eager")
    for dtype, scale in ((torch.float32, "a"), (torch.float64, "a")):
        compiled(torch.zeros(3, dtype=dtype), 2.0 if scale == "a" else 3.0)
    found = explain_recompiles(compiled)
    assert not found.marks and not found.is_one_enough
    assert "cast the tensor" in found.explain()
    assert any("x is (3,)" in e.condition for e in found.entries)


@pytest.mark.filterwarnings("ignore")
def test_an_entry_says_which_sizes_it_serves():
    function, shapes, _, _ = STORIES["an if on a size"]
    compiled, _ = run(function, [{"x": torch.zeros(s)} for s in shapes], [])
    conditions = [e.condition for e in explain_recompiles(compiled).entries]
    assert conditions[0] == "x is (3, 2)"
    assert conditions[1].startswith("x is (?, 2); ") and "x.shape[0] <= 4" in conditions[1]
    assert "x.shape[0] >= 5" in conditions[2]


@pytest.mark.filterwarnings("ignore")
def test_a_log_says_the_same_as_the_function():
    stream = io.StringIO()
    torch._logging.set_logs(recompiles=True)
    handler, log = logging.StreamHandler(stream), logging.getLogger("torch._dynamo.guards.__recompiles")
    log.addHandler(handler)
    try:
        function, shapes, *_ = STORIES["two axes"]
        compiled, _ = run(function, [{"x": torch.zeros(s)} for s in shapes], [])
    finally:
        log.removeHandler(handler)
        torch._logging.set_logs()
    assert explain_recompiles(stream.getvalue()).marks == explain_recompiles(compiled).marks


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("function", "calls", "said"),
    [
        (lambda x: x[:3] * 2, [{"x": 2}, {"x": 5}, {"x": 8}], "serves only x.shape[0] >= 3, unlike entry 0/0"),
        (lambda x, y: x + y, [{"x": 3, "y": 3}, {"x": 5, "y": 1}, {"x": 7, "y": 7}], "is not known"),
    ],
)
def test_one_entry_is_promised_only_where_the_entries_show_it(function, calls, said):
    compiled, before = run(function, [{name: torch.zeros(n) for name, n in call.items()} for call in calls], [])
    found = explain_recompiles(compiled)
    assert before > 1 and not found.is_one_enough and said in found.explain()


def test_what_was_not_compiled_is_refused():
    with pytest.raises(ShapeTypeError, match="compiled function or a log"):
        sb.torch.explain_recompiles(3)
