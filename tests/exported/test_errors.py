"""Torch's messages about sizes, as recorded and as people asked about them, and what is said about each."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from symbcast.cli.app import run
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import constant, term
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.text import parse_formula
from symbcast.torch import read_error
from symbcast.torch.guards.guard_texts import GuardReader
from symbcast.torch.guards.suggestions import is_provable

DATA = Path(__file__).parent.parent / "data" / "torch"
RECORDED = json.loads((DATA / "errors.json").read_text("utf-8"))
THREADS = {row["link"]: row for row in json.loads((DATA / "error_threads.json").read_text("utf-8"))}
ROWS = {**RECORDED, **THREADS}


@pytest.mark.parametrize("name", ROWS)
def test_a_message_of_torch_is_read_with_its_reason_and_an_answer(name):
    found = read_error(ROWS[name]["text"])
    lines = found.explain().splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ROWS[name]["says"]
    assert any(line.startswith("  why: ") for line in lines)
    answer = found.suggest()
    assert answer is not None or any("  do: " in line for line in lines) or found.guards.clauses


@pytest.mark.parametrize("name", ROWS)
def test_no_answer_has_torchs_own_words_for_sizes(name):
    """The numbers for no end, sources of guards, and its infinity are not sizes that a user wrote."""
    said = read_error(ROWS[name]["text"]).explain()
    assert not any(word in said for word in ("9223372036854775", "L['", "IntInfinity", "int_oo", "Eq("))


def test_a_log_with_several_errors_has_each_once():
    one, other = RECORDED["divisible"]["text"], RECORDED["equal"]["text"]
    log = f"Traceback ...\n{one}\n\nDuring handling of the above exception:\n{one}\n\nepoch 2\n{other}\n"
    found = read_error(log)
    assert [sorted(c.text for c in e.guards.clauses) for e in found.errors] == [["n % 4 == 0", "n >= 8"], ["b == a"]]
    assert found.explain().startswith("error 1\n")


@pytest.mark.parametrize("name", ["divisible", "lstm_batch", "nested", "mark_dynamic"])
def test_prefixes_of_log_lines_change_nothing(name):
    text = RECORDED[name]["text"]
    prefixes = (
        "E1118 11:34:26.548000 1260768 venv/torch/_guards.py:300] [0/0] ",
        "[rank0]:E1118 11:34:26.5 12 a.py:3] ",
    )
    for prefix in (*prefixes, "\x1b[93m"):
        logged = "\n".join(f"{prefix}{line}" for line in text.splitlines())
        assert read_error(logged).explain() == read_error(text).explain()


NO_END = """Constraints violated (batch)!
  - Not all values of batch = L['x'].size()[0] in the specified range satisfy the generated guard {}."""


@pytest.mark.parametrize(
    ("guard", "clauses"),
    [
        ("L['x'].size()[0] != 9223372036854775807", []),
        ("L['x'].size()[0] <= 9223372036854775806", []),
        ("min(9223372036854775807, L['x'].size()[0]) >= 3", ["batch >= 3"]),
        ("Min(L['x'].size()[0], 512) == L['x'].size()[0]", ["batch <= 512"]),
        ("And(3 <= L['x'].size()[0], Ne(L['x'].size()[0], 7))", ["(batch >= 3 and batch <= 6) or batch >= 8"]),
    ],
)
def test_numbers_for_no_end_are_no_sizes(guard, clauses):
    assert sorted(c.text for c in read_error(NO_END.format(guard)).guards.clauses) == clauses


def test_what_torch_proves_holds():
    """A guard that is called provable holds at all sizes of the `Dim`."""
    sizes, own = symbol("H"), symbol("k")
    texts = ("H//{} <= H", "1 + (H - 1)//{} != 1", "H % {} == 0", "{}*(H//{}) == H", "H <= {}", "min(H, {}) >= 2",
             "max(H, {}) != 1", "H//{} != H", "(H*H)//{} >= 1")  # fmt: skip
    proved = 0
    for text in texts:
        for number in (1, 2, 3, 4, 7, 33):
            formula = parse_formula(text.replace("{}", str(number)))
            for low, step, most in ((1, 1, None), (2, 1, 40), (8, 4, None), (33, 1, None), (3, 3, 30), (7, 7, None)):
                written = term(own).scaled(step) + constant(low)
                if is_provable(formula, {sizes: written}, {} if most is None else {own: most}):
                    proved += 1
                    ends = range(200 if most is None else most + 1)
                    assert all(holds_at(formula, {sizes: low + step * n}) for n in ends), (text, number, low, step)
    assert proved > 100


def test_the_command_reads_a_file_or_standard_input(tmp_path, capsys, monkeypatch):
    log = tmp_path / "export.log"
    log.write_text(RECORDED["divisible"]["text"], "utf-8")
    assert run(["torch-error", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "torch requires n % 4 == 0" in shown and "4*_n" in shown
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.read_bytes())))
    assert run(["torch-error"]) == 0
    assert capsys.readouterr().out == shown
    assert run(["torch-error", str(log), "--format", "json"]) == 0
    (error,) = json.loads(capsys.readouterr().out)
    assert error["dynamic_shapes"] == {"lines": ["_n = Dim('_n', min=2)"], "shapes": "{'x': {0: 4*_n}}"}
    log.write_text("all is well", "utf-8")
    assert run(["torch-error", str(log)]) == 1
    assert run(["torch-error", str(tmp_path / "none.log")]) == 2


def test_a_suggestion_of_torch_alone_is_said_to_lack_its_reasons():
    text = read_error("Suggested fixes:\n   n = Dim('n', min=16, max=32)").explain()
    assert (
        "torch's own suggestion is in the text: n = Dim('n', min=16, max=32)" in text and "whose guards say why" in text
    )


def test_an_unknown_text_says_so():
    assert read_error("nothing of the kind").explain() == "no constraint on sizes was found in torch's error"


NOT_BY_DIMS = {"out_of_range", "example_of_one", "example_of_one_dynamic"}
"""Exports that no dynamic shapes mend: the example must change."""


@pytest.mark.filterwarnings("ignore")
def test_torch_accepts_the_repaired_dynamic_shapes():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.export")
    import error_cases

    for name, make in error_cases.EXPORTS.items():
        case, error = make(), read_error(RECORDED[name]["text"])
        if name in NOT_BY_DIMS:
            assert any("example" in m.advice for m in error.messages), name
            continue
        shapes = error.repaired(case.dynamic_shapes)
        torch.export.export(case.module, case.args, case.kwargs, dynamic_shapes=shapes)


WORDS = {
    "an integer with a named Dim": (
        "Unable to specify input integers as dynamic through named Dims. Please use Dim.AUTO/DYNAMIC instead.",
        "Dim.AUTO",
    ),
    "an example that does not fit": (
        "Expected input L['y'].size()[0] to be equal to 2*n + 1, where n = 3, but got 6",
        "the example's size y_dim_0 is 6, but it must be 2*n + 1, where n = 3",
    ),
    "one Dim for sizes that differ": (
        "L['y'].size()[0] = 12 is not equal to L['x'].size()[0] = 4",
        "the example's sizes y_dim_0 = 12 and x_dim_0 = 4 have one Dim",
    ),
    "a branch on an axis without a number": (
        "Could not guard on data-dependent expression u0 > 3 (unhinted: u0 > 3).  (Size-like symbols: u0)",
        "or an axis that mark_unbacked marks",
    ),
    "a question that torch simplified": (
        "Could not guard on data-dependent expression False (unhinted: Ne(Mod(18*u0, ((s58*u0)//8)), 0)).  (Size-like "
        "symbols: none)\n\nTo fix the error, insert one of the following checks before this call:\n"
        "  1. torch._check(False)\n  2. torch._check(True)",
        "torch._check(18*u0 % (s58*u0//8) == 0)",
    ),
    "a line of an older log": (
        "I0123 20:39:08.545000 1 torch/fx/experimental/symbolic_shapes.py:3557] [0/0] create_symbol s0 = 4 for "
        "L['a'].size()[0] [2, 10] at me/md.py:6 in fn (_dynamo/variables/builder.py:2710 in <lambda>)\n"
        "I0123 20:39:08.557000 1 torch/fx/experimental/symbolic_shapes.py:5106] [0/0] eval Eq(s0, 4) [guard added] at "
        "me/md.py:6 in fn (_subclasses/fake_impls.py:785 in infer_size)",
        "line me/md.py:6",
    ),
    "a mark without an export": (
        "Constraints violated (L['x'].size()[0])! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
        "  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (3). If you're using "
        "mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either "
        'Dim.STATIC or Dim.AUTO.\n\nUser stack:\n  File "net.py", line 17, in forward\n    return x + W\n',
        "torch._dynamo.maybe_mark_dynamic",
    ),
}


G = "https://github.com/"
ADVICE = {
    G + "pytorch/pytorch/issues/133653": "batch = Dim('batch', max=10)",
    G + "vllm-project/vllm-ascend/issues/1368": "torch._dynamo.maybe_mark_dynamic",
    G + "pytorch/pytorch/issues/135568": "torch._dynamo.maybe_mark_dynamic",
    G + "pytorch/pytorch/issues/171860": "call mark_dynamic on the argument before the compiled function is called",
    G + "pytorch/pytorch/issues/181097": "backed_size_oblivious=True",
    G + "pytorch/pytorch/issues/148629": "{'args': ({0: Dim('batch')},)}",
    G + "pytorch/pytorch/issues/150371": "Name arguments of **kwargs in forward",
    G + "pytorch/pytorch/pull/149297": "pass the number, with item() on that tensor",
    G + "pytorch/pytorch/issues/106130": "shape_env=ShapeEnv()",
    G + "pytorch/pytorch/issues/151094": "the code divides the axis into equal parts",
    G + "pytorch/pytorch/pull/145443": "embedding_bag_proxy.py:109",
    G + "pytorch/executorch/issues/7717": "export with a larger max",
}


@pytest.mark.parametrize("link", ADVICE)
def test_a_thread_is_answered_with_its_cause_and_a_fix(link):
    assert ADVICE[link] in read_error(THREADS[link]["text"]).explain()


def test_lines_of_torch_and_of_python_are_not_the_users():
    for link in ("pytorch/pytorch/issues/153955", "pytorch/pytorch/issues/147096", "pytorch/pytorch/pull/135429"):
        assert "  at: " not in read_error(THREADS[G + link]["text"]).explain()


@pytest.mark.parametrize("words", ["a maximum capacity of 2047 elements to 2048", "capacity of 2048 elements to 2047"])
def test_releases_of_executorch_that_exchange_the_numbers_are_read(words):
    text = f"Attempted to resize a bounded tensor with {words} elements."
    assert "a tensor needs 2048 elements, but memory is planned for 2047" in read_error(text).explain()


FIXES = """
import torch
from torch.export import Dim, export
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from symbcast.torch import read_error

