"""Record what StableHLO's verifier says of dynamic versions of its own tests, at the tests' sizes and around them.

``python tests/stablehlo/record_verifier.py CHECKOUT`` reads ``infer_*.mlir``, ``verify_*.mlir`` and ``ops_*.mlir`` in
``stablehlo/tests`` of a checkout of openxla/stablehlo and writes ``tests/data/stablehlo/verifier.jsonl.gz``. A test
whose error no size can cause has no dynamic version that parses: it is the parser's.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from stablehlo_corpora.children import run_all
from stablehlo_corpora.dynamic_versions import Version, versions
from stablehlo_corpora.refinement import NoAnswerError, refined

DATA = Path(__file__).parents[1] / "data" / "stablehlo" / "verifier.jsonl.gz"
FAMILIES = ("infer", "verify", "ops")
MOST = 60
"""Bindings of a module."""


def bindings(sizes: list[int], seed: str) -> list[list[int]]:
    """Return the sizes themselves, then sizes around them: each changed alone, equal ones together, and drawn ones."""
    found = [sizes]
    for n, old in enumerate(sizes):
        found += [[*sizes[:n], new, *sizes[n + 1 :]] for new in (0, 1, 2, old - 1, old + 1, 2 * old) if new >= 0]
    for old in sorted(set(sizes)):
        found += [[new if s == old else s for s in sizes] for new in (0, 1, 3, old + 1, 2 * old)]
    drawing = random.Random(seed)
    found += [[drawing.choice((0, 1, 2, 3, 4, 5, s)) for s in sizes] for _ in range(20)]
    distinct = list(dict.fromkeys(map(tuple, found)))
    kept = distinct if len(distinct) <= MOST else [distinct[0], *drawing.sample(distinct[1:], MOST - 1)]
    return [list(k) for k in kept]


def shaped(ranks: list[int | None], numbers: list[int]) -> list[list[int] | None]:
    """Return shapes of given ranks with numbers in order; None for an argument that keeps its type."""
    left = iter(numbers)
    return [None if rank is None else [next(left) for _ in range(rank)] for rank in ranks]


def answer(text: str, ranks: list[int | None], numbers: list[int]) -> Any:
    """Return the shapes of the results, None if the module is refused, and "?" if StableHLO's passes cannot say."""
    try:
        found = refined(text, shaped(ranks, numbers))
    except NoAnswerError:
        return "?"
    return None if isinstance(found, str) else found


def row_of(version: Version, name: str, expected: list[str]) -> dict[str, Any]:
    ranks = [None if s is None else len(s) for s in version.sizes]
    numbers = [n for s in version.sizes for n in s or ()]
    runs = [[b, answer(version.text, ranks, b)] for b in bindings(numbers, name)]
    known = [run for run in runs if run[1] != "?"]
    return {"name": name, "expected": expected, "text": version.text, "ranks": ranks, "runs": known}


def rows_of(test: tuple[str, str]) -> list[dict[str, Any]]:
    name, text = test
    expected = re.findall(r"expected-error.*?\{\{(.*?)\}\}", text)
    return [row_of(v, f"{name} {v.kind}", expected) for v in versions(text)]


def tests(checkout: Path) -> list[tuple[str, str]]:
    """Return the functions of the test files, with a name each: the file and the position in it."""
    found = []
    for family in FAMILIES:
        for path in sorted((checkout / "stablehlo/tests").glob(f"{family}_*.mlir")):
            parts = enumerate(path.read_text().split("// -----"))
            found += [(f"{path.stem} {n}", part) for n, part in parts if "func" in re.sub(r"//.*", "", part)]
    return found


def main() -> None:
    asked = tests(Path(sys.argv[1]))
    answers = run_all(rows_of, asked)
    rows = [row for kind, made in answers if kind == "ok" for row in made if row["runs"]]
    DATA.write_bytes(gzip.compress("\n".join(json.dumps(r, separators=(",", ":")) for r in rows).encode(), mtime=0))
    refused = sum(run[1] is None for row in rows for run in row["runs"])
    counted = {kind: sum(a[0] == kind for a in answers) for kind in ("ok", "error", "crash")}
    named = {r["name"].rpartition(" ")[0] for r in rows}
    print(f"{len(asked)} functions ({counted}), {len(rows)} dynamic versions of {len(named)},")
    print(f"{sum(len(r['runs']) for r in rows)} bindings, {refused} refused, {DATA.stat().st_size} bytes")
    for (name, _), (kind, said) in zip(asked, answers, strict=True):
        if kind != "ok":
            print(name, kind, str(said)[:200])


if __name__ == "__main__":
    main()
