"""bioimage.io: the ``inputs`` of a model description, whose axes have a least size and a step, and no greatest size.

The type of an axis follows from the name of its size: N, B or batch in front is the batch; T is time; D, H, W or z, y,
x are space; all others are index axes. A 1 in front is a batch of one, and a number behind a batch the number of
channels. The first axis of a size has its least size and its step; later ones refer to it. Names of inputs become ids
in lower case: models are called by the order of their inputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxis, Box, Request, TargetRule
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import clauses
from symbcast.core.algebra.terms import Dim, Operation, term
from symbcast.core.characters import prose_list
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import replace_in_formula
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict

ELEMENT_TYPES = (
    "float32", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
)  # fmt: skip

_SPEC = "bioimage.io model description 0.5"
_BATCH = ("n", "b", "batch", "batch_size")
# The type and the id of an axis, by the name of its size.
_KINDS = {
    **dict.fromkeys(("t", "time", "frames"), ("time", "time")),
    **dict.fromkeys(("d", "z", "depth"), ("space", "z")),
    **dict.fromkeys(("h", "y", "height", "rows"), ("space", "y")),
    **dict.fromkeys(("w", "x", "width", "cols"), ("space", "x")),
}
# Ids that the format reads as others: ``c`` as channel.
_NO_IDS = ("batch", "b", "t", "i", "c", "s")
_LONGEST_ID, _LONGEST_TENSOR_ID = 16, 32
_LIST = "fix its sizes with form='list'"


class InputAxis(NamedTuple):
    """An axis of an input: a multiple of one free size plus a number; ``size`` is empty if it has one size only."""

    bounded: BoundedAxis
    size: str = ""
    factor: int = 0
    offset: int = 0


class BioimageInputs(NamedTuple):
    """The axes of the inputs, and their element types, empty if unknown."""

    axes: Mapping[str, Sequence[InputAxis]]
    kinds: Mapping[str, str]


RULES: tuple[TargetRule[BioimageInputs], ...] = (
    declaration.typed(
        "an input", ELEMENT_TYPES, f"{_SPEC}: IntervalOrRatioDataDescr", "cast it to float32 in front of the model"
    ),
    TargetRule(
        "an input has at least one axis",
        f"{_SPEC}: InputTensorDescr",
        lambda draft: declaration.first_refused(f"{name} has none" for name, axes in draft.axes.items() if not axes),
        "reshape it inside the model",
    ),
    TargetRule(
        "a size is at least 1",
        f"{_SPEC}: ParameterizedSize",
        lambda draft: declaration.first_refused(
            f"{a.bounded.text} of {name} can be {a.bounded.sizes[0]}"
            for name, axes in draft.axes.items()
            for a in axes
            if a.bounded.sizes[0] < 1
        ),
        "want sizes from 1 on",
    ),
)


@declaration.target(
    "bioimage-io", "box, steps, derived, list of one", "inputs of a bioimage.io model description, as JSON", RULES,
    place=15, also=("bioimageio", "bioimage_io"),
)  # fmt: skip
def inputs(request: Request) -> str:
    """Return JSON, which YAML reads too: the ``inputs`` of an ``rdf.yaml``, without test tensors."""
    box = request.box("describe one range of sizes")
    axes = {name: list(_input_axes(request, name, shape)) for name, shape in request.axes(box).items()}
    draft = BioimageInputs(axes, declaration.kinds_of(request, axes))
    declaration.verify_draft(request, RULES, draft)
    described = _Description(request, draft).inputs()
    _require_all_sizes(request, box, {a.size for shape in axes.values() for a in shape if a.size})
    return json.dumps(described, indent=2)


def _input_axes(request: Request, name: str, shape: Sequence[BoundedAxis]) -> Iterator[InputAxis]:
    """Yield the axes of an input; raise `TargetError` if one does not grow with exactly one size."""
    known = request.tensors[name].shape
    dims: Sequence[Dim] = () if known is None else known.dims
    for dim, bounded in zip(dims, shape, strict=True):
        if bounded.is_fixed:
            yield InputAxis(bounded)
            continue
        factors = dict(term(replace_symbols(dim, request.derived)).coefficients)
        offset = factors.pop((), 0)
        ((monomial, factor),) = factors.items() if len(factors) == 1 else [((), 0)]
        if factor < 1 or len(monomial) != 1 or isinstance(monomial[0], Operation):
            raise request.refused(f"an axis grows with one size, and {bounded.text} of {name} does not", _LIST, "list")
        yield InputAxis(bounded, request.name_of(monomial[0]), factor, offset)


def _require_all_sizes(request: Request, box: Box, endless: set[str]) -> None:
    """Raise `TargetError` unless all sizes work from the least on: the format has no greatest size."""
    question = request.question
    domains = {
        s: SizeSet.interval(box[name][0], None if name in endless else box[name][-1])
        & SizeSet.residues(box[name].step, [box[name][0]])
        for s, name in question.names.items()
        if s not in request.derived
    }
    required = [replace_in_formula(clause, request.derived) for clause in clauses(question.formula)]
    decision = Decision(AssumptionSet(tuple(domains), domains, ()), required)
    if decision.verdict is Verdict.ALWAYS:
        return
    sizes = decision.counterexample()
    where = "" if sizes is None else prose_list([f"{question.names[s]}={size}" for s, size in sizes.items()])
    problem = f"an axis has no greatest size, and {f'at {where} it fails' if where else 'greater sizes are undecided'}"
    raise request.refused(problem, _LIST, "list")


def _is_channels(axis: BoundedAxis) -> bool:
    return axis.is_fixed and axis.name.lower() in ("", "c", "channel", "channels")


class _Description:
    """The description of inputs; ``first`` has the first axis of each size, with its tensor's and its own id."""

    def __init__(self, request: Request, draft: BioimageInputs) -> None:
        self._request = request
        self._draft = draft
        self._first: dict[str, tuple[InputAxis, str, str]] = {}

    def inputs(self) -> list[dict[str, Any]]:
        """Return each input with its axes."""
        spelled = declaration.distinct([name.lower()[: _LONGEST_TENSOR_ID - 2] for name in self._draft.axes])
        ids = [spelled[name.lower()[: _LONGEST_TENSOR_ID - 2]] for name in self._draft.axes]
        described = []
        for (name, axes), tensor in zip(self._draft.axes.items(), ids, strict=True):
            kind = self._draft.kinds[name]
            data = {"data": {"type": kind}} if kind else {}
            described.append({"id": tensor, "axes": self._axes(tensor, axes), **data})
        return described

    def _axes(self, tensor: str, axes: Sequence[InputAxis]) -> list[dict[str, Any]]:
        described: list[dict[str, Any]] = []
        taken = set(_NO_IDS)
        for place, axis in enumerate(axes):
            own = self._batch(axis, len(axes)) if place == 0 else None
            if own is None:
                may_be = len(axes) > 2 and place == 1 and described[0]["type"] == "batch"
                own = self._other(tensor, axis, taken, is_channels=may_be and _is_channels(axis.bounded))
            taken.add(own.get("id", "batch"))
            described.append(own)
        return described

    def _batch(self, axis: InputAxis, rank: int) -> dict[str, Any] | None:
        """Return the first axis if it is a batch: of any size, or of size 1."""
        bounded = axis.bounded
        is_batch = bounded.name.lower() in _BATCH
        if bounded.is_fixed and bounded.sizes[0] == 1 and (is_batch or rank > 2):
            return {"type": "batch", "size": 1}
        if not is_batch or bounded.is_fixed or bounded.sizes[0] > 1 or bounded.sizes.step > 1:
            return None
        if self._first.setdefault(axis.size, (axis, "", ""))[1]:
            raise self._request.refused(f"a batch cannot follow another axis, and {bounded.text} does", _LIST, "list")
        return {"type": "batch"}

    def _other(self, tensor: str, axis: InputAxis, taken: set[str], *, is_channels: bool) -> dict[str, Any]:
        bounded = axis.bounded
        if is_channels:
            names = [f"channel{n}" for n in range(bounded.sizes[0])]
            return {"type": "channel", "id": "channel", "channel_names": names}
        kind, own = _KINDS.get((bounded.name or axis.size).lower(), ("index", ""))
        wanted = own if own and own not in taken else (bounded.name or axis.size or "axis").lower()[: _LONGEST_ID - 4]
        (own,) = declaration.distinct([wanted], taken).values()
        return {"type": kind, "id": own, "size": self._size(tensor, own, axis)}

    def _size(self, tensor: str, own: str, axis: InputAxis) -> Any:
        """Return a number, a least size with a step, or a reference to the first axis of the size."""
        sizes = axis.bounded.sizes
        if not axis.size:
            return sizes[0]
        first, of, referred = self._first.setdefault(axis.size, (axis, tensor, own))
        if first is axis:
            return {"min": sizes[0], "step": sizes.step}
        if not of or first.factor != axis.factor:
            problem = f"an axis can follow another one at a distance only, and {axis.bounded.text} follows"
            raise self._request.refused(f"{problem} {first.bounded.text}", _LIST, "list")
        return {"tensor_id": of, "axis_id": referred, "offset": axis.offset - first.offset}
