"""Programs as JSON and back; data read and checked against the JSON Schemas of this package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from symbcast.answers.data import ProgramAnswerData, ProgramData
from symbcast.answers.explanation.words import Namer
from symbcast.answers.show.json import account_data, condition_text, sizes_data
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.algebra.symbols import AxisSequence, SequenceSymbol, Unknown, symbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.programs.operations import Op
from symbcast.core.programs.program import Program
from symbcast.core.programs.scope import NameTable
from symbcast.core.rules import find_rule
from symbcast.core.shapes import Shape, any_shape_of, shape_of
from symbcast.core.text import parse_formula, parse_shape
from symbcast.errors import ExchangeError, SymbcastError
from symbcast.operators.operator import find_operator, operator_names

_Value = TypeVar("_Value")


class JsonObject:
    """A JSON object whose members are read by key and kind."""

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, Mapping):
            raise ExchangeError(place, f"is {data!r:.40}, not an object")
        self.data = data
        self.place = place

    def get(self, key: str, kind: type | tuple[type, ...], words: str) -> Any:
        """Return a member of the given kind."""
        if key not in self.data:
            raise ExchangeError(self.place, f"has no {key!r}")
        value = self.data[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ExchangeError(f"{self.place}.{key}", f"is {value!r:.40}, not {words}")
        return value

    def text(self, key: str) -> Any:
        """Return a member that is text."""
        return self.get(key, str, "text")

    def int(self, key: str) -> int:
        """Return a member that is an integer."""
        value: int = self.get(key, int, "an integer")
        return value

    def list(self, key: str) -> list[Any]:
        """Return a member that is a list."""
        value: list[Any] = self.get(key, list, "a list")
        return value

    def read(self, key: str, reader: Callable[[], _Value]) -> _Value:
        """Return a reader's result for a member, or raise its error with the position."""
        try:
            return reader()
        except (SymbcastError, TypeError) as error:
            raise ExchangeError(f"{self.place}.{key}", str(error)) from error


# Data checked against the JSON Schemas of this package, with the position of what is wrong.
#
# It knows the keywords that these schemas use; `jsonschema` is not needed to read what symbcast wrote.


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def check_schema(value: Any, schema: Mapping[str, Any], place: str = "data") -> None:
    """Raise `ExchangeError` for the first part of a value that a schema refuses.

    >>> check_schema({"n": 1}, {"type": "object", "properties": {"n": {"type": "integer", "minimum": 2}}})
    Traceback (most recent call last):
    symbcast.errors.ExchangeError: data.n: is 1, less than 2
    """
    _check(value, schema, place, schema.get("$defs", {}))


def _check(value: Any, schema: Mapping[str, Any], place: str, defined: Mapping[str, Any]) -> None:
    if "$ref" in schema:
        _check(value, defined[schema["$ref"].rpartition("/")[2]], place, defined)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise ExchangeError(place, f"is {value!r:.40}, not {' or '.join(kinds)}")
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and not any(type(value) is type(a) and value == a for a in allowed):
        raise ExchangeError(place, f"is {value!r:.40}, not {' or '.join(map(repr, allowed))}")
    if "minimum" in schema and _is(value, "integer") and value < schema["minimum"]:
        raise ExchangeError(place, f"is {value}, less than {schema['minimum']}")
    if isinstance(value, Mapping):
        _check_members(value, schema, place, defined)
    if isinstance(value, list) and "items" in schema:
        for n, item in enumerate(value):
            _check(item, schema["items"], f"{place}[{n}]", defined)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_members(value: Mapping[Any, Any], schema: Mapping[str, Any], place: str, defined: Mapping[str, Any]) -> None:
    missing = next((key for key in schema.get("required", ()) if key not in value), None)
    if missing is not None:
        raise ExchangeError(place, f"has no {missing!r}")
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, member in value.items():
        if key in known:
            _check(member, known[key], f"{place}.{key}", defined)
        elif others is False:
            raise ExchangeError(place, f"has an unknown member {key!r:.40}")
        elif isinstance(others, Mapping):
            _check(member, others, f"{place}.{key}", defined)


# Programs as plain data for JSON, and back.


# Not the name of a module: files that 0.1 wrote must be read whatever moves.
FORMAT = "symbcast.program"
# It is incremented when a key changes meaning or is removed.
VERSION = 1