def refused(run, words):
    try:
        run()
    except Exception as error:
        assert words in read_error(error).explain(), read_error(error).explain()
    else:
        raise SystemExit(f"torch accepts what should say {words}")

class Parts(torch.nn.Module):
    def forward(self, x, y):
        return [part - y for part in x.view(5, -1)]

def parts():
    n = Dim("n", max=8)
    program = export(Parts(), (torch.ones(20), torch.ones(4)), dynamic_shapes={"x": {0: 5*n}, "y": {0: n}})
    program.module()(torch.ones(5), torch.ones(1))

refused(parts, "backed_size_oblivious=True")
with torch.fx.experimental._config.patch(backed_size_oblivious=True):
    parts()

class Named(torch.nn.Module):
    def forward(self, *args):
        return args[0]*2

refused(lambda: export(Named(), (torch.ones(3),), dynamic_shapes={"x": {0: Dim("n")}}), "({0: Dim('batch')},)}")
export(Named(), (torch.ones(3),), dynamic_shapes={"args": ({0: Dim("n")},)})

compiled = lambda function, *args: torch.compile(function, backend="eager", fullgraph=True)(*args)
ends = torch.tensor([2, 4])
torch._dynamo.config.capture_scalar_outputs = True
refused(lambda: compiled(lambda x: torch.arange(x[0], x[1]), ends), "with item() on that tensor")
compiled(lambda x: torch.arange(x[0].item(), x[1].item()), ends)

