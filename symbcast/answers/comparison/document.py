"""Comparisons and relations as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.comparison.outcomes import Example
from symbcast.answers.comparison.pairs import Order, Pair
from symbcast.answers.comparison.regions import Region
from symbcast.answers.explanation.names import Namer
from symbcast.answers.explanation.words import in_words
from symbcast.answers.show.call import VERDICTS
from symbcast.answers.show.document import (
    LONGEST,
    NOTHING,
    Block,
    Conjunction,
    Document,
    Field,
    Line,
    Records,
    Sizes,
    Span,
    Tone,
    code,
    field,
    fields,
    heading,
    whole,
    words,
)
from symbcast.core.characters import clipped, listed, sizes_text
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.comparison.answers import RuleAnswer
    from symbcast.answers.comparison.compared import Compared
    from symbcast.answers.comparison.related import Related, Separation

PAIRS_SHOWN = 6
"""How many pairs of rules that differ are shown."""

_TONES = {
    Order.EQUAL: Tone.FINE,
    Order.REFINES: Tone.CONDITIONAL,
    Order.REFINED_BY: Tone.CONDITIONAL,
    Order.NEITHER: Tone.IMPOSSIBLE,
    Order.UNKNOWN: Tone.UNDECIDED,
}
_ORDERS = {
    Order.EQUAL: "{first} and {second} give the same answer",
    Order.REFINES: "{second} accepts everything that {first} accepts, and they agree",
    Order.REFINED_BY: "{first} accepts everything that {second} accepts, and they agree",
    Order.NEITHER: "neither refines the other",
    Order.UNKNOWN: "not decided",
}


def document(comparison: Compared) -> Document:
    """Return the answer of each rule, then for each pair of differing rules where each relation holds, with examples.

    >>> from symbcast.answers.comparison import compare
    >>> from symbcast.answers.show.text import render
    >>> print(render(document(compare("N, 3", "M, 1", rules=["numpy", "pdpd"]))))
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
    shapes = clipped(listed([namer.shape(s) for s in comparison.shapes]), 200) or "no shapes"
    count = len(comparison.answers)
    title = heading(f"{count} rule{'' if count == 1 else 's'} on {shapes}", _summary(comparison, shown))
    heads = ("rule", "output", "valid when", "refused")
    rules = Records("the answer of each rule", heads, tuple(tuple(_said(group)) for group in groups))
    more = len(shown) - PAIRS_SHOWN
    blocks: list[Block] = [rules, *(fields(_pair_fields(pair)) for pair in shown[:PAIRS_SHOWN])]
    if more > 0:
        blocks.append(
            fields(
                [field("and", words(f"{more} more pairs differ; --format json, or .pairs in Python, lists them all"))]
            )
        )
    assumed = "; ".join([*comparison.assumptions, *_least(comparison.min_size)])
    return Document(title, _tone(shown), (*blocks, fields([field("assuming", whole(assumed))])))


def _differing(comparison: Compared) -> Iterator[Pair]:
    """Yield the pairs of rules that differ, with only the first rule of each group of equal ones."""
    firsts = [group[0] for group in comparison.groups]
    for pair in comparison.pairs:
        if any(pair.first is a for a in firsts) and any(pair.second is a for a in firsts):
            yield pair


def _tone(pairs: Sequence[Pair]) -> Tone:
    orders = {pair.order for pair in pairs}
    order = next(
        (o for o in (Order.UNKNOWN, Order.NEITHER, Order.REFINES, Order.REFINED_BY) if o in orders), Order.EQUAL
    )
    return _TONES[order]


def _summary(comparison: Compared, pairs: Sequence[Pair]) -> str:
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


def _said(group: Sequence[RuleAnswer]) -> Iterator[Field]:
    """Yield the common answer of equal rules."""
    first = group[0]
    names = clipped(listed([a.rule for a in group]), 120)
    yield field("rule", (Span(names, True), Span(f": {VERDICTS[first.verdict]}")))
    yield field("output", code(first.shape))
    conditional = first.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN)
    formula = first.condition.formula
    yield field("valid when", whole(str(first.condition), Conjunction((formula,))) if conditional else ())
    yield field("refused", words(first.refusal))


def _pair_fields(pair: Pair) -> Iterator[Field]:
    first, second = pair.first.rule, pair.second.rule
    yield field("compared", (Span(f"{first}", True), Span(" and "), Span(second, True), Span(f": {_order(pair)}")))
    yield field("the same", *_region(pair.agree, pair))
    yield field("laid apart", *_region(pair.apart, pair))
    yield field("different", *_region(pair.differ, pair))
    yield field("one alone", *_alone(pair.only_first, pair, first))
    yield field("one alone", *_alone(pair.only_second, pair, second))
    yield field("undecided", words(pair.reason))


def _alone(region: Region, pair: Pair, rule: str) -> Iterator[Line]:
    """Yield the sizes that only this rule accepts, and an example."""
    for n, line in enumerate(_region(region, pair)):
        yield line if n else (Span(rule, True), Span(": "), *line)


def _region(region: Region, pair: Pair) -> Iterator[Line]:
    """Yield the sizes in the region, and an example; nothing if there are none."""
    if region.verdict is Verdict.NEVER:
        return
    if region.verdict is Verdict.ALWAYS:
        yield words("for all sizes")
    else:
        formula = region.condition.formula
        meaning = in_words(formula, Namer.of({}))
        if len(meaning) <= LONGEST:
            yield (Span(meaning, math=NOTHING),)
        yield whole(str(region.condition), Conjunction((formula,)))
    if region.example is not None:
        yield _example(region.example, pair, is_apart=region is pair.apart)


def _example(example: Example, pair: Pair, is_apart: bool) -> Line:
    at = (Span(sizes_text(example.sizes), True, math=Sizes(example.sizes)), Span(": ")) if example.sizes else ()
    shapes = f"{' and '.join(map(str, example.shapes))}: "
    return (Span("at "), *at, Span(shapes), Span(_gives(example, pair.first.rule, pair.second.rule, is_apart)))


def _gives(example: Example | Separation, first: str, second: str, is_apart: bool = False) -> str:
    if example.first is not None and example.first == example.second:
        return f"both give {example.first}{', with different elements' if is_apart else ''}"
    said = ((first, example.first), (second, example.second))
    return ", ".join(f"{rule} refuses" if output is None else f"{rule} gives {output}" for rule, output in said)


def relation_document(relation: Related) -> Document:
    """Return how two rules relate, and shapes that show the difference."""
    said = _ORDERS[relation.order].format(first=relation.first, second=relation.second)
    title = heading(f"{relation.first} and {relation.second}, ranks up to {relation.rank}", said)
    shown = [
        field(
            "shown by", words(f"{' and '.join(map(str, s.shapes))}: {_gives(s, relation.first, relation.second, True)}")
        )
        for s in relation.separations
    ]
    return Document(title, _TONES[relation.order], (fields([*shown, field("undecided", words(relation.reason))]),))
