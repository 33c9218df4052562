"""What a contract is asked about: a condition with its sizes and origins, inputs and outputs, and wanted ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from symbcast.answers.explanation.words import Namer
from symbcast.core.algebra.formulas import FALSE, AnyOf, Clashing, Compatible, Formula, all_of, any_of, clauses, expand
from symbcast.core.algebra.symbols import SequenceSymbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import closest
from symbcast.core.shapes import Shape
from symbcast.core.solver.evaluation import normal_conjuncts, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import formula_text
from symbcast.errors import BindingError, ShapeTypeError, UnknownRankError

# The inputs and outputs that a contract is about: their shapes and element types.


# NumPy's names of element types by their numbers in ONNX's ``TensorProto.DataType``.
ELEMENT_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
}


class Tensor(NamedTuple):
    """An input or output.

    Attributes:
        shape: Its shape; None if unknown.
        element_type: NumPy's name of its element type; empty if unknown.
        declared: What the model's own file says about its axes: numbers, and None for a size that is open. None if that
            is unknown. A fixed size of the answer may be open here, and a target that compares a text with the model
            compares it with this.
    """

    shape: Shape | None
    element_type: str = ""
    declared: tuple[int | None, ...] | None = None

    @property
    def axes(self) -> tuple[int | None, ...] | None:
        """The axes in the model, as far as they are known: as declared, else numbers of the shape; None if unknown."""
        if self.declared is not None:
            return self.declared
        if self.shape is None or self.shape.rank is None:
            return None
        return tuple(d if isinstance(d, int) else None for d in self.shape.dims)


# The sizes that a caller wants: a range for each size, read from text, numbers and Python ranges.


RangeLike: TypeAlias = "str | int | range | Iterable[int]"
"""``"64..1280"``, ``"64..1280 step 32"``, one size, a Python range, or some sizes."""

# The range of a size for which the caller gives none.
DEFAULT = range(1, 4097)
_TEXT = re.compile(r"\s*(\d+)\s*(?:\.\.\s*(\d+)\s*(?:step\s+(\d+)\s*)?)?", re.ASCII)
_ENDLESS = re.compile(r"\s*\d+\s*\.\.\s*(?:inf|oo|\*|\?|∞)?\s*", re.ASCII)
_HINT = 'write a range such as "64..1280" or "64..1280 step 32", a size such as 224, or a Python range'
_ANY = SizeSet.interval(0, None)
_MOST = 1 << 31
# A set of sizes is a mask with a bit for each: 2 MB.
_WIDEST = 1 << 24


def read_range(value: RangeLike) -> range:
    """Return the Python range of a caller's range; of several sizes, the range from the least to the greatest.

    Raises `ShapeTypeError` for what is no range of sizes.

    >>> read_range("64..1280 step 32"), read_range(8), read_range(range(9, 2, -2))
    (range(64, 1281, 32), range(8, 9), range(3, 10, 2))
    """
    if isinstance(value, str):
        match = _TEXT.fullmatch(value)
        if match is None and _ENDLESS.fullmatch(value):
            raise ShapeTypeError(value, "a range with an end", "give the greatest size that a request can have")
        if match is None:
            other = range_in_other_notation(value)
            raise ShapeTypeError(value, "a range of sizes", f'write "{other}"' if other else _HINT)
        low, high, step = (int(part) if part else None for part in match.groups())
        assert low is not None
        # A step of 0 becomes -1, which is refused in our words: `range` would raise a ValueError.
        return _checked(range(low, (low if high is None else high) + 1, 1 if step is None else step or -1), value)
    if isinstance(value, bool):
        raise ShapeTypeError(value, "a range of sizes", _HINT)
    if isinstance(value, int):
        return _checked(range(value, value + 1), value)
    if isinstance(value, range):
        # A descending range has the same sizes.
        return _checked(value[::-1] if value.step < 0 else value, value)
    sizes = _sizes(value)
    return _checked(range(min(sizes), max(sizes) + 1) if sizes else range(0), value)


# A range as other tools write it.
_OTHER = re.compile(
    r"\s*(?:range)?[(\[]?\s*([0-9]+)\s*(?:-|:|,|to|\.\.\.|…)\s*([0-9]+)\s*(?:(?:-|:|,|/|by|step)\s*([0-9]+)\s*)?[)\]]?\s*"
    r"|\s*([0-9]+)\s*\.\.\s*([0-9]+)\s*(?:,|:|/|\.\.|by)\s*([0-9]+)\s*"
)


def range_in_other_notation(text: str) -> str:
    """Return a range in another notation as it is written here; empty for any other text.

    >>> range_in_other_notation("8-64"), range_in_other_notation("[64, 1280, 32]"), range_in_other_notation("all")
    ('8..64', '64..1280 step 32', '')
    """
    match = _OTHER.fullmatch(text)
    if match is None:
        return ""
    low, high, step = int(match[1] or match[4]), int(match[2] or match[5]), int(match[3] or match[6] or 0)
    low, high = (low, high) if low <= high else (high, low)
    return f"{low}..{high}{f' step {step}' if step else ''}"


def _sizes(value: object) -> list[int]:
    if not isinstance(value, Iterable):
        raise ShapeTypeError(value, "a range of sizes", _HINT)
    sizes = list(value)
    if any(isinstance(n, bool) or not isinstance(n, int) for n in sizes):
        raise ShapeTypeError(value, "a range of sizes", _HINT)
    return sizes


def _checked(sizes: range, value: object) -> range:
    if not sizes or sizes.step < 1 or sizes[0] < 0:
        raise ShapeTypeError(value, "a range of sizes from a smaller to a larger one, with a step of 1 or more", _HINT)
    if sizes[-1] > _MOST:
        raise ShapeTypeError(
            value, "a range of sizes up to 2147483648", "give the largest size that a request can have"
        )
    if sizes[-1] - sizes[0] >= _WIDEST:
        raise ShapeTypeError(value, f"a range over at most {_WIDEST} sizes", "give the range that requests have")
    return range(sizes[0], sizes[-1] + 1, sizes.step if len(sizes) > 1 else 1)


def range_text(sizes: range) -> str:
    """Return a range as text that reads back.

    >>> range_text(range(64, 1281, 32)), range_text(range(8, 9)), range_text(range(1, 17))
    ('64..1280 step 32', '8', '1..16')
    """
    if len(sizes) == 1:
        return str(sizes[0])
    step = f" step {sizes.step}" if sizes.step > 1 else ""
    return f"{sizes[0]}..{sizes[-1]}{step}"


def _default(symbol: Symbol, assumed: Iterable[Formula]) -> range:
    """Return the range of a size for which the caller gives none: from the least to the greatest that is assumed."""
    # A size that is bound to one value must not be tried at all of the default range: it would fail at the others.
    range_ = _within(SizeSet.interval(DEFAULT[0], DEFAULT[-1]), symbol, assumed)
    low, high = range_.least(), range_.greatest
    assert low is not None
    assert high is not None
    step = (range_.least(low + 1) or low + 1) - low
    is_regular = range_.same(SizeSet.interval(low, high) & SizeSet.residues(step, [low]))
    return range(low, high + 1, step if is_regular and step > 1 else 1)


def _within(sizes: SizeSet, symbol: Symbol, assumed: Iterable[Formula]) -> SizeSet:
    """Return those of some sizes that the clauses about one symbol alone allow."""
    for clause in assumed:
        if list(symbols_in(clause)) == [symbol]:
            sizes = narrowed_set(sizes, clause) or sizes
    return sizes


class WantedRanges:
    """The wanted sizes of a question.

    Attributes:
        ranges: The range of each size, in the order of the question.
        typical: The typical sizes of some of them; they need not be inside the range of what is found.
        explicit: The sizes for which the caller gave a range; the others have `DEFAULT`.
    """

    def __init__(self, ranges: Mapping[Symbol, range], typical: Mapping[Symbol, tuple[int, ...]]) -> None:
        self.explicit = frozenset(ranges)
        self.ranges: dict[Symbol, range] = dict(ranges)
        self.typical = {s: tuple(n for n in sizes if n in self.ranges[s]) for s, sizes in typical.items()}

    @classmethod
    def read(
        cls,
        names: Mapping[Symbol, str],
        ranges: Mapping[str, RangeLike],
        typical: Mapping[str, object],
        assumed: Iterable[Formula] = (),
    ) -> WantedRanges:
        """Return the wanted sizes by what the caller wrote; raise `BindingError` for an unknown name.

        Several sizes given as a list are typical sizes. A size without a range has `DEFAULT`, or what of it the clauses
        in ``assumed`` allow; a range other than the one size that they allow raises `BindingError`.
        """
        sequence = next((s for s in names if isinstance(s, SequenceSymbol)), None)
        if sequence is not None:
            raise UnknownRankError("a contract", names[sequence], "give the shape a known rank")
        symbols = {name: s for s, name in names.items()}
        if len(symbols) < len(names):
            raise BindingError("two sizes have the same name; rename one of them")
        for name in (*ranges, *typical):
            if name not in symbols:
                close = closest(name, symbols)
                hint = f"did you mean {close}? " if close else ""
                there = f"the sizes are {', '.join(symbols) or 'all fixed'}"
                raise BindingError(
                    f"there is no size {name}", f"{hint}{there[0].upper()}{there[1:]}" if hint else there
                )
        ranges_read = cls({symbols[name]: read_range(value) for name, value in ranges.items()}, {})
        known = list(assumed)
        for s in ranges_read.explicit:
            bound, requested = _within(_ANY, s, known).only, ranges_read.ranges[s]
            # The first two members suffice: a range may have 2**31.
            if bound is not None and list(requested[:2]) != [bound]:
                problem = f"{names[s]} is bound to {bound} and has the range {range_text(requested)}"
                raise BindingError(problem, "drop one of the two")
        ranges_read.ranges = {
            s: ranges_read.ranges[s] if s in ranges_read.explicit else _default(s, known) for s in names
        }
        listed = {name: v for name, v in ranges.items() if not isinstance(v, str | int | range)}
        for name, value in {**listed, **typical}.items():
            sizes = [value] if isinstance(value, int) and not isinstance(value, bool) else _sizes(value)
            s = symbols[name]
            outside = next((n for n in sizes if n not in ranges_read.ranges[s] and name not in listed), None)
            if outside is not None:
                place = f"a typical size of {name}, which is sought in {range_text(ranges_read.ranges[s])}"
                raise ShapeTypeError(outside, place, "widen the range, or leave the size out")
            ranges_read.typical[s] = tuple(sorted({n for n in sizes if n in ranges_read.ranges[s]}))
        return ranges_read


# The question behind a contract: a condition with the names of its sizes, its origins, and the inputs it is about.


def spelled_out(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return formulas with the compatibility of two sizes as alternatives."""
    pairs = (Compatible, Clashing)
    parts = (part for formula in formulas for part in clauses(formula))
    return tuple(c for part in parts for c in clauses(expand(part) if isinstance(part, pairs) else part))