def mark(x):
    torch._dynamo.mark_dynamic(x, 0)
    return x

refused(lambda: compiled(mark, ends), "before the compiled function is called")
compiled(lambda x: x*2, mark(ends))

def nonzero(env):
    mode = FakeTensorMode(shape_env=env)
    fake = mode.from_tensor(torch.ones(3))
    with mode:
        torch.nonzero(fake)

refused(lambda: nonzero(None), "shape_env=ShapeEnv()")
nonzero(ShapeEnv())
"""


def test_torch_accepts_what_the_advice_says():
    pytest.importorskip("torch.export")
    run = subprocess.run([sys.executable, "-c", FIXES], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("name", WORDS)
def test_advice_is_about_what_was_written(name):
    text, said = WORDS[name]
    found = read_error(text).explain()
    assert said in found
    assert "torch._check(False)" not in found
    if name == "a mark without an export":
        assert "dynamic_shapes" not in found


FLOATS = {
    "math.trunc(0.5*torch.sym_float(L['x'].size()[0])) == 3": "6..7",
    "math.trunc(0.7*torch.sym_float(L['x'].size()[0])) == 63": "91",
    "math.trunc(0.7*torch.sym_float(L['x'].size()[0])) < 63": "..90",
    "round(0.5*torch.sym_float(L['x'].size()[0])) == 2": "3..5",
    "math.ceil(0.1*torch.sym_float(L['x'].size()[0])) >= 2": "11..",
    "2*math.trunc(0.5*torch.sym_float(L['x'].size()[0])) == L['x'].size()[0]": "even",
    "max(1, math.trunc(0.7*torch.sym_float(L['x'].size()[0]))) != 2": "no 3 and 4",
    "math.trunc(torch.sym_float(L['x'].size()[0]) ** 0.5) == 4": "16..24",
    "math.trunc(0.5 + 0.3*torch.sym_float(L['x'].size()[0])) == 18": "59..61",
    "torch.sym_float(L['x'].size()[0]) > 2.5": "3..",
    "2.5 >= torch.sym_float(L['x'].size()[0])": "..2",
    "(L['x'].size()[0] / 3) > 1.5": "5..",
    "round(0.1*torch.sym_float(L['x'].size()[0]) - 1.0) <= 3": "..45",
    "0.1*torch.sym_float(L['x'].size()[0]) == 0.3": "never: 0.1*3 is 0.30000000000000004",
}


@pytest.mark.parametrize("guard", FLOATS)
def test_a_rounded_size_is_read_as_torch_computes_it(guard):
    torch = pytest.importorskip("torch")
    size = symbol("N")
    formula = GuardReader({"L['x'].size()[0]": size}).formula(guard)
    for number in range(300):
        x = SimpleNamespace(size=lambda number=number: [number])
        real = eval(guard, {"L": {"x": x}, "math": math, "torch": torch})
        assert holds_at(formula, {size: number}) is real, number


@pytest.mark.parametrize("relation", ["<", "<=", "==", "!=", ">=", ">"])
@pytest.mark.parametrize("number", ["1.5", "0.1", "2.0", "0.3333333333333333", "17.25"])
def test_a_ratio_of_sizes_is_compared_as_floats_compare_it(relation, number):
    above, below = symbol("A"), symbol("B")
    reader = GuardReader({"L['x'].size()[0]": above, "L['x'].size()[1]": below})
    formula = reader.formula(f"(L['x'].size()[0] / L['x'].size()[1]) {relation} {number}")
    for a in range(60):
        for b in range(1, 60):
            assert holds_at(formula, {above: a, below: b}) is eval(f"{a} / {b} {relation} {number}"), (a, b)
    assert not holds_at(formula, {above: 3, below: 0})


def test_sizes_of_a_guard_that_is_not_read_are_open():
    text = "Constraints violated (n)!\n  - Not all values of n = L['x'].size()[0] in the specified range satisfy the "
    found = read_error(f"{text}generated guard math.sin(L['x'].size()[0]) == 3.")
    assert found.guards.open.keys() == {"n"} and "Dim.AUTO" in found.suggest().shapes
    assert "what sizes of n it accepts is open" in found.explain()
