"""Record what StableHLO's refinement makes of its own modules with dynamic shapes, at four bindings each.

``python tests/stablehlo/record_testdata.py CHECKOUT`` reads ``stablehlo/testdata/dynamic`` of a checkout of
openxla/stablehlo and writes ``tests/data/stablehlo/testdata.jsonl.gz``.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from stablehlo_corpora.children import run_all
from stablehlo_corpora.refinement import Argument, arguments, refined

DATA = Path(__file__).parents[1] / "data" / "stablehlo" / "testdata.jsonl.gz"
CHOSEN = ((5, 4, 7), (2, 3, 5), (1, 1, 1))
"""The values of a module's dimension variables, which are its leading ``tensor<i64>`` arguments."""


def shapes_of(taken: list[Argument], numbers: list[int]) -> list[list[int] | None]:
    """Return the arguments' shapes with numbers for their dynamic sizes; None for an argument that has none."""
    found = iter(numbers)
    return [[next(found) if s is None else s for s in a.sizes] if None in a.sizes else None for a in taken]


def bindings_of(text: str) -> list[dict[str, Any]]:
    """Return the recorded bindings of a module.

    Which of its variables a dynamic size is, the module does not say: the first choice that works is taken. The last
    binding is one more than that for the last of the dynamic sizes.
    """
    taken = arguments(text)
    variables = list(itertools.takewhile(lambda n: taken[n] == Argument((), "i64"), range(len(taken))))
    open_sizes = sum(s is None for a in taken for s in a.sizes)
    recorded = []
    for chosen in CHOSEN:
        values = dict(zip(variables, chosen, strict=False))
        orders = sorted(itertools.product(range(len(variables)), repeat=open_sizes), key=lambda o: len(set(o)) * -1)
        tried = [shapes_of(taken, [chosen[n] for n in order]) for order in orders]
        outputs = [(shapes, refined(text, shapes, values)) for shapes in tried]
        shapes, output = next((o for o in outputs if not isinstance(o[1], str)), outputs[0])
        recorded.append({"shapes": shapes, "values": values, "outputs": output})
    numbers = [
        s
        for a, shape in zip(taken, recorded[0]["shapes"], strict=True)
        for s, d in zip(shape or (), a.sizes, strict=False)
        if d is None
    ]
    if numbers:
        shapes = shapes_of(taken, [*numbers[:-1], numbers[-1] + 1])
        values = recorded[0]["values"]
        recorded.append({"shapes": shapes, "values": values, "outputs": refined(text, shapes, values)})
    return recorded


def row_of(path: Path) -> dict[str, Any]:
    text = "\n".join(line for line in path.read_text().splitlines() if line and not line.startswith("// RUN"))
    return {"name": path.stem, "text": text, "bindings": bindings_of(text)}


def main() -> None:
    found = run_all(row_of, sorted((Path(sys.argv[1]) / "stablehlo/testdata/dynamic").glob("*.mlir")))
    rows = [row for _, row in found]
    assert all(isinstance(row, dict) for row in rows), [row for row in rows if isinstance(row, str)]
    DATA.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    DATA.write_bytes(gzip.compress(lines.encode(), mtime=0))
    bindings = [b for row in rows for b in row["bindings"]]
    refused = sum(isinstance(b["outputs"], str) for b in bindings)
    print(f"{len(rows)} modules, {len(bindings)} bindings, {refused} refused, {DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
