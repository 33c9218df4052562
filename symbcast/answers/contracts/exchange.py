"""Contracts as JSON and back, and the schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from symbcast.answers.contracts.checks.failures import Failure
from symbcast.answers.contracts.inputs import Tensor
from symbcast.answers.contracts.question import Partial, Question
from symbcast.answers.contracts.search.derived import span
from symbcast.answers.contracts.search.largest import Found
from symbcast.answers.contracts.search.space import decision_in
from symbcast.answers.contracts.wanted import Wanted, read_range
from symbcast.answers.exchange.entries import Entry
from symbcast.answers.exchange.programs import read_symbol_data, symbols_data
from symbcast.answers.exchange.schemas import check_schema
from symbcast.core.algebra.terms import symbols_of, term
from symbcast.core.program.sizes.names import Names
from symbcast.core.shapes import any_shape_of, shape_of
from symbcast.core.text import parse_formula, parse_shape
from symbcast.errors import ExchangeError, SymbcastError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.shapes import Shape

_Value = TypeVar("_Value")

FORMAT = "symbcast.contract"
VERSION = 1
"""It is incremented when a key changes meaning or is removed."""


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a contract."""
    text = files("symbcast.answers.contracts").joinpath("contract.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def ranges_data(box: Mapping[str, range]) -> dict[str, dict[str, int]]:
    """Return ranges as data."""
    return {name: {"least": r[0], "greatest": r[-1], "step": r.step} for name, r in box.items()}


def question_data(question: Question) -> dict[str, Any]:
    """Return a question as data, with conditions and dimensions as text."""
    namer = question.namer
    return {
        "condition": namer.formula(question.formula),
        "without_assumptions": namer.formula(question.condition),
        "symbols": symbols_data(question.names),
        "inputs": _tensors_data(question, question.inputs),
        "outputs": _tensors_data(question, question.outputs),
        "aliases": dict(question.aliases),
        "open": question.open,
        "data": list(question.data),
        "notes": list(question.notes),
        **_partial_data(question),
    }


def _partial_data(question: Question) -> dict[str, Any]:
    """Return what is known besides the condition of an answer that is open at some sizes."""
    if question.partial is None:
        return {}
    needed, undecided, why = question.partial
    texts = {"needed": question.namer.formula(needed), "undecided": question.namer.formula(undecided)}
    return {"partial": {**texts, "reason": why}}


def _tensors_data(question: Question, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    return {
        name: {
            "shape": None
            if tensor.shape is None or tensor.shape.rank is None
            else [question.namer.dim(d) for d in tensor.shape.dims],
            "element_type": tensor.element_type,
            **({} if tensor.declared is None else {"declared": list(tensor.declared)}),
        }
        for name, tensor in tensors.items()
    }


class Read(NamedTuple):
    """The parts of a contract that was read, in the order in which `Contract` takes them."""

    question: Question
    wanted: Wanted
    form: str
    most: int
    found: Found
    left_out: tuple[Failure, ...]


def read_contract(data: object) -> Read:
    """Return the parts of a contract that `Contract.to_dict` wrote; the boxes are still to be proved.

    Raises `ExchangeError` for other data, with the position of what is wrong.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ExchangeError("the data", f"is not a contract: its format is not {FORMAT!r}", "see Contract.to_dict")
    if data.get("version") != VERSION:
        raise ExchangeError("version", f"{data.get('version')!r} is not {VERSION}", "write it with the same symbcast")
    check_schema(data, json_schema())
    reader = _Reader(data)
    question = reader.question()
    return Read(question, reader.wanted(), data["form"], data["most"], reader.found(), reader.left_out())


class _Reader:
    """Reads the parts of a contract, which have the types that the schema says."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._names = Names()
        listed = [read_symbol_data(Entry(s, f"data.question.symbols[{n}]")) for n, s in self._listed()]
        self._symbols = {entry["name"]: s for (_, entry), s in zip(self._listed(), listed, strict=True)}
        if len(self._symbols) < len(listed):
            raise ExchangeError("data.question.symbols", "name a size twice")
        self._names.bind(shape_of(listed))

    def _listed(self) -> list[tuple[int, Any]]:
        return list(enumerate(self._data["question"]["symbols"]))

    def question(self) -> Question:
        """Return the question that the contract answers."""
        told = self._data["question"]
        return Question(
            formula=self._formula("condition"),
            condition=self._formula("without_assumptions"),
            names={s: name for name, s in self._symbols.items()},
            inputs=self._tensors("inputs"),
            outputs=self._tensors("outputs"),
            aliases=told["aliases"],
            open=told["open"],
            data=tuple(told["data"]),
            notes=tuple(told["notes"]),
            partial=self._partial(),
        )

    def _partial(self) -> Partial | None:
        partial = self._data["question"].get("partial")
        if partial is None:
            return None
        place = "data.question.partial"
        needed, undecided = (self._read_formula(partial[key], f"{place}.{key}") for key in ("needed", "undecided"))
        return Partial(needed, undecided, partial["reason"])

    def _formula(self, key: str) -> Formula:
        return self._read_formula(self._data["question"][key], f"data.question.{key}")

    def _read_formula(self, text: str, place: str) -> Formula:
        return _read(place, lambda: self._names.bind_formula(parse_formula(text)))

    def _tensors(self, key: str) -> dict[str, Tensor]:
        return {
            name: Tensor(
                None if told["shape"] is None else self._shape(told["shape"], f"data.question.{key}.{name}.shape"),
                told["element_type"],
                tuple(told["declared"]) if "declared" in told else None,
            )
            for name, told in self._data["question"][key].items()
        }

    def _shape(self, dims: list[str], place: str) -> Shape:
        text = f"({''.join(f'{dim}, ' for dim in dims)})"
        return _read(place, lambda: self._names.bind_all([(any_shape_of(parse_shape(text, max_size=None)), False)])[0])

    def wanted(self) -> Wanted:
        """Return the wanted sizes."""
        ranges = self._box(self._data["wanted"], "data.wanted")
        typical = {self._symbol(n, "data.typical"): tuple(sizes) for n, sizes in self._data["typical"].items()}
        found = Wanted(ranges, typical)
        found.given = frozenset(self._symbol(name, "data.given") for name in self._data["given"])
        return found

    def found(self) -> Found:
        """Return the boxes."""
        boxes = [self._box(box, f"data.boxes[{n}]") for n, box in enumerate(self._data["boxes"])]
        derived = {
            self._symbol(name, "data.derived"): self._shape([text], f"data.derived.{name}").dims[0]
            for name, text in self._data["derived"].items()
        }
        for box in boxes:
            for s, expression in derived.items():
                own = symbols_of([expression])
                if not own or any(t in derived or t not in box for t in own):
                    raise ExchangeError("data.derived", f"{s.name} is not an expression of free sizes")
                if not term(expression).is_linear or box[s] != span(expression, box):
                    raise ExchangeError("data.boxes", f"the range of {s.name} is not that of its expression")
        return Found(boxes, self._data["open"], derived)

    def _box(self, box: Mapping[str, Any], place: str) -> dict[Symbol, range]:
        if box.keys() != self._symbols.keys():
            raise ExchangeError(place, f"does not have the sizes {', '.join(self._symbols)}")
        found = {}
        for name, told in box.items():
            sizes = range(told["least"], told["greatest"] + 1, told["step"])
            if not sizes or sizes[-1] != told["greatest"] or (len(sizes) == 1 and sizes.step > 1):
                raise ExchangeError(f"{place}.{name}", "is not a range from a smaller to a larger size in steps")
            found[self._symbols[name]] = _read(f"{place}.{name}", partial(read_range, sizes))
        return {s: found[s] for s in self._symbols.values()}

    def left_out(self) -> tuple[Failure, ...]:
        """Return what is left out, as it was written."""
        return tuple(Failure(**failure) for failure in self._data["left_out"])

    def _symbol(self, name: str, place: str) -> Symbol:
        if name not in self._symbols:
            raise ExchangeError(place, f"names {name!r:.40}, which is not a size of the question")
        return self._symbols[name]


def _read(place: str, reader: Callable[[], _Value]) -> _Value:
    """Return what a reader returns, or raise its error with the position."""
    try:
        return reader()
    except SymbcastError as error:
        raise ExchangeError(place, str(error)) from error


def check_read(data: Any, written: Mapping[str, Any], read: Read) -> None:
    """Raise `ExchangeError` unless a contract that was read is proved, and says again what its data say.

    ``written`` are the data of the contract made of what was read.
    """
    if any(claim["outcome"] != "proved" for claim in written["proof"]):
        raise ExchangeError("data.boxes", "are not proved: some sizes in them may fail", "ask for the contract again")
    if not read.found.boxes and not written["reason"]:
        decision = decision_in(read.wanted.ranges, [read.question.formula])
        if decision is not None and not decision.impossible:
            raise ExchangeError("data.boxes", "are missing, but some wanted sizes work", "ask for the contract again")
    for key in ("verdict", "reason", "is_largest", "proof"):
        if data[key] != written[key]:
            raise ExchangeError(f"data.{key}", f"is {data[key]!r:.60}, not {written[key]!r:.60}")
