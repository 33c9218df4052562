"""JSON of our own: `Contract.to_dict` as text, for every verdict."""

from __future__ import annotations

import json

from symbcast.answers.contracts.targets.declaration import Request, target


@target("json", "all", "JSON, as Contract.json_schema describes it", place=14)
def contract_document(request: Request) -> str:
    """Return the contract as JSON, which `Contract.json_schema` describes."""
    return json.dumps(request.data(), indent=2)