def alternatives(clause: Formula) -> tuple[Formula, ...]:
    """Return the parts of a disjunction; of another formula, itself."""
    return tuple(clause.parts) if isinstance(clause, AnyOf) else (clause,)


class PartialAnswer(NamedTuple):
    """What is known of an answer that is open at some sizes, besides the sizes that work.

    Attributes:
        needed: What is proved to be required, with the assumptions.
        undecided: The sizes that are neither proved to work nor proved to fail.
        reason: Why they are open.
    """

    needed: Formula
    undecided: Formula
    reason: str


@dataclass(frozen=True)
class ContractQuestion:
    """A condition on named sizes.

    Attributes:
        formula: The condition with the assumptions.
        condition: The condition without the assumptions.
        names: The names of all sizes of the question, in order.
        inputs: The inputs by name; empty if the answer has none.
        outputs: The outputs by name; empty if the answer has none.
        aliases: Other names of sizes, with the names that the answer uses.
        open: Why the condition does not suffice, such as an unknown operator; empty if it does.
        find: Returns the findings, each with the text of its clause and the operation behind it.
        stop: Returns the operation that fails first at some sizes, and its own requirement as text, if it is known.
        data: What data must meet besides, as text; empty if the sizes suffice.
        notes: What was not checked of data, such as that indices are within an axis.
        partial: Of an answer that is open at some sizes, what is known besides the condition, which then has only sizes
            that are proved to work; None if nothing is open.
        refusal: Returns why the consumer of a target refuses a text, where it is at hand to be tried; else empty.
    """

    formula: Formula
    condition: Formula
    names: Mapping[Symbol, str]
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    aliases: Mapping[str, str]
    open: str
    find: Callable[[], Sequence[Any]] = tuple
    stop: Callable[[Mapping[str, int]], tuple[str, str] | None] = lambda _sizes: None
    data: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    partial: PartialAnswer | None = None
    refusal: Callable[[str, str], str] = lambda _target, _text: ""

    def within(self, works: Formula, undecided: Formula, reason: str) -> ContractQuestion:
        """Return the question about sizes that are proved to work, of an answer that is open at others."""
        formula, condition = all_of([self.formula, works]), all_of([self.condition, works])
        partial = PartialAnswer(self.formula, undecided, reason)
        return replace(self, formula=formula, condition=condition, open="", partial=partial)

    def for_all_data(self, required: Sequence[Formula]) -> ContractQuestion:
        """Return the question about sizes that work whatever the data are, as far as sizes can ensure that.

        ``required`` are conditions that also mention sizes that data decide. Of alternatives, those about named sizes
        alone suffice: of ``rate != 16000 or N >= 192``, ``N >= 192``.
        """
        ensured: list[Formula] = []
        left: list[Formula] = []
        for clause in normal_conjuncts(spelled_out(required)):
            own = any_of(part for part in alternatives(clause) if symbols_in(part).keys() <= self.names.keys())
            (left if own == FALSE else ensured).append(clause if own == FALSE else own)
        partial = self.partial and self.partial._replace(needed=all_of([self.partial.needed, *ensured]))
        formula, condition = all_of([self.formula, *ensured]), all_of([self.condition, *ensured])
        return replace(self, formula=formula, condition=condition, partial=partial, data=tuple(map(formula_text, left)))

    def with_suitable_data(self, required: Sequence[Formula]) -> ContractQuestion:
        """Return the question about sizes that work if the data meet what is required of them."""
        return replace(self, data=tuple(map(formula_text, required)))

    @cached_property
    def namer(self) -> Namer:
        """The names of sizes in texts."""
        return Namer.of(self.names)

    @cached_property
    def clauses(self) -> tuple[tuple[Formula, str], ...]:
        """The conjuncts in normal form, with their texts."""
        return self._with_texts(self.formula)

    @cached_property
    def required(self) -> tuple[tuple[Formula, str], ...]:
        """The conjuncts that are proved to be required, with their texts: outside them, sizes fail."""
        return self.clauses if self.partial is None else self._with_texts(self.partial.needed)

    def _with_texts(self, formula: Formula) -> tuple[tuple[Formula, str], ...]:
        return tuple((clause, self.namer.formula(clause)) for clause in normal_conjuncts(clauses(formula)))

    @cached_property
    def assumed(self) -> tuple[Formula, ...]:
        """The assumptions in normal form, without those that are clauses of the condition."""
        own = {*normal_conjuncts(clauses(self.condition))}
        return tuple(clause for clause, _ in self.clauses if clause not in own)

    @cached_property
    def hidden(self) -> tuple[Symbol, ...]:
        """The sizes in the condition without a name: nothing can be said about them."""
        return tuple(s for s in symbols_in(self.formula) if s not in self.names)

    def origin(self, clause: Formula) -> str:
        """Return the first operation that requires a clause; empty if it is unknown or an assumption."""
        return self._nodes.get(self.namer.formula(clause), "")

    @cached_property
    def _nodes(self) -> dict[str, str]:
        """The operation or line behind each clause that a finding is about."""
        nodes: dict[str, str] = {}
        for finding in self.find():
            operation = getattr(finding, "operation", "") or getattr(finding, "origins", ("",))[0]
            line = getattr(finding, "line", 0)
            place = f"{finding.file}:{line}" if isinstance(line, int) and line and hasattr(finding, "file") else ""
            for clause in normal_conjuncts(clauses(finding.formula)):
                nodes.setdefault(self.namer.formula(clause), place or operation)
            # The first operation that requires a clause is named, as in a report.
            nodes.setdefault(finding.text, place or operation)
        return nodes