# What sympy may know about a symbol, other than that it is a size.
_FLAGS = ("positive", "even", "odd", "zero")


def program_schema() -> dict[str, object]:
    """Return the JSON Schema of the data that `program_to_dict` returns."""
    schema: dict[str, object] = json.loads(Path(__file__).with_name("program.schema.json").read_text("utf-8"))
    return schema


def program_to_dict(env: Program) -> ProgramData:
    """Return a program, and the answer about it, as data that `json.dumps` accepts, the same on every run.

    >>> from symbcast import ShapeEnv
    >>> env = ShapeEnv()
    >>> _ = env.broadcast("N, 3", "M, 1", origin="add")
    >>> data = env.to_dict()
    >>> data["operations"][0]["operands"], data["answer"]["condition"]
    (['(N, 3)', '(M, 1)'], 'N == M or N == 1 or M == 1')
    >>> ShapeEnv.from_dict(data).condition == env.condition
    True
    """
    namer = Namer.of(env.shown)
    return {
        "format": FORMAT,
        "version": VERSION,
        "min_size": env.min_size,
        "on_conflict": env.on_conflict,
        "symbols": symbols_data(env.shown),
        "operations": [_operation(op, namer) for op in env.operations],
        "answer": _answer(env, namer),
    }


def symbols_data(shown: Mapping[Symbol, str]) -> list[dict[str, object]]:
    """Return the sizes in order; a sequence is listed once, whichever of its axes occur."""
    symbols = {s.sequence if isinstance(s, SequenceSymbol) else s: _symbol(s, name) for s, name in shown.items()}
    return list(symbols.values())


def _symbol(s: Symbol, name: str) -> dict[str, object]:
    if isinstance(s, Unknown):
        return {"name": name, "lower": s.lower, "upper": s.upper}
    if isinstance(s, SequenceSymbol):
        return {"name": s.sequence.name, "sequence": True}
    known = {"positive": s.lower > 0, "even": s.parity == 0, "odd": s.parity == 1, "zero": s.upper == 0}
    return {"name": name, **{flag: True for flag in _FLAGS if known[flag]}}


def _operation(op: Op, namer: Namer) -> dict[str, object]:
    data: dict[str, object] = {"kind": op.kind, "origin": op.origin}
    if op.rule is not None:
        parameters = {p.name: _plain(getattr(op.rule, p.name)) for p in op.rule.parameters}
        data["rule"] = {"name": op.rule.name, "called": op.rule.called, "attributes": parameters}
    if op.formula is not None:
        return {**data, "formula": namer.formula(op.formula), "text": op.text}
    output = None if op.output is None else _shape(op.output, namer)
    return {**data, "operands": [_shape(s, namer) for s in op.operands], "output": output}


def _shape(dims: Shape, namer: Namer) -> str:
    """Return a shape as text, with unknowns as bare labels: the symbols list their bounds."""
    return f"({''.join(f'{namer.dim(d)}, ' for d in dims.dims).rstrip(' ' if len(dims.dims) == 1 else ', ')})"


