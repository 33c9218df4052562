"""The public names of every class of answer: a table, and the protocol that all of them share.

A new public name is added to the table on purpose; a helper of other modules belongs to the plain answer, which the
public one holds.
"""

import ast
import inspect
import re

import pytest
from kinds import ANSWERS

import symbcast as sb
from symbcast.answers.guards.languages import LANGUAGES

PROPERTIES = ["verdict", "condition", "constraints", "reason", "findings", "unproven", "unanalysed", "account"]
METHODS = [
    "bounds",
    "certify",
    "evaluate",
    "witness",
    "counterexample",
    "implies",
    "equivalent",
    "guard",
    "to_python",
    "to_cpp",
    "to_smtlib",
    "to_mlir",
    "to_z3",
    "contract",
    "explain",
    "to_dict",
]
METHODS += sorted({f"to_{language}" for language in LANGUAGES} - {*METHODS})  # those of languages that were added
OPERATORS = """
    attention batch_norm broadcast concat conv conv_transpose einsum equal expand flatten gather gather_elements
    gather_nd group_norm gru gufunc layer_norm lstm matmul one_hot pad pool reduce require reshape resize rnn scatter
    scatter_elements scatter_nd slice split squeeze stack tile top_k transpose unsqueeze
"""
MODULES = ["to_stablehlo"]
"""Of a broadcast it writes the operation itself, of other answers functions of sizes: the parameters differ."""

GRAPHS = """
    aliases assumptions data_condition data_sizes generic inputs json_schema min_size optionals outputs plot runtime
    sequences shapes source
"""
PATHS = (
    "assumptions at cases complete data_condition data_sizes generic min_size observed paths shapes title unconfirmed"
    " unexplored"
)
TRACES = f"{PATHS} arguments isolated json_schema name report"

OWN = {
    "Result": """
        assumptions budget cases clauses conflict evidence_reason expands operands repairs require rule
        shape surprises symbols
    """,
    "ShapeEnv": f"""
        {OPERATORS} assume assuming assumptions budget cases clauses conflict evidence_reason expands fork fresh
        from_dict generic json_schema min_size names on_conflict operations report shapes symbol symbols
    """,
    "Solution": "json_schema operands out ranks shapes",
    "Paths": PATHS,
    "TraceReport": TRACES,
    "JaxReport": f"{TRACES} export_constraints",
    "ModelReport": f"{GRAPHS} annotate confirm edits suggest",
    "OpenVinoReport": GRAPHS,
    "HloReport": f"{GRAPHS} gaps hints",
    "TorchReport": f"{GRAPHS} assertions compare cuda_differences guards program refusal suggest",
}
"""The names that a class has besides those of the protocol."""

CONDITION = """
    certify clauses contract counterexample equivalent explain formula free_symbols guard implies simplified subs
    symbols sympy to_cpp to_mlir to_python to_smtlib to_stablehlo to_z3 verdict verdict_under witness
"""

CONTRACT = """
    boxes buckets check coverage derived explain form from_dict from_json in_form is_largest json_schema left_out most
    omissions open proof question reason requested require size to to_dict typical verdict wanted
"""

KINDS = {
    "broadcast": "Result",
    "program": "ShapeEnv",
    "model": "ModelReport",
    "function": "TraceReport",
    "paths": "Paths",
    "solution": "Solution",
    "openvino model": "OpenVinoReport",
    "exported program": "TorchReport",
    "jax function": "JaxReport",
    "stablehlo module": "HloReport",
}


def public(subject):
    return {name for name in dir(subject) if not name.startswith("_")}


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_has_these_names_and_no_others(kind):
    answer = ANSWERS[kind]()
    assert type(answer).__name__ == KINDS[kind]
    assert public(answer) == {*PROPERTIES, *METHODS, *MODULES, *OWN[KINDS[kind]].split()}


