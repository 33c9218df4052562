"""Contracts as JSON and back: nothing is lost, and nothing is believed that is not proved again."""

import copy
import json
import random

import jsonschema
import pytest
from kinds import ANSWERS
from random_conditions import condition

import symbcast as sb

RANGES = {"a": "1..20", "b": range(0, 31, 3)}
CONTRACTS = [
    # condition, arguments
    ("a % 4 == 0 and b == 2*a", {}),
    ("compatible(a, b, 7)", {"typical": {"a": [5]}}),
    ("a % 2 == 0 and b >= 1", {"a": 3}),
    ("a + b <= 9 or a == b", {}),
]


def reread(contract):
    return sb.Contract.from_json(json.dumps(contract.to_dict()))


@pytest.mark.parametrize("form", ["box", "steps", "derived", "profiles", "list"])
@pytest.mark.parametrize(("text", "more"), CONTRACTS)
def test_a_contract_is_read_back_as_it_was(text, more, form):
    made = sb.Condition(text).contract(form=form, **{**RANGES, **more})
    data = made.to_dict()
    jsonschema.validate(data, sb.Contract.json_schema())
    found = reread(made)
    assert found.to_dict() == data
    assert found.explain() == made.explain()
    assert found.boxes == made.boxes
    assert found.derived == made.derived
    assert found.check(a="2..9").explain() == made.check(a="2..9").explain()


@pytest.mark.parametrize("seed", range(12))
def test_random_contracts_are_read_back(seed):
    made = sb.Condition(condition(seed, "ab")).contract(form=["box", "steps", "derived"][seed % 3])
    assert reread(made).to_dict() == made.to_dict()


def test_names_unknowns_assumptions_and_inputs_are_kept():
    answer = sb.broadcast("a.b, ?, 2..5", "M, 1, 1", assume="a.b >= 2")
    made = answer.contract({"a.b": "1..8"}, M="1..4")
    found = reread(made)
    assert list(found.boxes[0]) == list(made.boxes[0]) == ["a.b", "?0", "?1", "M"]
    assert found.to("openvino") == made.to("openvino")
    assert found.to("trtexec") == made.to("trtexec")


def test_a_contract_of_a_model_is_read_without_the_model():
    onnx = pytest.importorskip("onnx")
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[N] a, float[M] b) => (float[P] y) { y = Add(a, b) }'
    made = sb.onnx.check(onnx.parser.parse_model(text)).contract(N="2..8", M="2..8")
    found = reread(made)
    assert [str(f) for f in found.left_out] == [str(f) for f in made.left_out]
    assert found.left_out[0].node == made.left_out[0].node != ""
    assert found.to("trtexec") == made.to("trtexec")


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_kind_of_answer_has_contracts_that_are_read_back(kind):
    answer = ANSWERS[kind]()
    for form in ("box", "derived"):
        made = answer.contract(form=form)
        assert made.verdict is sb.Verdict.ALWAYS
        assert reread(made).to_dict() == made.to_dict()
        assert made.check(made.boxes[0]).verdict is sb.Verdict.ALWAYS or made.derived


def test_an_undecided_contract_stays_undecided():
    made = sb.trace(lambda x: {n: row.sum() for n, row in enumerate(x)}, "N, D").contract(N="15..20")
    assert made.verdict is sb.Verdict.UNKNOWN
    assert reread(made).to_dict() == made.to_dict()
    assert reread(made).to("json") == made.to("json")


def tampered(path, value):
    """Return the data of a contract with one member changed."""
    data = copy.deepcopy(sb.Condition("H % 32 == 0").contract(H="64..1280", form="steps").to_dict())
    *way, last = path
    place = data
    for key in way:
        place = place[key]
    place[last] = value
    return data


TAMPERED = [
    # the position of a member, its new value, what the error says
    (["boxes", 0, "H", "step"], 16, "are not proved"),
    (["boxes", 0, "H", "least"], 65, "not a range"),
    (["boxes"], [], "some wanted sizes work"),
    (["question", "condition"], "H % 64 == 0", "are not proved"),
    (["question", "condition"], "H %", "data.question.condition"),
    (["question", "symbols", 0, "name"], "W", "does not have the sizes W"),
    (["question", "open"], "an operator is unknown", "data.verdict"),
    (["verdict"], "never", "data.verdict"),
    (["is_largest"], False, "data.is_largest"),
    (["proof"], [], "data.proof"),
    (["form"], "rows", "data.form"),
    (["most"], 0, "less than 1"),
    (["version"], 2, "is not 1"),
    (["format"], "symbcast.program", "is not a contract"),
    (["derived"], {"H": "2*K"}, "data.derived"),
    (["typical"], {"K": [3]}, "not a size of the question"),
    (["wanted", "H", "least"], -1, "less than 0"),
    (["more"], 1, "unknown member 'more'"),
    (["left_out", 0, "sizes"], {"H": "65"}, "data.left_out"),
]


@pytest.mark.parametrize(("path", "value", "told"), TAMPERED, ids=[str(row[0]) for row in TAMPERED])
def test_data_that_say_something_else_are_refused(path, value, told):
    with pytest.raises(sb.ExchangeError, match=told):
        sb.Contract.from_dict(tampered(path, value))


def test_text_that_is_no_json():
    with pytest.raises(sb.ExchangeError, match="no JSON"):
        sb.Contract.from_json("{")
    with pytest.raises(sb.ExchangeError, match="not a contract"):
        sb.Contract.from_json("[]")


def members(data, way=()):
    """Yield the positions of all members of nested data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from members(value, (*way, key))


def test_what_the_schema_refuses_is_refused():
    """Each member is replaced by a value of another kind, or removed."""
    chance, refused = random.Random(1), 0
    whole = tampered(["most"], 1)
    validator = jsonschema.Draft202012Validator(sb.Contract.json_schema())
    for way in members(whole):
        data = copy.deepcopy(whole)
        place = data
        for key in way[:-1]:
            place = place[key]
        if chance.random() < 0.2 and isinstance(place, dict):
            del place[way[-1]]
        else:
            place[way[-1]] = chance.choice((None, -7, 1.5, "x", [1], {"x": 1}, True))
        if not validator.is_valid(data):
            refused += 1
            with pytest.raises(sb.ExchangeError):
                sb.Contract.from_dict(data)
    assert refused > 30


def test_derived_sizes_are_proved_again():
    made = sb.Condition("b == 2*a").contract(a="1..9", b="1..18", form="derived")
    data = made.to_dict()
    data["derived"] = {"b": "a"}
    with pytest.raises(sb.ExchangeError, match="not that of its expression"):
        sb.Contract.from_dict(data)
    data["boxes"][0]["b"] = {"least": 1, "greatest": 9, "step": 1}
    with pytest.raises(sb.ExchangeError, match="not proved"):
        sb.Contract.from_dict(data)