def _answer(env: Program, namer: Namer) -> ProgramAnswerData:
    return {
        "verdict": env.verdict.value,
        "condition": condition_text(env, namer),
        "clauses": [namer.formula(c) for c in env.clauses],
        "unproven": [namer.formula(c) for c in env.unproven],
        "reason": env.reason,
        "witness": sizes_data(env.witness()),
        "counterexample": sizes_data(env.counterexample()),
        "conflict": [op.number for op in env.conflict],
        "account": account_data(env.account, namer),
    }


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def program_from_dict(data: object) -> Program:
    """Return the program that `program_to_dict` wrote. Raises `ExchangeError`."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ExchangeError("the data", f"is not a program: its format is not {FORMAT!r}", "see ShapeEnv.to_dict")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise ExchangeError("version", f"{data.get('version')!r} is not {VERSION}", "write it with the same symbcast")
    whole = JsonObject(data, "data")
    least, on_conflict = whole.int("min_size"), whole.text("on_conflict")
    min_size = whole.read("min_size", lambda: check_min_size(least))
    if on_conflict not in ("raise", "record"):
        raise ExchangeError("data.on_conflict", f"is {on_conflict!r:.40}, not 'raise' or 'record'")
    names = NameTable()
    symbols = [read_symbol_data(JsonObject(e, f"symbols[{n}]")) for n, e in enumerate(whole.list("symbols"))]
    if len(set(map(str, symbols))) < len(symbols):
        raise ExchangeError("symbols", "name a size twice")
    names.bind(shape_of(symbols))
    ops = [_read_op(n, JsonObject(e, f"operations[{n}]"), names) for n, e in enumerate(whole.list("operations"))]
    return whole.read("operations", lambda: Program.restored(ops, min_size, on_conflict, symbols))


def read_symbol_data(entry: JsonObject) -> Symbol:
    """Return a size that `symbols_data` wrote."""
    name = entry.text("name")
    if not name:
        raise ExchangeError(f"{entry.place}.name", "is empty")
    if entry.data.get("sequence", False):
        return AxisSequence(name).rest()
    if "lower" in entry.data or "upper" in entry.data:
        lower, upper = entry.int("lower"), entry.get("upper", (int, type(None)), "an integer or null")
        if not name.startswith("?") or lower < 0 or (upper is not None and upper < lower):
            raise ExchangeError(
                entry.place, f"is not an unknown size: {name} in {lower}..{'' if upper is None else upper}"
            )
        return Unknown(name, lower, upper)
    flags = {flag: True for flag in _FLAGS if flag in entry.data and entry.get(flag, bool, "true")}
    if not flags:
        return symbol(name)
    import sympy

    from symbcast.core.algebra.sympy_conversion import read_symbol

    try:
        return read_symbol(sympy.Symbol(name, integer=True, nonnegative=True, **flags))
    except ValueError:
        raise ExchangeError(entry.place, f"{' and '.join(flags)} contradict each other") from None


def _read_op(number: int, entry: JsonObject, names: NameTable) -> Op:
    kind = entry.get("kind", str, "a kind of operation")
    origin = entry.get("origin", (str, type(None)), "text or null")
    if kind in ("require", "assume"):
        text = entry.text("formula")
        formula = entry.read("formula", lambda: names.bind_formula(parse_formula(text)))
        return Op(number, kind, origin, formula=formula, text=entry.text("text"))
    if kind not in ("broadcast", "equal") and kind not in operator_names():
        raise ExchangeError(f"{entry.place}.kind", f"{kind!r} is not a kind of operation")
    operands = tuple(_read_shape(entry, "operands", text, names) for text in entry.list("operands"))
    output = _read_shape(entry, "output", entry.text("output"), names)
    if kind == "equal":
        if len(operands) != 2:
            raise ExchangeError(f"{entry.place}.operands", f"are {len(operands)}, not 2")
        return Op(number, kind, origin, operands, output=output)
    rule = JsonObject(entry.get("rule", Mapping, "an object"), f"{entry.place}.rule")
    attributes = {name: _tuple(value) for name, value in rule.get("attributes", Mapping, "an object").items()}
    if kind != "broadcast":
        operator = rule.read("attributes", lambda: find_operator(kind, attributes))
        entry.read("operands", lambda: operator.check_operands([s.dims for s in operands]))
        return Op(number, kind, origin, operands, operator, output=output)
    named = rule.read("name", lambda: find_rule(rule.text("called"), attributes))
    if rule.text("name") != named.name:
        raise ExchangeError(f"{rule.place}.name", f"{rule.text('name')!r} is not what {named.called!r} is called")
    entry.read("operands", lambda: named.check_operands([s.dims for s in operands]))
    return Op(number, kind, origin, operands, named, output=output)


def _read_shape(entry: JsonObject, key: str, text: Any, names: NameTable) -> Shape:
    if not isinstance(text, str):
        raise ExchangeError(f"{entry.place}.{key}", f"{text!r:.40} is not text")
    # An operation can compute a size that does not fit in 64 bits, though users cannot write one in text.
    return entry.read(key, lambda: names.bind_all([(any_shape_of(parse_shape(text, max_size=None)), False)])[0])


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


QuestionKind: TypeAlias = Literal["cases", "solution", "expansion", "proved", "repairs", "bounds"]


def question_schema(kind: QuestionKind) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one kind of data.

    >>> question_schema("solution")["required"][:3]
    ['version', 'rule', 'operands']
    """
    schemas = json.loads(Path(__file__).with_name("questions.schema.json").read_text("utf-8"))
    return {"$schema": schemas["$schema"], **schemas["$defs"][kind]}
