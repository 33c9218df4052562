"""Hold computed sizes against StableHLO's reference interpreter: ``survey_contents.py COUNT [SEED]``.

Each module computes an integer from two sizes and makes an iota with that many elements. The interpreter computes the
integer at 25 pairs of sizes; a negative one must be refused.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

from stablehlo.scores import Outcome, Run, compared

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from stablehlo_corpora.children import run_all
from stablehlo_corpora.random_contents import contents, value

import symbcast as sb

SIZES = list(itertools.product((1, 2, 3, 4, 7), repeat=2))


def values(texts: tuple[str, str]) -> list[int]:
    """Return the integer at all sizes."""
    return [value(texts[1], sizes) for sizes in SIZES]


def held(text: str, integers: list[int]) -> list[Outcome]:
    """Return how the report about a module compares with the integers that it computes."""
    runs = [Run([s], {}, None if n < 0 else [[n]]) for s, n in zip(SIZES, integers, strict=True)]
    return list(compared(sb.stablehlo.check(text), runs))


def main() -> None:
    count, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0"
    total: Counter[str] = Counter()
    asked = [contents(f"{seed} {n}") for n in range(count)]
    for texts, (kind, integers) in zip(asked, run_all(values, asked), strict=True):
        if kind != "ok":
            total[f"StableHLO: {kind}"] += 1
            continue
        found = held(texts[0], integers)
        total["modules"] += 1
        total += Counter(o.kind for o in found)
        wrong = next((o for o in found if o.kind not in ("agrees", "open")), None)
        if wrong:
            report = sb.stablehlo.check(texts[0])
            print(f"WRONG {wrong}; we say {report.condition}, {report.outputs}\n{texts[0]}")
    print(dict(total))


if __name__ == "__main__":
    main()
