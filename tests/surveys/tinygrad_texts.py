"""What our simplification writes for tinygrad's expressions, beside what tinygrad's own tests expect.

``python tests/surveys/tinygrad_texts.py`` prints how many of the texts are longer than tinygrad's, and which. The
expressions are the rows "tinygrad" of ``data/public_suites.tsv``: an expression, the one that it is simplified to, and
the bounds of its variables. Ours is the shape that `symbcast.broadcast` gives for the first one under these bounds;
tinygrad's is the second one as we write any text. So both have the same spelling, and only what they say is compared.

Variables of tinygrad may be negative, sizes may not. The rows write such a variable as a difference, ``a_p - a_n``,
with its bounds: here it is one size less a number, ``a - 10`` for bounds of -10 and 10, on both sides. An expression
whose values may all be negative is compared plus a number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import symbcast as sb

SUITES = Path(__file__).parents[1] / "data" / "public_suites.tsv"
DIFFERENCE = re.compile(r"\((\w+)_p - \1_n\)")
LEAST = re.compile(r"\((\w+)_p - \1_n\) >= (0 - )?(\d+)")
RAISED = 1_000
"""What is added where all values may be negative."""


class Text(NamedTuple):
    """An expression of tinygrad's tests, what they expect of it, and the bounds of its variables."""

    test: str
    bounds: tuple[str, ...]
    expression: str
    expected: str


def texts() -> Iterator[Text]:
    """Yield each expression once for the same bounds."""
    done = set()
    with SUITES.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            left, equals, right = row["concluded"].partition(" == ")
            if row["suite"] != "tinygrad" or row["expected"] != "yes" or not equals or not left.endswith(")"):
                continue
            if left.startswith("(") and (row["condition"], left) not in done:
                done.add((row["condition"], left))
                yield Text(row["source"], *_of_sizes(row["condition"], left, right))


def _of_sizes(condition: str, *sides: str) -> tuple[tuple[str, ...], str, str]:
    """Return bounds and both sides with sizes in place of variables that may be negative."""
    least = {name: -int(number) if minus else int(number) for name, minus, number in LEAST.findall(condition)}
    differences = {name: f"({name} - {-low})" for name, low in least.items()}

    def shifted(text: str) -> str:
        return DIFFERENCE.sub(lambda found: differences[found[1]], text)

    bounds = tuple(shifted(part) for part in condition.split(" and ") if part)
    return bounds, *map(shifted, sides)


def written(text: Text, raised: int = 0) -> tuple[str, str]:
    """Return what we write for an expression, and for the one that tinygrad expects, both plus a number."""
    left, right = (f"{side} + {raised}," if raised else f"{side}," for side in (text.expression, text.expected))
    try:
        theirs = str(sb.shape(right))
    except sb.ShapeSyntaxError:
        if raised:
            raise
        return written(text, RAISED)
    return str(sb.broadcast(left, assume=text.bounds, min_size=0).shape), theirs


def main() -> None:
    """Print the texts that are longer than tinygrad's, and how many there are."""
    rows = [(text, *written(text)) for text in texts()]
    longer = [row for row in rows if len(row[1]) > len(row[2])]
    for text, ours, theirs in longer:
        print(f"{text.test}: {text.expression} for {' and '.join(text.bounds)}\n    {ours}\n    {theirs}")
    shorter = sum(len(ours) < len(theirs) for _, ours, theirs in rows)
    print(f"{len(rows)} texts: {len(longer)} longer than tinygrad's, {shorter} shorter")


if __name__ == "__main__":
    main()
