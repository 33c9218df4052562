"""Answers, and documents about them, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symbcast.answers.data import AccountData, ConstraintData, ResultData
from symbcast.answers.explanation.words import Namer
from symbcast.answers.show.document import Block, Document, Field, Fields, Lines, Records, Row, Span, Table, Tone, plain
from symbcast.core.algebra.formulas import FALSE, all_of
from symbcast.core.rules.declaration import Constraint
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.account import Account
    from symbcast.core.programs.broadcast_call import BroadcastCall
    from symbcast.core.programs.program import Program


# Answers as plain data for JSON.


# The version of the format: incremented when a key changes meaning or is removed.
FORMAT_VERSION = 1


def result_to_dict(result: BroadcastCall) -> ResultData:
    """Return an answer as data that `json.dumps` accepts, the same on every run.

    Shapes, dimensions and formulas are text that `symbcast.core.text` reads back; ``shape``, ``witness`` and
    ``counterexample`` are null if there is none. ``symbols`` are the names of the sizes; an unknown is called by
    its label (``?0``) everywhere, in shapes with its bounds (``?0:2..5``). A sequence of axes is listed once
    (``*batch``), and has a list of sizes in ``witness`` and ``counterexample``.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> data = result_to_dict(call_of(broadcast("N, 3", "M, 1")))
    >>> data["verdict"], data["shape"]["dims"], data["condition"]
    ('sometimes', ['broadcast(M, N)', '3'], 'N == M or N == 1 or M == 1')
    """
    namer, shape, clauses = Namer(result), result.shape, result.clauses
    rule = result.rule
    return {
        "version": FORMAT_VERSION,
        "rule": {
            "name": rule.name,
            "called": rule.called,
            "attributes": {p.name: _plain(getattr(rule, p.name)) for p in rule.parameters},
        },
        "operands": [namer.shape(s) for s in result.operands],
        "symbols": list(namer.sizes),
        "assumptions": [a.text for a in result.assumptions],
        "min_size": result.min_size,
        "verdict": result.verdict.value,
        "shape": None
        if shape is None
        else {"text": namer.shape(shape), "dims": [namer.bounded(d) for d in shape.dims]},
        "condition": condition_text(result, namer),
        "clauses": [namer.formula(c) for c in clauses],
        "unproven": [namer.formula(c) for c in result.unproven],
        "reason": result.reason,
        "witness": sizes_data(result.witness()),
        "counterexample": sizes_data(result.counterexample()),
        "conflict": [_constraint(c, namer) for c in result.conflict],
        "account": account_data(result.account, namer),
    }


def account_data(account: Account, namer: Namer) -> AccountData:
    """Return an account as data for JSON: formulas as text, points by name, and each open part with its reason."""
    return {
        "works": namer.formula(account.works),
        "needed": namer.formula(account.needed),
        "working": [sizes_data(point) for point in account.working],
        "failing": [sizes_data(point) for point in account.failing],
        "open": [{"reason": part.reason, "where": namer.formula(part.where)} for part in account.open],
    }


def sizes_data(sizes: Mapping[str, int] | None) -> dict[str, int] | None:
    """Return sizes by name, with the sizes of a sequence's axes as a list."""
    return None if sizes is None else {name: _plain(size) for name, size in sizes.items()}


def condition_text(answer: BroadcastCall | Program, namer: Namer) -> str:
    """Return the condition of an answer as text: an impossible program keeps its clauses, but no sizes meet them."""
    return namer.formula(FALSE if answer.verdict is Verdict.NEVER else all_of(answer.clauses))


def _constraint(constraint: Constraint, namer: Namer) -> ConstraintData:
    origin = constraint.origin
    return {
        "requirement": namer.formula(constraint.requirement),
        "operands": list(origin.operands),
        "axis": origin.axis,
        "rank": origin.rank,
        "rule": origin.rule,
        "operation": origin.operation,
        "reason": constraint.reason,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# Documents as plain data for JSON: the same words, labels and marks, for other renderers.


def render(document: Document) -> dict[str, Any]:
    """Return a document as data that `json.dumps` accepts.

    >>> from symbcast.answers.show.document import code, field, fields, words
    >>> render(Document(words("numpy: valid"), Tone.FINE, (fields([field("works at", code("N=1"))]),)))
    {'title': 'numpy: valid', 'tone': 'fine', 'blocks': [{'fields': [{'label': 'works at', 'lines': ['N=1']}]}]}
    """
    return {"title": plain(document.title), "tone": _tone(document.tone), "blocks": list(map(_block, document.blocks))}


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Fields(entries):
            return {"fields": list(map(_field, entries))}
        case Records(name, heads, records):
            return {"name": name, "heads": list(heads), "records": [list(map(_field, record)) for record in records]}
        case Lines(lines):
            return {"lines": list(map(plain, lines))}
        case Table(name, rows, legend):
            meanings = [{**_cell(mark), "meaning": meaning} for mark, meaning in legend]
            return {"name": name, "rows": list(map(_row, rows)), "legend": meanings}


def _field(field: Field) -> dict[str, Any]:
    return {"label": field.label, "lines": list(map(plain, field.lines))}


def _row(row: Row) -> dict[str, Any]:
    return {"part": row.part.name.lower(), "label": row.label, "cells": list(map(_cell, row.cells))}


def _cell(span: Span) -> dict[str, Any]:
    return {"text": span.text, "tone": _tone(span.tone)}


def _tone(tone: Tone | None) -> str | None:
    return None if tone is None else tone.name.lower()
