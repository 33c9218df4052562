"""Programs as plain data for JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from symbcast.answers.exchange.answers import AccountData, account_data, sizes_data
from symbcast.answers.exchange.entries import Entry
from symbcast.answers.explanation.names import Namer
from symbcast.core.algebra.sequences import AxisSequence, SequenceSymbol
from symbcast.core.algebra.symbols import Symbol, Unknown, symbol
from symbcast.core.broadcasting import find_rule
from symbcast.core.logic.formulas import all_of
from symbcast.core.program.operations.operation import Op
from symbcast.core.program.sizes.assumptions import check_min_size
from symbcast.core.program.sizes.names import Names
from symbcast.core.program.whole.program import Program
from symbcast.core.shapes import Shape, any_shape_of, shape_of
from symbcast.core.text import parse_formula, parse_shape
from symbcast.core.verdicts import Verdict
from symbcast.errors import ExchangeError
from symbcast.operators.recorded.operator import find_operator, operator_names

FORMAT = "symbcast.program"
VERSION = 1
"""It is incremented when a key changes meaning or is removed."""

_FLAGS = ("positive", "even", "odd", "zero")
"""What sympy may know about a symbol, other than that it is a size."""


class AnswerData(TypedDict):
    """The answer about a program; conflicting operations are listed by number."""

    verdict: str
    condition: str
    clauses: list[str]
    unproven: list[str]
    reason: str
    witness: dict[str, int] | None
    counterexample: dict[str, int] | None
    conflict: list[int]
    account: AccountData


class ProgramData(TypedDict):
    """A program and the answer about it, as `json_schema` describes them."""

    format: str
    version: int
    min_size: int
    on_conflict: str
    symbols: list[dict[str, object]]
    operations: list[dict[str, object]]
    answer: AnswerData


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the data that `program_to_dict` returns."""
    found: dict[str, object] = json.loads(Path(__file__).with_name("program.schema.json").read_text("utf-8"))
    return found


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
    found = {s.sequence if isinstance(s, SequenceSymbol) else s: _symbol(s, name) for s, name in shown.items()}
    return list(found.values())


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


def _answer(env: Program, namer: Namer) -> AnswerData:
    never = env.verdict is Verdict.NEVER
    return {
        "verdict": env.verdict.value,
        "condition": "False" if never else namer.formula(all_of(env.clauses)) if env.clauses else "True",
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
    whole = Entry(data, "data")
    least, on_conflict = whole.int("min_size"), whole.text("on_conflict")
    min_size = whole.read("min_size", lambda: check_min_size(least))
    if on_conflict not in ("raise", "record"):
        raise ExchangeError("data.on_conflict", f"is {on_conflict!r:.40}, not 'raise' or 'record'")
    names = Names()
    symbols = [read_symbol_data(Entry(e, f"symbols[{n}]")) for n, e in enumerate(whole.list("symbols"))]
    if len(set(map(str, symbols))) < len(symbols):
        raise ExchangeError("symbols", "name a size twice")
    names.bind(shape_of(symbols))
    ops = [_read_op(n, Entry(e, f"operations[{n}]"), names) for n, e in enumerate(whole.list("operations"))]
    return whole.read("operations", lambda: Program.restored(ops, min_size, on_conflict, symbols))


def read_symbol_data(entry: Entry) -> Symbol:
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

    from symbcast.core.algebra.door import read_symbol

    try:
        return read_symbol(sympy.Symbol(name, integer=True, nonnegative=True, **flags))
    except ValueError:
        raise ExchangeError(entry.place, f"{' and '.join(flags)} contradict each other") from None


def _read_op(number: int, entry: Entry, names: Names) -> Op:
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
    rule = Entry(entry.get("rule", Mapping, "an object"), f"{entry.place}.rule")
    if kind != "broadcast":
        given = {name: _tuple(value) for name, value in rule.get("attributes", Mapping, "an object").items()}
        operator = rule.read("attributes", lambda: find_operator(kind, given))
        entry.read("operands", lambda: operator.check_operands([s.dims for s in operands]))
        return Op(number, kind, origin, operands, operator, output=output)
    attributes = {name: _tuple(value) for name, value in rule.get("attributes", Mapping, "an object").items()}
    found = rule.read("name", lambda: find_rule(rule.text("called"), attributes))
    if rule.text("name") != found.name:
        raise ExchangeError(f"{rule.place}.name", f"{rule.text('name')!r} is not what {found.called!r} is called")
    entry.read("operands", lambda: found.check_operands([s.dims for s in operands]))
    return Op(number, kind, origin, operands, found, output=output)


def _read_shape(entry: Entry, key: str, text: Any, names: Names) -> Shape:
    if not isinstance(text, str):
        raise ExchangeError(f"{entry.place}.{key}", f"{text!r:.40} is not text")
    # An operation can compute a size that does not fit in 64 bits, though users cannot write one in text.
    return entry.read(key, lambda: names.bind_all([(any_shape_of(parse_shape(text, max_size=None)), False)])[0])


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
