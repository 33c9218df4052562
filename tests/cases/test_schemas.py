"""What is told of questions as data is as the schemas say, and nothing else is."""

import json

import jsonschema
import pytest

import symbcast as sb
from symbcast.answers.exchange import question_schema
from symbcast.cli.app import run

LINES = [
    ("cases", ["cases", "N, 3", "M, 1"]),
    ("cases", ["cases", "2", "3"]),
    ("cases", ["cases", "?, 2..5", "4"]),
    ("solution", ["solve", "?, 3", "N, 1", "--out", "5, 3"]),
    ("solution", ["solve", "N, 3", "4", "--out", "5, 3"]),
    ("proved", ["prove", "N", "M", "--assume", "N >= 2", "--that", "N == M", "--that", "M == 1 or M == N"]),
    ("proved", ["prove", "N**3 + M**3", "K**3", "--min-size", "2", "--that", "N == M"]),
    ("repairs", ["repair", "batch, heads, T, S", "batch, S"]),
    ("repairs", ["repair", "N", "N, 1"]),
    ("bounds", ["bounds", "N*M + 1", "--assume", "N*M <= 20", "--min-size", "1"]),
    ("bounds", ["bounds", "N//M", "--assume", "M == 0"]),
    ("bounds", ["bounds", "N - M"]),
    ("repairs", ["repair", "960, 800, 4", "1, 1, 3"]),
]


def validator(kind):
    schema = question_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(("kind", "arguments"), LINES)
def test_what_is_printed_is_as_the_schema_says(kind, arguments, capsys):
    run([*arguments, "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    validator(kind).validate(data)
    for key in data:
        assert not validator(kind).is_valid({**data, key: 1.5})
        assert not validator(kind).is_valid({k: v for k, v in data.items() if k != key})


def test_expansions_are_as_the_schema_says(capsys):
    run(["expand", "n, 4", "2, 1", "--format", "json"])
    for found in json.loads(capsys.readouterr().out)["expansions"]:
        validator("expansion").validate(found)


def test_answers_have_their_schema():
    env = sb.ShapeEnv()
    env.broadcast("N", "M", origin="add")
    for answer in (env.cases([{"N": 2, "M": 2}]), sb.solve("N", out="3")):
        jsonschema.Draft202012Validator(answer.json_schema()).validate(json.loads(json.dumps(answer.to_dict())))
