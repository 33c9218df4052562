"""Rules compared: `compare` on given shapes, `relation` on all shapes up to a rank."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NoReturn

from symbcast.answers.comparison import regions
from symbcast.answers.comparison.regions import Order, Pair, PairRegions, RankRelation, Region, RuleAnswers, Separation
from symbcast.answers.comparison.rule_answers import ComparisonQuestion, Example, RuleAnswer, answer_of, read_rule
from symbcast.answers.data import ComparisonData, ExampleData, PairData, RegionData, RelationData, RuleAnswerData
from symbcast.answers.explanation.words import Namer, in_words, rule_text
from symbcast.answers.show import document as doc
from symbcast.answers.show.broadcast import VERDICTS
from symbcast.answers.show.documented import Explained
from symbcast.core.advice import Guessable, with_advice
from symbcast.core.algebra.symbols import symbol
from symbcast.core.characters import parts_of_list, prose_list, shorten_end, sizes_text
from symbcast.core.effort import check_budget, one_call, within_optional
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.rules import Rule
from symbcast.core.rules.registry import listed_rules, rules_without_attributes
from symbcast.core.shapes import Shape, ShapeLike, shape_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import ShapeTypeError

# Comparisons and relations as documents.


# How many pairs of rules that differ are shown.
PAIRS_SHOWN = 12

_TONES = {
    Order.EQUAL: doc.Tone.FINE,
    Order.REFINES: doc.Tone.CONDITIONAL,
    Order.REFINED_BY: doc.Tone.CONDITIONAL,
    Order.NEITHER: doc.Tone.IMPOSSIBLE,
    Order.UNKNOWN: doc.Tone.UNDECIDED,
}
_ORDERS = {
    Order.EQUAL: "{first} and {second} give the same answer",
    Order.REFINES: "{second} accepts everything that {first} accepts, and they agree",
    Order.REFINED_BY: "{first} accepts everything that {second} accepts, and they agree",
    Order.NEITHER: "neither refines the other",
    Order.UNKNOWN: "not decided",
}


def comparison_document(comparison: RuleAnswers) -> doc.Document:
    """Return the answer of each rule, then for each pair of differing rules where each relation holds, with examples.

    >>> from symbcast.answers.comparison import compare
    >>> from symbcast.answers.show.document import render
    >>> print(render(comparison_document(compare("N, 3", "M, 1", rules=["numpy", "pdpd"]))))
    2 rules on (N, 3) and (M, 1): numpy accepts everything that pdpd accepts, and they agree
    <BLANKLINE>
    rule         numpy: valid for some sizes
    output       (broadcast(M, N), 3)
    valid when   N == M or N == 1 or M == 1
    rule         pdpd: valid for some sizes
    output       (N, 3)
    valid when   M == 1 or M == N
    compared     numpy and pdpd: numpy accepts everything that pdpd accepts, and they agree
    the same     M is 1 or equals N
                 M == 1 or M == N
                 at N=1, M=1: (1, 3) and (1, 1): both give (1, 3)
    one alone    numpy: N is 1, and M is not 1
                 N == 1 and M != 1
                 at N=1, M=2: (1, 3) and (2, 1): numpy gives (2, 3), pdpd refuses
    """
    groups = comparison.groups
    shown = list(_differing(comparison))
    namer = Namer.of(comparison.names)
    shapes = shorten_end(prose_list([namer.shape(s) for s in comparison.shapes]), 200) or "no shapes"
    count = len(comparison.answers)
    title = doc.heading(f"{count} rule{'' if count == 1 else 's'} on {shapes}", _summary(comparison, shown))
    heads = ("rule", "output", "valid when", "refused")
    rules = doc.Records("the answer of each rule", heads, tuple(tuple(_answer_lines(group)) for group in groups))
    blocks: list[doc.Block] = [rules, *(doc.fields(fields) for fields in _pairs(shown))]
    assumed = "; ".join([*comparison.assumptions, *_least(comparison.min_size)])
    return doc.Document(title, _tone(shown), (*blocks, doc.fields([doc.field("assuming", doc.whole(assumed))])))


def _differing(comparison: RuleAnswers) -> Iterator[Pair]:
    """Yield the pairs of rules that differ, with only the first rule of each group of equal ones."""
    firsts = [group[0] for group in comparison.groups]
    for pair in comparison.pairs:
        if any(pair.first is a for a in firsts) and any(pair.second is a for a in firsts):
            yield pair


def _tone(pairs: Sequence[Pair]) -> doc.Tone:
    orders = {pair.order for pair in pairs}
    order = next(
        (o for o in (Order.UNKNOWN, Order.NEITHER, Order.REFINES, Order.REFINED_BY) if o in orders), Order.EQUAL
    )
    return _TONES[order]


def _summary(comparison: RuleAnswers, pairs: Sequence[Pair]) -> str:
    if len(comparison.answers) == 1:
        return "there is no other rule to compare it with"
    if not pairs:
        return "all rules give the same answer"
    if len(pairs) == 1 and len(comparison.answers) == 2:
        return _order(pairs[0])
    return f"{len(comparison.groups)} different answers"


def _order(pair: Pair) -> str:
    return _ORDERS[pair.order].format(first=pair.first.rule, second=pair.second.rule)


def _least(min_size: int) -> Iterator[str]:
    if min_size:
        yield f"every size is at least {min_size}"


def _answer_lines(group: Sequence[RuleAnswer]) -> Iterator[doc.Field]:
    """Yield the common answer of equal rules."""
    first = group[0]
    names = shorten_end(prose_list([a.rule for a in group]), 120)
    yield doc.field("rule", (doc.Span(names, True), doc.Span(f": {VERDICTS[first.verdict]}")))
    yield doc.field("output", doc.code(first.shape))
    conditional = first.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN)
    formula = first.condition.formula
    yield doc.field("valid when", doc.whole(str(first.condition), doc.JointFormulas((formula,))) if conditional else ())
    yield doc.field("refused", doc.words(first.refusal))


def _pairs(shown: Sequence[Pair]) -> Iterator[Iterable[doc.Field]]:
    """Yield the fields of the pairs that differ: the sizes of one pair; of several pairs, only how they compare."""
    if len(shown) == 1:
        yield _pair_fields(shown[0])
        return
    for pair in shown[:PAIRS_SHOWN]:
        yield [next(_pair_fields(pair))]
    more = len(shown) - PAIRS_SHOWN
    yield [doc.field("and", doc.words(f"{more} more pairs differ" if more > 0 else ""))]
    if shown:
        first, second = (shown[0].first.rule, shown[0].second.rule)
        text = f"compare two rules, such as {first} and {second}, to see at which sizes they differ"
        yield [doc.field("sizes", doc.words(text))]


def _pair_fields(pair: Pair) -> Iterator[doc.Field]:
    first, second = pair.first.rule, pair.second.rule
    yield doc.field(
        "compared",
        (doc.Span(f"{first}", True), doc.Span(" and "), doc.Span(second, True), doc.Span(f": {_order(pair)}")),
    )
    yield doc.field("the same", *_region(pair.agree, pair))
    yield doc.field("laid apart", *_region(pair.apart, pair))
    yield doc.field("different", *_region(pair.differ, pair))
    yield doc.field("one alone", *_alone(pair.only_first, pair, first))
    yield doc.field("one alone", *_alone(pair.only_second, pair, second))
    yield doc.field("undecided", doc.words(pair.reason))


def _alone(region: Region, pair: Pair, rule: str) -> Iterator[doc.Line]:
    """Yield the sizes that only this rule accepts, and an example."""
    for n, line in enumerate(_region(region, pair)):
        yield line if n else (doc.Span(rule, True), doc.Span(": "), *line)


def _region(region: Region, pair: Pair) -> Iterator[doc.Line]:
    """Yield the sizes in the region, and an example; nothing if there are none."""
    if region.verdict is Verdict.NEVER:
        return
    if region.verdict is Verdict.ALWAYS:
        yield doc.words("for all sizes")
    else:
        formula = region.condition.formula
        meaning = in_words(formula, Namer.of({}))
        if len(meaning) <= doc.LONGEST:
            yield (doc.Span(meaning, math=doc.NOTHING),)
        yield doc.whole(str(region.condition), doc.JointFormulas((formula,)))
    if region.example is not None:
        yield _example(region.example, pair, is_apart=region is pair.apart)


def _example(example: Example, pair: Pair, is_apart: bool) -> doc.Line:
    at = (
        (doc.Span(sizes_text(example.sizes), True, math=doc.NamedSizes(example.sizes)), doc.Span(": "))
        if example.sizes
        else ()
    )
    shapes = f"{' and '.join(map(str, example.shapes))}: "
    return (
        doc.Span("at "),
        *at,
        doc.Span(shapes),
        doc.Span(_gives(example, pair.first.rule, pair.second.rule, is_apart)),
    )


def _gives(example: Example | Separation, first: str, second: str, is_apart: bool = False) -> str:
    if example.first is not None and example.first == example.second:
        return f"both give {example.first}{', with different elements' if is_apart else ''}"
    said = ((first, example.first), (second, example.second))
    return ", ".join(f"{rule} refuses" if output is None else f"{rule} gives {output}" for rule, output in said)


def relation_document(relation: RankRelation) -> doc.Document:
    """Return how two rules relate, and shapes that show the difference."""
    said = _ORDERS[relation.order].format(first=relation.first, second=relation.second)
    title = doc.heading(f"{relation.first} and {relation.second}, ranks up to {relation.rank}", said)
    shown = [
        doc.field(
            "shown by",
            doc.words(f"{' and '.join(map(str, s.shapes))}: {_gives(s, relation.first, relation.second, True)}"),
        )
        for s in relation.separations
    ]
    return doc.Document(
        title, _TONES[relation.order], (doc.fields([*shown, doc.field("undecided", doc.words(relation.reason))]),)
    )


# Comparisons as plain data for JSON.


FORMAT = "symbcast.comparison"
# It is incremented when a key changes meaning or is removed.
VERSION = 1


def comparison_schema() -> dict[str, object]:
    """Return the JSON Schema of the data that `comparison_to_dict` returns."""
    schema: dict[str, object] = json.loads(Path(__file__).with_name("comparison.schema.json").read_text("utf-8"))
    return schema


def comparison_to_dict(comparison: RuleAnswers) -> ComparisonData:
    """Return a comparison as data that `json.dumps` accepts, the same on every run.

    Shapes, conditions and rules are text that symbcast can read back.

    >>> from symbcast.answers.comparison import compare
    >>> data = comparison_to_dict(compare("N", "3", rules=["numpy", "none"]))
    >>> data["rules"][1]["condition"], data["pairs"][0]["order"], data["pairs"][0]["only_first"]["condition"]
    ('N == 3', 'refined by', 'N == 1')
    """
    namer = Namer.of(comparison.names)
    return {
        "format": FORMAT,
        "version": VERSION,
        "shapes": [namer.shape(s) for s in comparison.shapes],
        "symbols": list(comparison.names.values()),
        "assumptions": list(comparison.assumptions),
        "min_size": comparison.min_size,
        "rules": [_answer_data(answer) for answer in comparison.answers],
        "pairs": [_pair_data(pair) for pair in comparison.pairs],
    }


def _answer_data(answer: RuleAnswer) -> RuleAnswerData:
    return {
        "rule": answer.rule,
        "verdict": answer.verdict.value,
        "condition": str(answer.condition),
        "shape": answer.shape or None,
        "refusal": answer.refusal,
    }


def _pair_data(pair: Pair) -> PairData:
    return {
        "first": pair.first.rule,
        "second": pair.second.rule,
        "order": pair.order.value,
        "agree": _region_data(pair.agree),
        "apart": _region_data(pair.apart),
        "differ": _region_data(pair.differ),
        "only_first": _region_data(pair.only_first),
        "only_second": _region_data(pair.only_second),
    }


def _region_data(region: Region) -> RegionData:
    example = region.example
    return {
        "verdict": region.verdict.value,
        "condition": str(region.condition),
        "example": None if example is None else _example_data(example),
        "reason": region.reason,
    }


def _example_data(example: Example) -> ExampleData:
    return {
        "sizes": dict(example.sizes),
        "shapes": [list(s) for s in example.shapes],
        "first": None if example.first is None else list(example.first),
        "second": None if example.second is None else list(example.second),
    }


def relation_to_dict(relation: RankRelation) -> RelationData:
    """Return a relation as data that `json.dumps` accepts."""
    return {
        "first": relation.first,
        "second": relation.second,
        "rank": relation.rank,
        "order": relation.order.value,
        "separations": [
            {
                "shapes": [list(shape) for shape in s.shapes],
                "first": None if s.first is None else list(s.first),
                "second": None if s.second is None else list(s.second),
            }
            for s in relation.separations
        ],
        "reason": relation.reason,
    }


@with_advice
@one_call
def compare(
    *shapes: ShapeLike,
    rules: Iterable[str | Rule] = (),
    assume: Assumptions = (),
    min_size: int = 0,
    budget: float | None = None,
) -> Comparison:
    """Compare several rules on the same shapes, and return where they differ.

    ``shapes`` are given to each rule in the order of its operands. ``rules`` are names, with attributes in parentheses,
    or `Rule` objects; by default all rules that need no attributes. ``assume``, ``min_size`` and ``budget`` are as in
    `symbcast.broadcast`. A rule that does not accept this number of shapes or these ranks refuses them.

    Raises a `SymbcastError` for wrong input: text, rules, attributes, or assumptions that contradict each other.

    >>> found = compare("N, C, H, W", "C, 1, K", rules=["pdpd(axis=1)", "numpy"])
    >>> (pair,) = found.pairs
    >>> pair.order, pair.only_second.condition, pair.only_second.example.sizes
    (<Order.REFINES: 'refines'>, Condition('W == 1 and K != 1'), {'N': 1, 'C': 1, 'H': 1, 'W': 1, 'K': 2})
    """
    if isinstance(rules, (str, Rule)) or not isinstance(rules, Iterable):
        example = parts_of_list(rules) if isinstance(rules, str) else ["numpy", "pdpd(axis=1)"]
        raise ShapeTypeError(rules, "several rules", f"write a list: rules={example}")
    names = [s for s in shapes[2:] if isinstance(s, str) and s.isidentifier() and s in _names_of_rules()]
    if names:
        raise ShapeTypeError(names[0], "a shape but a rule", f"write rules=[{', '.join(map(repr, names))}]")
    chosen = [read_rule(rule) for rule in rules] or rules_without_attributes()
    return Comparison(ComparisonQuestion(shapes, assume, min_size, budget), chosen)


def _names_of_rules() -> set[str]:
    return {name for info in listed_rules(with_plugins=False) for name in (info.name, *info.aliases)}


class Comparison(Guessable, Explained, RuleAnswers):
    """The answers of several rules for the same shapes, and where they differ.

    It has no truth value: check the ``order`` of its ``pairs``.
    """

    @one_call
    def _document(self, *_room: doc.Room) -> doc.Document:
        return comparison_document(self)

    @one_call
    def to_dict(self) -> ComparisonData:
        """Return the comparison as data for JSON, as `json_schema` describes it."""
        return comparison_to_dict(self)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        return comparison_schema()

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison has no truth value: ask its .pairs for their .order")


# Ranks above this are not asked about.
HIGHEST = 8


class Relation(Guessable, Explained, RankRelation):
    """How one rule relates to another on all pairs of shapes up to a rank. It has no truth value: see ``order``."""

    def _document(self, *_room: doc.Room) -> doc.Document:
        return relation_document(self)

    def to_dict(self) -> RelationData:
        """Return the relation as data for JSON."""
        return relation_to_dict(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a relation has no truth value: compare its .order")


@with_advice
@one_call
def relation(first: str | Rule, second: str | Rule, rank: int = 3, budget: float | None = None) -> Relation:
    """Return how two rules relate on all pairs of shapes of at most some rank, of any sizes.

    Rules are given as to `compare`. The shapes are given to both in the same order. ``budget`` is the time limit in
    seconds for the whole comparison; if questions are still open then, the order is unknown. Raises `ShapeTypeError`
    for a rank outside 0 to 8.

    >>> found = relation("numpy", "unidirectional", rank=3)
    >>> found.order, str(found.separations[0])
    (<Order.REFINED_BY: 'refined by'>, '(1,) and (): the first gives (1,), the second refuses')
    """
    check_rank(rank)
    with within_optional(check_budget(budget)):
        return _related((read_rule(first), read_rule(second)), rank)


def _related(rules: tuple[Rule, Rule], rank: int) -> Relation:
    seen: dict[str, Separation] = {}
    open_reason, order = "", Order.EQUAL
    for shapes in _shapes(rank):
        question = ComparisonQuestion(shapes)
        answers = [answer_of(rule, question) for rule in rules]
        pair = Pair(PairRegions(question, answers), *answers)
        if pair.order is Order.UNKNOWN:
            open_reason = open_reason or pair.reason
        if pair.order is not Order.EQUAL:
            apart = pair.differ.example or pair.apart.example
            for way, example in zip(_WAYS, (apart, pair.only_first.example, pair.only_second.example), strict=True):
                if example is not None:
                    seen.setdefault(way, Separation(example.shapes, example.first, example.second))
        order = regions.order_of("first" not in seen, "second" not in seen, "differ" not in seen)
        # Separations are only added: no further ranks change this order.
        if order is Order.NEITHER:
            break
    order = Order.UNKNOWN if open_reason and order is not Order.NEITHER else order
    shown = tuple(seen[way] for way in _WAYS if way in seen)
    return Relation(rule_text(rules[0]), rule_text(rules[1]), rank, order, shown, open_reason)


# The ways in which rules can differ: other outputs, or one alone accepts. One separation is shown for each.
_WAYS = ("differ", "first", "second")


def check_rank(rank: object) -> None:
    """Raise `ShapeTypeError` for an invalid limit on the rank."""
    if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank <= HIGHEST:
        hint = f"write a highest rank from 0 to {HIGHEST}"
        raise ShapeTypeError(rank, "a rank up to which rules are compared", hint)


def _shapes(rank: int) -> Iterator[tuple[Shape, Shape]]:
    """Yield two shapes of free sizes for each pair of ranks, those with the fewest axes first."""
    ranks = sorted(product(range(rank + 1), repeat=2), key=lambda pair: (sum(pair), pair[::-1]))
    for first, second in ranks:
        left, right = ([symbol(f"{name}{n}") for n in range(count)] for name, count in (("a", first), ("b", second)))
        yield shape_of(left), shape_of(right)
