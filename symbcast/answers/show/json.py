"""Documents as plain data for JSON: the same words, labels and marks, for other renderers."""

from __future__ import annotations

from typing import Any

from symbcast.answers.show.document import Block, Document, Field, Fields, Lines, Records, Row, Span, Table, Tone, plain


def render(document: Document) -> dict[str, Any]:
    """Return a document as data that `json.dumps` accepts.

    >>> from symbcast.answers.show.document import code, field, fields, words
    >>> render(Document(words("numpy: valid"), Tone.FINE, (fields([field("works at", code("N=1"))]),)))
    {'title': 'numpy: valid', 'tone': 'fine', 'blocks': [{'fields': [{'label': 'works at', 'lines': ['N=1']}]}]}
    """
    return {"title": plain(document.title), "tone": _tone(document.tone), "blocks": list(map(_block, document.blocks))}


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Fields(found):
            return {"fields": list(map(_field, found))}
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
