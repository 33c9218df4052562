"""Record what exported functions of JAX do at small sizes, and what StableHLO's refinement says of their modules.

``python tests/stablehlo/record_functions.py`` exports the functions and networks of ``stablehlo_corpora`` with symbolic
shapes and writes ``tests/data/stablehlo/functions.jsonl.gz``. Each run has the arguments' shapes, the shapes that the
function gives (null where it fails), the shapes that the module gives without its assertions (or why it is refused),
and whether the assertions hold.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import sys
from pathlib import Path
from typing import Any

import jax
from jax import export

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from stablehlo_corpora.functions import Case
from stablehlo_corpora.networks import all_cases
from stablehlo_corpora.refinement import arguments, asserted_at, refined

DATA = Path(__file__).parents[1] / "data" / "stablehlo" / "functions.jsonl.gz"
SIZES = range(1, 7)
MOST = 60


def symbolic(case: Case) -> list[jax.ShapeDtypeStruct]:
    scope = export.SymbolicScope(case.constraints)
    return [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), kind) for shape, kind in case.arguments]


def bindings(specs: list[jax.ShapeDtypeStruct], name: str) -> list[list[tuple[int, ...]]]:
    """Return shapes of the arguments: those that symbols from 1 to 6 give, then some with one size changed."""
    dims = [d for s in specs for d in s.shape if not isinstance(d, int)]
    names = sorted({v for d in dims for v in d._get_vars()})
    drawing = random.Random(name)
    values = list(itertools.product(SIZES, repeat=len(names)))
    chosen = [
        dict(zip(names, v, strict=True)) for v in (values if len(values) <= MOST else drawing.sample(values, MOST))
    ]
    found = [
        [tuple(int(d._evaluate(at)) if not isinstance(d, int) else d for d in s.shape) for s in specs] for at in chosen
    ]
    for shapes in drawing.choices(found, k=MOST // 2):
        places = [(n, axis) for n, s in enumerate(specs) for axis, d in enumerate(s.shape) if not isinstance(d, int)]
        n, axis = drawing.choice(places)
        changed = list(shapes[n])
        changed[axis] = drawing.choice(SIZES)
        found.append([*shapes[:n], tuple(changed), *shapes[n + 1 :]])
    return [list(shapes) for shapes in dict.fromkeys(map(tuple, found))]


def real(case: Case, shapes: list[tuple[int, ...]]) -> list[list[int]] | None:
    """Return the shapes that the function itself gives, or None where it fails."""
    taken = [jax.ShapeDtypeStruct(s, kind) for s, (_, kind) in zip(shapes, case.arguments, strict=True)]
    try:
        made = jax.eval_shape(case.function, *taken)
    except Exception:
        return None
    return [list(leaf.shape) for leaf in jax.tree.leaves(made)]


def row_of(case: Case) -> dict[str, Any]:
    specs = symbolic(case)
    text = export.export(jax.jit(case.function))(*specs).mlir_module()
    kept = [bool(a.sizes) for a in arguments(text)]
    runs = []
    for shapes in bindings(specs, case.name):
        given = [s if k else None for s, k in zip(shapes, kept, strict=True)]
        runs.append([shapes, real(case, shapes), refined(text, given, asserted=False), asserted_at(text, given)])
    shapes = [shape for shape, _ in case.arguments]
    return {"name": case.name, "arguments": shapes, "constraints": case.constraints, "text": text, "runs": runs}


def main() -> None:
    rows = [row_of(case) for case in all_cases()]
    DATA.write_bytes(gzip.compress("\n".join(json.dumps(r, separators=(",", ":")) for r in rows).encode(), mtime=0))
    print(f"{len(rows)} functions, {sum(len(r['runs']) for r in rows)} runs, {DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
