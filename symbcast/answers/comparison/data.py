"""Comparisons as plain data for JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from symbcast.answers.explanation.names import Namer

if TYPE_CHECKING:
    from symbcast.answers.comparison.answers import RuleAnswer
    from symbcast.answers.comparison.compared import Compared
    from symbcast.answers.comparison.outcomes import Example
    from symbcast.answers.comparison.pairs import Pair
    from symbcast.answers.comparison.regions import Region
    from symbcast.answers.comparison.related import Related

FORMAT = "symbcast.comparison"
VERSION = 1
"""It is incremented when a key changes meaning or is removed."""


class ExampleData(TypedDict):
    """Sizes, the shapes at these sizes, and the output of each of two rules there; null if it refuses."""

    sizes: dict[str, int]
    shapes: list[list[int]]
    first: list[int] | None
    second: list[int] | None


class RegionData(TypedDict):
    """The sizes at which two rules relate in one way."""

    verdict: str
    condition: str
    example: ExampleData | None
    reason: str


class RuleAnswerData(TypedDict):
    """The answer of one rule."""

    rule: str
    verdict: str
    condition: str
    shape: str | None
    refusal: str


class PairData(TypedDict):
    """The comparison of two rules."""

    first: str
    second: str
    order: str
    agree: RegionData
    apart: RegionData
    differ: RegionData
    only_first: RegionData
    only_second: RegionData


class ComparisonData(TypedDict):
    """A comparison, as `json_schema` describes it."""

    format: str
    version: int
    shapes: list[str]
    symbols: list[str]
    assumptions: list[str]
    min_size: int
    rules: list[RuleAnswerData]
    pairs: list[PairData]


class SeparationData(TypedDict):
    """Shapes on which two rules differ."""

    shapes: list[list[int]]
    first: list[int] | None
    second: list[int] | None


class RelationData(TypedDict):
    """How two rules relate up to a rank."""

    first: str
    second: str
    rank: int
    order: str
    separations: list[SeparationData]
    reason: str


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the data that `comparison_to_dict` returns."""
    found: dict[str, object] = json.loads(Path(__file__).with_name("comparison.schema.json").read_text("utf-8"))
    return found


def comparison_to_dict(comparison: Compared) -> ComparisonData:
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
        "rules": [_answer(answer) for answer in comparison.answers],
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _answer(answer: RuleAnswer) -> RuleAnswerData:
    return {
        "rule": answer.rule,
        "verdict": answer.verdict.value,
        "condition": str(answer.condition),
        "shape": answer.shape or None,
        "refusal": answer.refusal,
    }


def _pair(pair: Pair) -> PairData:
    return {
        "first": pair.first.rule,
        "second": pair.second.rule,
        "order": pair.order.value,
        "agree": _region(pair.agree),
        "apart": _region(pair.apart),
        "differ": _region(pair.differ),
        "only_first": _region(pair.only_first),
        "only_second": _region(pair.only_second),
    }


def _region(region: Region) -> RegionData:
    example = region.example
    return {
        "verdict": region.verdict.value,
        "condition": str(region.condition),
        "example": None if example is None else _example(example),
        "reason": region.reason,
    }


def _example(example: Example) -> ExampleData:
    return {
        "sizes": dict(example.sizes),
        "shapes": [list(s) for s in example.shapes],
        "first": None if example.first is None else list(example.first),
        "second": None if example.second is None else list(example.second),
    }


def relation_to_dict(relation: Related) -> RelationData:
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
