"""The plain data of answers, for JSON: what each document of the schemas in this folder contains."""

from __future__ import annotations

from typing import TypedDict


class VerdictData(TypedDict):
    """The part of all data that have a verdict: the value of a `Verdict`."""

    verdict: str


class ConditionData(VerdictData):
    """A verdict, the condition behind it as text that parses back, and why something is unknown, else empty."""

    condition: str
    reason: str


class EvidenceData(ConditionData):
    """A condition, and the smallest sizes at which it holds and fails."""

    witness: dict[str, int] | None
    counterexample: dict[str, int] | None


class OpenData(TypedDict):
    """Something that was not decided: why, and the sizes concerned; ``False`` if each size is decided alone."""

    reason: str
    where: str


class AccountData(TypedDict):
    """What is known: the sizes proved to work, the proved requirement, points that work or fail, and what is open."""

    works: str
    needed: str
    working: list[dict[str, int] | None]
    failing: list[dict[str, int] | None]
    open: list[OpenData]


class AnswerData(EvidenceData):
    """The answer about a broadcast or a program, with the account that it derives from."""

    clauses: list[str]
    unproven: list[str]
    account: AccountData


# Broadcasts and programs.


class RuleData(TypedDict):
    """A rule: its name, the name that the caller used, and its attributes."""

    name: str
    called: str
    attributes: dict[str, object]


class ShapeData(TypedDict):
    """A shape as text, whole and size by size."""

    text: str
    dims: list[str]


class ConstraintData(TypedDict):
    """A constraint, and where it comes from."""

    requirement: str
    operands: list[int]
    axis: int | None
    rank: int | None
    rule: str
    operation: str | None
    reason: str


class ResultData(AnswerData):
    """An answer about one broadcast; `result_to_dict` documents each key."""

    version: int
    rule: RuleData
    operands: list[str]
    symbols: list[str]
    assumptions: list[str]
    min_size: int
    shape: ShapeData | None
    conflict: list[ConstraintData]


class ProgramAnswerData(AnswerData):
    """The answer about a program; conflicting operations are listed by number."""

    conflict: list[int]


class ProgramData(TypedDict):
    """A program and the answer about it, as `program_schema` describes them."""

    format: str
    version: int
    min_size: int
    on_conflict: str
    symbols: list[dict[str, object]]
    operations: list[dict[str, object]]
    answer: ProgramAnswerData


# The report of a program.


class OperandData(TypedDict):
    """An operand; a size is a number, or text that `symbcast.core.text` reads back; an unknown shape is null."""

    name: str
    shape: list[int | str] | None


class FindingData(ConditionData):
    """A finding: see `Finding`."""

    operation: str
    kind: str
    rule: str
    operands: list[OperandData]
    shown: list[int]
    words: str
    code: str
    counterexample: dict[str, int] | None
    sizes_there: str
    stops_at: str
    fix: str
    origins: list[str]
    is_joint: bool


class ReportData(EvidenceData):
    """The report of a program, as `report_schema` describes it."""

    format: str
    version: int
    source: str
    min_size: int
    assumptions: list[str]
    findings: list[FindingData]


# Questions about a broadcast.


class SurpriseData(TypedDict):
    """A surprise, see `Surprise`."""

    kind: str
    text: str
    operands: list[int]
    axis: int
    sizes: dict[str, int]


class RepairData(VerdictData):
    """A repair, see `Repair`; shapes and conditions are text that parses back."""

    kind: str
    text: str
    operands: list[str]
    rule: str
    assume: list[str]
    shape: str | None
    condition: str
    code: dict[str, str]


class RepairsData(TypedDict):
    """The repairs of a broadcast, and its surely unintended effects at valid sizes.

    ``surprises`` is null if they cannot be determined for all ranks.
    """

    version: int
    repairs: list[RepairData]
    surprises: list[SurpriseData] | None


class ProvedRelationData(TypedDict):
    """A relation, and whether it holds: null if that was not decided."""

    relation: str
    holds: bool | None
    counterexample: dict[str, int] | None
    reason: str


class ProvedData(VerdictData):
    """Relations, and whether they hold at all sizes at which a broadcast is valid."""

    version: int
    rule: str
    operands: list[str]
    assumptions: list[str]
    min_size: int
    relations: list[ProvedRelationData]


class BoundData(TypedDict):
    """An end of the values of an expression, see `symbcast.answers.public.size_bounds.Bound`."""

    value: int | None
    at: dict[str, int] | None
    proved: int | None
    reached: int | None
    grows_with: list[str]
    reason: str


class BoundsData(TypedDict):
    """The least and greatest value of an expression of sizes."""

    version: int
    size: str
    assumptions: list[str]
    is_empty: bool
    least: BoundData
    greatest: BoundData


class ExpansionData(ConditionData):
    """An `Expansion` as plain data."""

    operation: str
    operand: str
    axis: int
    rank: int | None
    known: str


class SolutionData(ConditionData):
    """A question about a wanted output, the condition on the sizes that give it, and an example of these."""

    version: int
    rule: str
    operands: list[str]
    wanted: str
    example: dict[str, int] | None
    shapes: list[list[int]] | None


class LayoutData(TypedDict):
    """A broadcast in a case, see `symbcast.answers.cases.choices.CaseLayout`."""

    name: str
    shape: list[str]
    operands: list[list[str]]
    strides: list[list[str]]
    stretched: list[list[bool]]


class CaseData(TypedDict):
    """A case: its guard as text that parses back, example sizes, and the broadcasts."""

    guard: str
    witness: dict[str, int]
    hints: list[int]
    broadcasts: list[LayoutData]


class CasesData(TypedDict):
    """The cases of a broadcast or a program; ``complete`` says whether the list is complete.

    ``naive`` is null if a rank is not known.
    """

    version: int
    condition: str
    complete: bool
    naive: int | None
    cases: list[CaseData]


# Rules compared.


class ExampleData(TypedDict):
    """Sizes, the shapes at these sizes, and the output of each of two rules there; null if it refuses."""

    sizes: dict[str, int]
    shapes: list[list[int]]
    first: list[int] | None
    second: list[int] | None


class RegionData(ConditionData):
    """The sizes at which two rules relate in one way."""

    example: ExampleData | None


class RuleAnswerData(VerdictData):
    """The answer of one rule."""

    rule: str
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
    """A comparison, as `comparison_schema` describes it."""

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
