"""The JSON Schemas of answers to questions: one file of definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["cases", "solution", "expansion", "proved", "repairs"]


def json_schema(kind: Kind) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one kind of data.

    >>> json_schema("solution")["required"][:3]
    ['version', 'rule', 'operands']
    """
    schemas = json.loads(Path(__file__).with_name("questions.schema.json").read_text("utf-8"))
    return {"$schema": schemas["$schema"], **schemas["$defs"][kind]}