def test_a_condition_has_these_names_and_no_others():
    assert public(sb.Condition) == {*CONDITION.split(), *(n for n in METHODS if n.removeprefix("to_") in LANGUAGES)}
    shared = {*PROPERTIES, *METHODS} & public(sb.Condition)
    assert all(kind_of(sb.Condition, n) is kind_of(sb.Answer, n) for n in shared)


def test_a_contract_has_these_names_and_no_others():
    assert public(sb.Condition("N >= 1").contract()) == {*CONTRACT.split()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_protocol_is_the_same_in_every_class(kind):
    cls = type(ANSWERS[kind]())
    assert issubclass(cls, sb.Answer)
    shape = "shape" if cls is sb.Result else "shapes"
    assert [n for n in (*PROPERTIES, shape) if kind_of(cls, n) is not property] == []
    assert [n for n in (*METHODS, *MODULES) if not inspect.isfunction(inspect.getattr_static(cls, n))] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_takes_what_the_protocols_takes(kind):
    cls = type(ANSWERS[kind]())
    for method in METHODS:
        wanted = inspect.signature(getattr(sb.Answer, method)).parameters
        found = inspect.signature(getattr(cls, method)).parameters
        assert [*found][: len(wanted)] == [*wanted]
        assert all(p.default is not p.empty for n, p in found.items() if n not in wanted), method


def kind_of(cls, name):
    found = inspect.getattr_static(cls, name)
    return property if isinstance(found, property) else type(found)


@pytest.mark.parametrize("kind", [*KINDS, "condition"])
def test_what_a_guessed_name_is_answered_by_exists(kind):
    subject = sb.Condition("N == 1") if kind == "condition" else ANSWERS[kind]()
    names, written = public(subject), r"(sympy|symbcast)\.|str\(|~?condition\b"
    for guess, meaning in type(subject)._meanings.items():
        used = re.match(r"\w+", meaning)
        assert re.match(written, meaning) or used[0] in names, (guess, meaning)


def test_an_answer_without_its_parts_is_not_made():
    with pytest.raises(TypeError, match="abstract"):
        sb.Answer()


def test_the_module_shows_its_names_and_the_front_ends():
    assert set(dir(sb)) == {*sb.__all__, "jax", "litert", "onnx", "openvino", "stablehlo", "strategies", "torch"}
    assert not {"cast", "TYPE_CHECKING", "import_module", "annotations"} & {*dir(sb)}
    imported = ast.parse(inspect.getsource(sb)).body
    helpers = {a.asname or a.name for n in imported if isinstance(n, ast.ImportFrom) for a in n.names} - {*sb.__all__}
    assert not helpers & {*dir(sb)}


@pytest.mark.parametrize("name", ["onnx", "openvino", "torch", "jax", "notebook", "adapters"])
def test_a_front_end_shows_its_names_alone(name):
    module = module_of(name)
    assert dir(module) == sorted(module.__all__)
    with pytest.raises(AttributeError, match=r"has no attribute 'qqqqq'$"):
        _ = module.qqqqq
    assert not hasattr(module, "_nothing")


GUESSES = [
    ("onnx", "load", "check(...)"),
    ("onnx", "infer_shapes", "check(...)"),
    ("openvino", "read_model", "check(...)"),
    ("openvino", "chek", "did you mean 'check'"),
    ("torch", "compile", "check(...)"),
    ("torch", "suggest", "check(...).suggest()"),
    ("jax", "jit", "trace(...)"),
    ("notebook", "heatmap", "plot(...)"),
    ("notebook", "interact", "explore(...)"),
    ("adapters", "pytorch", "torch"),
]


@pytest.mark.parametrize(("name", "guess", "right"), GUESSES)
def test_a_guessed_name_in_a_front_end_is_answered_by_the_right_one(name, guess, right):
    with pytest.raises(AttributeError, match=rf"has no attribute '{guess}': .*{re.escape(right)}"):
        getattr(module_of(name), guess)


def module_of(name):
    if name not in ("adapters", "notebook"):
        pytest.importorskip(name)
    return getattr(sb, name)
