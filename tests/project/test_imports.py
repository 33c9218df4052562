"""What is loaded for a question: neither sympy nor z3, until somebody asks for what needs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

import symbcast as sb

HEAVY = ["IPython", "anywidget", "matplotlib", "numpy", "rich", "sympy", "z3"]
"""Libraries that a question about names and integers does without."""

ASKED = {
    "verdict": "a.verdict",
    "repr": "repr(a)",
    "clauses": "a.clauses",
    "clauses as text": "list(map(str, a.clauses))",
    "reason": "a.reason, a.unproven",
    "witness": "a.witness(), a.counterexample()",
    "explain": "a.explain()",
    "html": "a._repr_html_()",
    "latex": "a._repr_latex_()",
    "to_dict": "a.to_dict()",
    "condition": "str(a.condition), a.condition.clauses",
    "findings": "a.findings",
    "report": "getattr(a, 'report', str)()",
}
ABOUT = {
    "call": 'a = sb.broadcast("N, 3", "M, 1")',
    "call that fails": 'a = sb.broadcast("N, 3", "M, 4")',
    "call of integers": 'a = sb.broadcast("4, 3", "4, 1")',
    "program": 'a = sb.ShapeEnv(); x = a.broadcast("N, 3", "M, 1"); a.broadcast(x, "K, 1, 3")',
}


def loaded(program):
    """Return the heavy libraries that a program loads in a fresh process."""
    report = f"\nimport json, sys\nprint()\nprint(json.dumps(sorted(set({HEAVY}) & sys.modules.keys())))"
    done = subprocess.run([sys.executable, "-c", program + report], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("about", ABOUT)
def test_a_plain_answer_loads_nothing_heavy(about):
    """Each look is held against what is loaded right after it, so that a failure names the one to blame."""
    lines = [f"    ({name!r}, lambda a: ({look}))," for name, look in ASKED.items()]
    program = "\n".join(
        [
            "import sys",
            "import symbcast as sb",
            ABOUT[about],
            "looks = [",
            *lines,
            "]",
            "for name, look in looks:",
            "    look(a)",
            f"    heavy = set({HEAVY}) & sys.modules.keys()",
            "    assert not heavy, (name, heavy)",
        ]
    )
    assert loaded(program) == []


@pytest.mark.parametrize("look", ["a.groups", "[p.order for p in a.pairs]", "[p.agree.example for p in a.pairs]"])
def test_a_plain_comparison_loads_nothing_heavy(look):
    """Its conditions are made short by the solver."""
    asked = 'a = sb.compare("N, C, H, W", "C, 1, K", rules=["pdpd(axis=0)", "numpy", "none"])'
    assert loaded(f"import symbcast as sb\n{asked}\n{look}") == []


@pytest.mark.parametrize("asked", ["expands(0, 0).explain()", "implies('N == M')", "to_stablehlo()"])
def test_what_follows_from_a_plain_answer_loads_nothing_heavy(asked):
    assert loaded(f'import symbcast as sb\nsb.broadcast("N, 3", "M, 1").{asked}') == []


@pytest.mark.parametrize("shapes", [["N, 3", "M, 1"], ["4,3", "4,1"], ["N, 3", "M, 4"]], ids=str)
@pytest.mark.parametrize("options", [[], ["--format", "json"]], ids=["text", "json"])
def test_the_command_line_loads_nothing_heavy(shapes, options):
    program = f"from symbcast.cli import run\nrun({['check', *shapes, *options]!r})"
    assert loaded(program) == []


@pytest.mark.parametrize("shapes", [["N, 3", "M, 1"], ["4,3", "4,1"], ["N, 3", "M, 4"], ["N", "x"]], ids=str)
def test_a_short_command_loads_nothing_that_takes_longer_than_its_answer(shapes):
    """Neither dataclasses, which need `inspect`, nor paths, the solver, nor advice about other arguments."""
    needless = {
        "dataclasses",
        "inspect",
        "pathlib",
        "symbcast.cli.arguments",
        "symbcast.core.solver.decision",
        "symbcast.core.text.sentences",
        "textwrap",
    }
    program = (
        f"from symbcast.cli import run\nrun({['check', *shapes]!r})\nimport sys\nprint({needless} & {{*sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines()[-1] == "set()") == ("x" not in shapes)


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["model", "--help"]], ids=" ".join)
def test_help_loads_nothing_that_only_answers_need(arguments):
    """Neither the walk of graphs, nor the solver, nor what reads the metadata of installed packages."""
    needless = {"importlib.metadata", "symbcast.cli.model_examination", "symbcast.core.solver.decision", *HEAVY, "onnx"}
    program = f"from symbcast.cli import run\nrun({arguments})\nimport sys\nprint({needless} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_traced_network_whose_sizes_are_joins_loads_no_solver():
    """Each layer defines a size as the join of those before it: nothing is left to decide but that join."""
    lines = [
        "import numpy as np, symbcast as sb",
        "def network(x, *weights):",
        "    for w in weights: x = np.maximum(x @ w, 0) + x",
        "    return x",
        "str(sb.trace(network, *[f'A{n}, C{n}' for n in range(5)]))",
    ]
    assert loaded("\n".join(lines)) == ["numpy"]


def test_lint_itself_loads_nothing_that_only_its_child_processes_need():
    assert loaded("import symbcast.linting") == []


def test_torchs_errors_are_read_without_sympy():
    text = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    assert loaded(f"from symbcast.torch import read_error\nread_error({text!r}).explain()") == []


def test_what_sympy_is_asked_for_loads_it():
    """The list of modules is looked at, and would tell."""
    assert loaded('import symbcast as sb\nsb.broadcast("N, 3", "M, 1").condition.sympy') == ["sympy"]


QUESTIONS = [
    *ASKED.values(),
    "a.cases()",
    "a.certify()",
    "a.conflict",
    "a.equivalent('N >= 0')",
    "a.guard()",
    "a.implies('N >= 0')",
    "a.repairs()",
    "a.surprises",
    "a.shape",
    "a.expands('B', 0)",
    "a.expands('add', 'B', 0)",
    "a.symbols",
    "a.to_cpp()",
    "a.to_dict()",
    "a.to_mlir()",
    "a.to_python()",
    "a.to_smtlib()",
    "a.to_stablehlo()",
    "a.to_z3()",
    "a.explain(trace=True)",
]
FORKED = """
import os
for question in questions:
    if not os.fork():
        try:
            found = eval(question)
            str(list(found) if hasattr(found, "__iter__") else found)
        except Exception as error:
            print(f"{question}: {type(error).__name__}: {error}", flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every question is asked in a process of its own, made by fork")
@pytest.mark.parametrize(
    "about",
    [
        *ABOUT.values(),
        'a = sb.broadcast("N, C, H, W", "C")',
        'a = sb.broadcast("*b, 2*N", "N//2*2, 1")',
        'a = sb.ShapeEnv(); a.broadcast("N, C, H, W", "C", origin="add"); a.reshape("N, 6", "-1, 4")',
    ],
)
def test_any_question_may_be_the_first_of_a_process(about):
    """What one question loads, another may need: each is asked where nothing else was loaded."""
    asked = [q for q in QUESTIONS if _has(about, q)]
    code = f"import symbcast as sb\n{about}\nquestions = {asked!r}\n{FORKED}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    refused = [line for line in done.stdout.splitlines() if "AttributeError" in line or "ImportError" in line]
    assert refused == []


def _has(about, question):
    """Return whether the answer has what a question asks for."""
    kind = sb.ShapeEnv if "ShapeEnv" in about else sb.Result
    return ("'add'" in question) == ("'add'" in about) if "expands" in question else hasattr(kind, _attribute(question))


def _attribute(question):
    found = re.search(r"\ba\.(\w+)", question)
    return found[1] if found else "__str__"
