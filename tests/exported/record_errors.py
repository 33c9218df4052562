"""Records torch's messages about sizes, by the cases in ``error_cases.py``.

``PYTHONPATH=tests:tests/support python tests/exported/record_errors.py [NAME ...]`` writes
``tests/data/torch/errors.json`` by torch 2.13.0; cases that are not named stay as recorded. ``says`` of a row is what
`read_error` answered when a person checked it: a new row gets today's answer, to be read before it is committed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from error_cases import ALL, text_of

from symbcast.torch import read_error

TARGET = Path(__file__).parent.parent / "data" / "torch" / "errors.json"
PLACES = (
    (re.compile(r"[^\s\"'(]*tests/error_cases\.py"), "/home/user/net.py"),
    (re.compile(r"[^\s\"'(]*site-packages/"), "/site-packages/"),
    (re.compile(r"\n*The error above occurred when calling torch\.export\.export\.[^\n]*"), ""),
    (re.compile(r"^V\d{4} [^\n]*\] *(?:\[[\d/]+\] *)?$\n", re.M), ""),
)
"""What depends on the machine, and empty lines of logs."""


def plain(text):
    for pattern, other in PLACES:
        text = pattern.sub(other, text)
    return text


def heads(text):
    """Return the lines of an answer that say what torch's messages mean."""
    return [line for line in read_error(text).explain().splitlines() if not line.startswith(" ")]


def main(names):
    known = json.loads(TARGET.read_text("utf-8")) if TARGET.exists() else {}
    found = {}
    for name in ALL:
        row = known.get(name)
        if row is None or name in names:
            text = text_of(name)
            if text is None:
                print(name, "says nothing")
                continue
            row = {"text": plain(text), "says": [] if row is None else row["says"]}
        found[name] = {**row, "says": row["says"] or heads(row["text"])}
    TARGET.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
