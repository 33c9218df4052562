"""`Contract`: a large proved set of sizes of a form, for servers and compilers.

A contract is written as JSON and read back without the model; z3 proves what was read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import cache, cached_property, partial
from importlib.resources import files
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from symbcast.answers.contracts.check import Check, ContractFailure, failures_in, smallest_left, undecided_in
from symbcast.answers.contracts.proof import inside_boxes, prove_contract
from symbcast.answers.contracts.question import (
    ContractQuestion,
    PartialAnswer,
    RangeLike,
    Tensor,
    WantedRanges,
    range_text,
    read_range,
)
from symbcast.answers.contracts.search.derived import search_derived, span
from symbcast.answers.contracts.search.largest import BestBoxes, largest_boxes
from symbcast.answers.contracts.search.space import decision_in
from symbcast.answers.exchange import JsonObject, check_schema, read_symbol_data, symbols_data
from symbcast.core.advice import Guessable
from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Symbol, symbols_of, term
from symbcast.core.characters import closest, number_hint, prose_list
from symbcast.core.effort import one_call
from symbcast.core.programs.certificates import Certificate
from symbcast.core.programs.scope import NameTable
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, shape_of
from symbcast.core.solver.evaluation import replace_in_formula
from symbcast.core.structs import NamedTuple
from symbcast.core.text import parse_formula, parse_shape
from symbcast.core.verdicts import HasVerdict, Possible, Verdict
from symbcast.errors import ExchangeError, ShapeTypeError, SymbcastError, TargetError, UndecidedError

if TYPE_CHECKING:
    from symbcast.answers.contracts.buckets import Buckets, Traffic


# Contracts as JSON and back, and the schema.


_Value = TypeVar("_Value")

FORMAT = "symbcast.contract"
# It is incremented when a key changes meaning or is removed.
VERSION = 1


@cache
def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema of a contract."""
    text = files("symbcast.answers.contracts").joinpath("contract.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def ranges_data(box: Mapping[str, range]) -> dict[str, dict[str, int]]:
    """Return ranges as data."""
    return {name: {"least": r[0], "greatest": r[-1], "step": r.step} for name, r in box.items()}


def question_data(question: ContractQuestion) -> dict[str, Any]:
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


def _partial_data(question: ContractQuestion) -> dict[str, Any]:
    """Return what is known besides the condition of an answer that is open at some sizes."""
    if question.partial is None:
        return {}
    needed, undecided, why = question.partial
    texts = {"needed": question.namer.formula(needed), "undecided": question.namer.formula(undecided)}
    return {"partial": {**texts, "reason": why}}


def _tensors_data(question: ContractQuestion, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
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


class ContractParts(NamedTuple):
    """The parts of a contract that was read, in the order in which `Contract` takes them."""

    question: ContractQuestion
    sought: WantedRanges
    form: str
    most: int
    best: BestBoxes
    left_out: tuple[ContractFailure, ...]


def read_contract(data: object) -> ContractParts:
    """Return the parts of a contract that `Contract.to_dict` wrote; the boxes are still to be proved.

    Raises `ExchangeError` for other data, with the position of what is wrong.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ExchangeError("the data", f"is not a contract: its format is not {FORMAT!r}", "see Contract.to_dict")
    if data.get("version") != VERSION:
        raise ExchangeError("version", f"{data.get('version')!r} is not {VERSION}", "write it with the same symbcast")
    check_schema(data, contract_schema())
    reader = _ContractReader(data)
    question = reader.question()
    return ContractParts(question, reader.sought(), data["form"], data["most"], reader.best(), reader.left_out())


class _ContractReader:
    """Reads the parts of a contract, which have the types that the schema says."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._names = NameTable()
        listed = [read_symbol_data(JsonObject(s, f"data.question.symbols[{n}]")) for n, s in self._listed()]
        self._symbols = {entry["name"]: s for (_, entry), s in zip(self._listed(), listed, strict=True)}
        if len(self._symbols) < len(listed):
            raise ExchangeError("data.question.symbols", "name a size twice")
        self._names.bind(shape_of(listed))

    def _listed(self) -> list[tuple[int, Any]]:
        return list(enumerate(self._data["question"]["symbols"]))

    def question(self) -> ContractQuestion:
        """Return the question that the contract answers."""
        data = self._data["question"]
        return ContractQuestion(
            formula=self._formula("condition"),
            condition=self._formula("without_assumptions"),
            names={s: name for name, s in self._symbols.items()},
            inputs=self._tensors("inputs"),
            outputs=self._tensors("outputs"),
            aliases=data["aliases"],
            open=data["open"],
            data=tuple(data["data"]),
            notes=tuple(data["notes"]),
            partial=self._partial(),
        )

    def _partial(self) -> PartialAnswer | None:
        partial = self._data["question"].get("partial")
        if partial is None:
            return None
        place = "data.question.partial"
        needed, undecided = (self._read_formula(partial[key], f"{place}.{key}") for key in ("needed", "undecided"))
        return PartialAnswer(needed, undecided, partial["reason"])

    def _formula(self, key: str) -> Formula:
        return self._read_formula(self._data["question"][key], f"data.question.{key}")

    def _read_formula(self, text: str, place: str) -> Formula:
        return _read(place, lambda: self._names.bind_formula(parse_formula(text)))

    def _tensors(self, key: str) -> dict[str, Tensor]:
        return {
            name: Tensor(
                None if data["shape"] is None else self._shape(data["shape"], f"data.question.{key}.{name}.shape"),
                data["element_type"],
                tuple(data["declared"]) if "declared" in data else None,
            )
            for name, data in self._data["question"][key].items()
        }

    def _shape(self, dims: list[str], place: str) -> Shape:
        text = f"({''.join(f'{dim}, ' for dim in dims)})"
        return _read(place, lambda: self._names.bind_all([(any_shape_of(parse_shape(text, max_size=None)), False)])[0])

    def sought(self) -> WantedRanges:
        """Return the wanted sizes."""
        ranges = self._box(self._data["wanted"], "data.wanted")
        typical = {self._symbol(n, "data.typical"): tuple(sizes) for n, sizes in self._data["typical"].items()}
        ranges_read = WantedRanges(ranges, typical)
        ranges_read.explicit = frozenset(self._symbol(name, "data.given") for name in self._data["given"])
        return ranges_read

    def best(self) -> BestBoxes:
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
        return BestBoxes(boxes, self._data["open"], derived)

    def _box(self, box: Mapping[str, Any], place: str) -> dict[Symbol, range]:
        if box.keys() != self._symbols.keys():
            raise ExchangeError(place, f"does not have the sizes {', '.join(self._symbols)}")
        box_read = {}
        for name, text in box.items():
            sizes = range(text["least"], text["greatest"] + 1, text["step"])
            if not sizes or sizes[-1] != text["greatest"] or (len(sizes) == 1 and sizes.step > 1):
                raise ExchangeError(f"{place}.{name}", "is not a range from a smaller to a larger size in steps")
            box_read[self._symbols[name]] = _read(f"{place}.{name}", partial(read_range, sizes))
        return {s: box_read[s] for s in self._symbols.values()}

    def left_out(self) -> tuple[ContractFailure, ...]:
        """Return what is left out, as it was written."""
        return tuple(ContractFailure(**failure) for failure in self._data["left_out"])

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


def check_read(data: Any, written: Mapping[str, Any], read: ContractParts) -> None:
    """Raise `ExchangeError` unless a contract that was read is proved, and says again what its data say.

    ``written`` are the data of the contract made of what was read.
    """
    # z3 proves the contract again: a file may have been edited, and nothing in it counts as a proof.
    if any(claim["outcome"] != "proved" for claim in written["proof"]):
        raise ExchangeError("data.boxes", "are not proved: some sizes in them may fail", "ask for the contract again")
    if not read.best.boxes and not written["reason"]:
        decision = decision_in(read.sought.ranges, [read.question.formula])
        if decision is not None and not decision.impossible:
            raise ExchangeError("data.boxes", "are missing, but some wanted sizes work", "ask for the contract again")
    for key in ("verdict", "reason", "is_largest", "proof"):
        if data[key] != written[key]:
            raise ExchangeError(f"data.{key}", f"is {data[key]!r:.60}, not {written[key]!r:.60}")


# How many boxes a form has at most, unless the caller says otherwise.
MOST = {"box": 1, "steps": 1, "derived": 1, "profiles": 4, "list": 128}


class Contract(Guessable, HasVerdict):
    """Ranges of sizes, each size in which works, proved by z3.

    Attributes:
        verdict: ALWAYS: all sizes in the boxes work. NEVER: no wanted sizes work. UNKNOWN: see `reason`. SOMETIMES: all
            sizes in the boxes work if the data meet what `reason` says.
        form: ``"box"``, ``"steps"``, ``"derived"``, ``"profiles"`` or ``"list"``.
        wanted: The range in which each size was sought.
        boxes: Disjoint boxes: mappings from the names of all sizes to Python ranges, the best first.
        derived: The sizes that are linear expressions of others, as text: ``{"b": "2*a"}``. Only the other sizes are
            free; the range of a derived size has its values. Empty unless the form is ``"derived"``.
        question: The condition, its names and inputs.
        requested: The wanted sizes.
        proof: For each clause of the condition, z3's answer to whether all sizes in the boxes satisfy it.

    It has no truth value: compare its `verdict`.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the question, and what was found
        self,
        question: ContractQuestion,
        sought: WantedRanges,
        form: str,
        most: int,
        best: BestBoxes,
        left_out: tuple[ContractFailure, ...] | None = None,
    ) -> None:
        self.question = question
        self.requested = sought
        self.form = form
        self.most = most
        self.wanted = {name: sought.ranges[s] for s, name in question.names.items()}
        self.proof = _proof(best, question, sought)
        self._best = best if self.proof else BestBoxes([], _UNPROVED)
        self._known_left = left_out
        self.boxes: tuple[dict[str, range], ...] = tuple(self._named(box) for box in self._best.boxes)
        self.derived = {question.names[s]: question.namer.dim(e) for s, e in self._best.derived.items()}

    def _named(self, box: Mapping[Symbol, range]) -> dict[str, range]:
        return {name: box[s] for s, name in self.question.names.items()}

    @property
    def _possible(self) -> Possible:
        if self.question.open or (not self.boxes and (self._best.open or self._undecided)):
            return None, None
        return bool(self.boxes), not self.boxes or bool(self.question.data)

    @property
    def open(self) -> str:
        """Why the boxes may not be the largest, or why there are none; empty if they are."""
        return self._best.open

    @property
    def reason(self) -> str:
        """Why the verdict is unknown, what data must meet, or why the boxes may not be the largest; else empty."""
        data = f"data must meet {' and '.join(self.question.data)}" if self.question.data else ""
        undecided = "" if self._undecided is None else self._undecided.reason
        return self.question.open or "; ".join(filter(None, (data, undecided, self._best.open)))

    @cached_property
    def _undecided(self) -> ContractFailure | None:
        """Wanted sizes that are neither proved to work nor to fail, of an answer that is open at some sizes."""
        return None if self.question.hidden else self._asked_undecided()

    @one_call
    def _asked_undecided(self) -> ContractFailure | None:
        return undecided_in(self.question, self.requested.ranges)

    @property
    def is_largest(self) -> bool:
        """Whether it is proved that no set of its form within the wanted ranges has more sizes.

        Where typical sizes are given, a set with more of these comes before a larger one.
        """
        return bool(self.boxes) and not self._best.open and self._undecided is None

    @property
    def typical(self) -> dict[str, tuple[int, ...]]:
        """The typical sizes that the caller gave, by name."""
        return {self.question.names[s]: sizes for s, sizes in self.requested.typical.items()}

    @property
    def size(self) -> int:
        """How many combinations of sizes the boxes have."""
        return sum(prod(len(r) for name, r in box.items() if name not in self.derived) for box in self.boxes)

    @property
    def coverage(self) -> dict[str, tuple[int, int]]:
        """For each size, how many of the wanted sizes are in some box, and how many were wanted.

        >>> from symbcast import Condition
        >>> Condition("H % 120 == 64").contract(H="64..1024").coverage
        {'H': (1, 961)}
        """
        return {name: (count_of({box[name] for box in self.boxes}), len(r)) for name, r in self.wanted.items()}

    @cached_property
    def left_out(self) -> tuple[ContractFailure, ...]:
        """Why wanted sizes are left out: a failure for each clause, then sizes that work but do not fit the form."""
        return self._left_out()

    @one_call
    def _left_out(self) -> tuple[ContractFailure, ...]:
        if self._known_left is not None:
            return self._known_left
        if self.question.hidden:
            return ()
        failures, _ = failures_in(self.question, self.requested.ranges)
        left = smallest_left(self.question, self.requested.ranges, self._best) if self.boxes else None
        return tuple(failure for failure in (*failures, self._undecided, left) if failure is not None)

    @one_call
    def check(self, ranges: Mapping[str, RangeLike] | None = None, /, **more: RangeLike) -> Check:
        """Return whether every size in some ranges works, where it fails first, and how to pad, crop or bucket.

        A size for which no range is given has the wanted one.

        >>> import symbcast as sb
        >>> contract = sb.Condition("H % 32 == 0").contract(H="64..1280")
        >>> check = contract.check(H="64..128")
        >>> check.verdict, check.ends_work, check.failures[0].sizes
        (<Verdict.SOMETIMES: 'sometimes'>, True, {'H': 65})
        """
        checked = WantedRanges.read(self.question.names, self._own({**(ranges or {}), **more}), {})
        return Check(
            self.question,
            {s: r if s in checked.explicit else self.requested.ranges[s] for s, r in checked.ranges.items()},
        )

    def _own(self, ranges: Mapping[str, Any]) -> dict[str, Any]:
        return own_names(self.question, ranges)

    @one_call
    def to(self, target: str, *, inputs: Mapping[str, ShapeLike] | None = None) -> str:
        """Return the contract as text for a target: see the README of `symbcast.answers.contracts`.

        ``inputs`` are shapes by name, for an answer that has no inputs. Raises `TargetError` if the target cannot
        express the contract, or if the text would break one of its rules, and `UndecidedError` if nothing is proved;
        ``"json"`` is written for every verdict.

        >>> import symbcast as sb
        >>> contract = sb.broadcast("N, 3", "N, 1").contract(N="1..16")
        >>> print(contract.to("trtexec"))
        --minShapes=A:1x3,B:1x1 --optShapes=A:16x3,B:16x1 --maxShapes=A:16x3,B:16x1
        """
        from symbcast.answers.contracts.targets import target_of
        from symbcast.answers.contracts.targets.declaration import Request, tensors_of

        writer = target_of(target)
        if writer.forms != "all":
            self.require()
        tensors = tensors_of(self.question, inputs or {})

        def other(form: str, most: int, fixed: Collection[str]) -> str:
            return self.in_form(form, most, fixed).to(target, inputs=inputs)

        text = writer.write(
            Request(
                target,
                self.form,
                self.boxes,
                self._best.derived,
                self.question,
                tensors,
                self.typical,
                self.to_dict,
                other,
            )
        )
        problem = self.question.refusal(target, text)
        if problem:
            raise TargetError(target, problem, "want sizes that it accepts too")
        return text

    def in_form(self, form: str, most: int, fixed: Collection[str] = ()) -> Contract:
        """Return the contract for the same question in another form; some sizes fixed at great ones that work."""
        requested, point = self.requested, {}
        if fixed:
            single = best_contract(self.question, requested, "list", 1)
            point = {name: single.boxes[0][name] for name in fixed} if single.boxes else {}
        ranges = {s: point.get(self.question.names[s], r) for s, r in requested.ranges.items()}
        return best_contract(self.question, WantedRanges(ranges, requested.typical), form, most)

    def require(self) -> None:
        """Raise `UndecidedError` unless the contract is proved, at least for suitable data, and has sizes."""
        if self.verdict not in (Verdict.ALWAYS, Verdict.SOMETIMES):
            raise UndecidedError(self.reason or "no wanted sizes work")

    @one_call
    def buckets(self, k: int, traffic: Traffic, *, sizes: Sequence[str] = ()) -> Buckets:
        """Return at most ``k`` padded shapes that cover some sizes with the least padding, each proved to work.

        ``traffic`` are sizes, or sizes with how often each occurs: ``[120, 300]``, ``{120: 5, 300: 1}``, or for two
        sizes ``{(120, 64): 5}``. ``sizes`` are their names, by default the sizes with more than one wanted value. The
        shapes work with all values that the other sizes have in the first box. Raises `UndecidedError` if no valid
        shape is large enough.

        >>> import symbcast as sb
        >>> contract = sb.Condition("H % 32 == 0").contract(H="32..1280")
        >>> found = contract.buckets(2, {60: 5, 64: 1, 300: 1})
        >>> found.shapes, round(found.waste, 3)
        ([{'H': 64}, {'H': 320}], 0.06)
        """
        from symbcast.answers.contracts.buckets import buckets_of

        self.require()
        names = tuple(self._own(dict.fromkeys(sizes)))
        best = self.in_form("steps", 1)._best if self.derived else self._best
        return buckets_of(self.question, self.requested, best.boxes[0], k, traffic, names)

    def explain(self) -> str:
        """Return the contract in words."""
        is_fixed = not self.wanted
        lines = [f"box          {_FIXED if is_fixed else self._box_text(box)}" for box in self.boxes[:_SHOWN]]
        if len(self.boxes) > _SHOWN:
            lines.append(f"             and {len(self.boxes) - _SHOWN} more")
        lines.append(_HEADS[self.verdict].format("the fixed sizes work" if is_fixed else _counted(self.size)))
        if self.reason:
            lines.append(f"open         {self.reason}")
        return "\n".join([*lines, *self.omissions()])

    def _covers(self) -> str:
        """Return how many of the wanted sizes the boxes have, by name; in numbers only where some are missing."""
        total = prod(len(sizes) for name, sizes in self.wanted.items() if name not in self.derived)
        if self.size == total:
            return "all wanted sizes"
        partial = [f"{has:,} of {of:,} sizes of {n}" for n, (has, of) in self.coverage.items() if has < of]
        return prose_list(partial, limit=8) or f"{self.size:,} of {total:,} combinations of the wanted sizes"

    def omissions(self) -> list[str]:
        """Return the lines of `explain` about what the boxes cover and leave out, what is not checked, and defaults."""
        lines = [f"covers       {self._covers()}"] if self.boxes and self.wanted else []
        lines += [f"left out     {failure}" for failure in self.left_out if failure != self._undecided]
        lines += [f"data         {note}" for note in self.question.notes[:_NOTES]]
        missed = [f"{n}={size}" for n, sizes in self.typical.items() for size in sizes if not self._has(n, size)]
        if missed and self.boxes:
            lines.append(f"typical      {', '.join(missed)} in no box")
        default = {n: self.wanted[n] for s, n in self.question.names.items() if s not in self.requested.explicit}
        if default:
            assumed = ", ".join(f"{name}={range_text(r)}" for name, r in default.items())
            lines.append(f"no range     {assumed} was assumed")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the contract as plain data for JSON, as `json_schema` describes it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "form": self.form,
            "most": self.most,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "is_largest": self.is_largest,
            "wanted": ranges_data(self.wanted),
            "given": [name for s, name in self.question.names.items() if s in self.requested.explicit],
            "typical": {name: list(sizes) for name, sizes in self.typical.items()},
            "boxes": [ranges_data(box) for box in self.boxes],
            "derived": dict(self.derived),
            "open": self.open,
            "proof": [{"claim": claim.text, "outcome": claim.proof.value} for claim in self.proof.claims],
            "left_out": [asdict(failure) for failure in self.left_out],
            "question": question_data(self.question),
        }

    @classmethod
    @one_call
    def from_dict(cls, data: object) -> Contract:
        """Return the contract that `to_dict` wrote; its boxes are proved again.

        Raises `ExchangeError` for data that the schema refuses, for boxes that z3 does not prove, and for an answer
        that the boxes do not give.

        >>> import symbcast as sb
        >>> contract = sb.Condition("H % 32 == 0").contract(H="64..1280", form="steps")
        >>> sb.Contract.from_dict(contract.to_dict()).boxes == contract.boxes
        True
        """
        read = read_contract(data)
        contract = cls(*read)
        check_read(data, contract.to_dict(), read)
        return contract

    @classmethod
    def from_json(cls, text: str) -> Contract:
        """Return the contract that ``to("json")`` wrote: see `from_dict`.

        Raises `ExchangeError` for text that is no JSON too.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ExchangeError("the text", f"is no JSON: {error}") from None
        return cls.from_dict(data)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of `to_dict`."""
        return contract_schema()

    def __repr__(self) -> str:
        shown = "; ".join(map(self._box_text, self.boxes[:3]))
        return f"<Contract: {self.verdict.value}, {self.form}, {shown or 'no sizes'}{' ...' * (len(self.boxes) > 3)}>"

    def _has(self, name: str, size: int) -> bool:
        return any(size in box[name] for box in self.boxes)

    def _box_text(self, box: Mapping[str, range]) -> str:
        return ", ".join(f"{name}={self.derived.get(name, range_text(r))}" for name, r in box.items()) or "no sizes"

    def __bool__(self) -> NoReturn:
        raise TypeError("a contract has no truth value: compare its .verdict")


_HIDDEN = "the condition is about sizes without a name"
_UNPROVED = "z3 did not prove the sizes that were found"
_FIXED = "all sizes are fixed"
_SHOWN = 8
_NOTES = 2
_HEADS = {
    Verdict.ALWAYS: "valid        {}, as z3 proved",
    Verdict.SOMETIMES: "valid        {} with suitable data, as z3 proved",
    Verdict.NEVER: "valid        none of the wanted sizes work",
    Verdict.UNKNOWN: "valid        unknown",
}


def count_of(ranges: Collection[range]) -> int:
    """Return how many numbers are in at least one of some ranges.

    >>> count_of({range(1, 9), range(5, 20, 5), range(40, 41)})
    11
    """
    if len(ranges) < 2:
        return sum(map(len, ranges))
    if any(r.step > 1 for r in ranges):
        return len(set[int]().union(*ranges))
    count = end = 0
    for r in sorted(ranges, key=lambda r: r.start):
        count += max(0, r.stop - max(r.start, end))
        end = max(end, r.stop)
    return count


def _counted(size: int) -> str:
    return "the one combination of sizes works" if size == 1 else f"all {size:,} combinations of sizes work"


def _proof(best: BestBoxes, question: ContractQuestion, ranges: WantedRanges) -> Certificate:
    """Return the proof that all sizes of some boxes work; of derived sizes also that they are wanted."""
    derived = best.derived
    free = [{s: r for s, r in box.items() if s not in derived} for box in best.boxes]
    claims = [(replace_in_formula(clause, derived), text) for clause, text in question.clauses]
    for s in derived if best.boxes else ():
        wanted_range = inside_boxes({s: ranges.ranges[s]})
        claims.append((replace_in_formula(wanted_range, derived), question.namer.formula(wanted_range)))
    return prove_contract(free, claims)


def own_names(question: ContractQuestion, ranges: Mapping[str, Any]) -> dict[str, Any]:
    """Return ranges by the answer's own names; a caller may also write aliases and identifiers of the guards."""
    from symbcast.answers.guards.clauses import ascii_identifier

    own = set(question.names.values())
    spelled = {ascii_identifier(name): name for name in question.names.values()}
    return {n if n in own else question.aliases.get(n, spelled.get(n, n)): r for n, r in ranges.items()}


def contract_of(
    question: ContractQuestion, form: str, ranges: Mapping[str, RangeLike], typical: Mapping[str, Any], most: int | None
) -> Contract:
    """Return the contract for a question; raise `ShapeTypeError` for a wrong form or number of boxes."""
    if form not in MOST:
        close = closest(form, MOST) if isinstance(form, str) else None
        hint = f"did you mean {close!r}? It is" if close else "it is"
        raise ShapeTypeError(form, "a form of contract", f"{hint} one of {', '.join(MOST)}")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise ShapeTypeError(most, "a number of boxes", number_hint("most", most, "write 1 or more"))
    if not isinstance(typical, Mapping):
        raise ShapeTypeError(typical, "typical sizes by name", 'write typical={"H": [640]}')
    written = own_names(question, ranges), own_names(question, typical)
    requested = WantedRanges.read(question.names, *written, question.assumed)
    return best_contract(question, requested, form, MOST[form] if most is None else most)


def best_contract(question: ContractQuestion, sought: WantedRanges, form: str, most: int) -> Contract:
    """Return the contract with the best set of a form that the search finds."""
    if question.hidden:
        best = BestBoxes([], _HIDDEN)
    elif form == "derived":
        best = search_derived(question.formula, sought)
    else:
        best = largest_boxes(question.formula, sought, form, most)
    return Contract(question, sought, form, most, best)
