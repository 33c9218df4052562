"""Holds reports about real models against LiteRT: needs ai-edge-litert.

    python tests/litert/run_models.py FOLDER [SIZES]

All axes of all inputs are freed. Each model is resized to the shapes of its file, to those of the report's witness, and
to drawn ones nearby, always the same; 20 sizes in all. "refused" counts runs that were predicted to fail, "foreseen"
failures that were predicted, "wrong" runs with other output shapes, and "open" failures that the report leaves open.
Models that do not run at the sizes of their files are left out.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support"))

from litert_oracle import Oracle
from openvino_answers import accepts, differs, shape_at

import symbcast as sb

SIZES = 20


def own_shapes(content):
    """Return the shapes of the inputs in the file, by name."""
    model = sb.litert.front_end.read(content)
    return {name: list(t.shape) for name, t in zip(model.graph.inputs, model.graph.tensors, strict=True)}


def drawn(own, names, witness, count):
    """Return sizes by name: those of the file, the witness, and others near to the file's."""
    draw = random.Random(11)
    places = {name: d for key, shape in own.items() for name, d in zip(names[key], shape, strict=True)}
    found = [places] if 0 not in places.values() else []
    if witness:
        found.append({**places, **{n: int(witness[n]) for n in places if n in witness}})
    for _ in range(40 * count):
        if len(found) >= count:
            break
        sizes = dict(places)
        for name in draw.sample(sorted(places), min(len(places), draw.choice((1, 1, 2, 3)))):
            size = places[name]
            sizes[name] = max(1, draw.choice((size + 1, size - 1, 2 * size, size // 2, size + 32, draw.randint(1, 9))))
        if sizes not in found:
            found.append(sizes)
    return found


def examined(path, oracle, count):
    """Return the counts of a model, and lines about what differs."""
    content = path.read_bytes()
    own = own_shapes(content)
    if oracle(content, list(own.values()), {})[0] != "ok":
        return None, []
    names = {key: [f"s{k}_{axis}" for axis in range(len(shape))] for k, (key, shape) in enumerate(own.items())}
    start = time.process_time()
    report = sb.litert.check(content, resize={key: ", ".join(n) for key, n in names.items() if n})
    witness = report.witness()
    row = dict.fromkeys(("runs", "refused", "fails", "foreseen", "wrong", "open"), 0)
    row["seconds"] = round(time.process_time() - start, 2)
    row["nodes"], row["unanalysed"] = len(report._checked.model.graph.nodes), len({u.node for u in report.unanalysed})
    notes = sorted({f"{u.op_type}: {u.reason}"[:110] for u in report.unanalysed})
    is_open = bool([u for u in report.unanalysed if not u.is_about_data])
    for sizes in drawn(own, names, witness, count):
        shapes = [[sizes[n] for n in names[key]] for key in own]
        result = oracle(content, shapes, {}, is_plain=True)
        if result[0] == "ok" and oracle(content, shapes, {}, is_plain=False) != result:
            result = ("xnnpack", "")
        told = accepts(report, sizes)
        if result[0] == "ok":
            row["runs"] += 1
            row["refused"] += not told
            outputs = [None if s is None else shape_at(s, sizes) for s in report.outputs.values()]
            bad = told and any(map(differs, outputs, result[1]))
            row["wrong"] += bad
            if bad or not told:
                notes.append(f"{sizes}: gives {result[1]}, told {outputs if told else 'fails'}")
        else:
            row["fails"] += 1
            row["foreseen"] += not told
            row["open"] += told and is_open
            if told:
                notes.append(f"{sizes}: {result[0]}: {result[1][:200]}")
    return row, notes


def main(folder, count=SIZES):
    oracle = Oracle()
    totals: dict[str, float] = {}
    for path in sorted(Path(folder).glob("*.tflite")):
        try:
            row, notes = examined(path, oracle, int(count))
        except sb.SymbcastError as error:
            print(path.name, f"{type(error).__name__}: {error}"[:200], flush=True)
            continue
        if row is None:
            print(path.name, "does not run at the sizes of its file")
            continue
        print(path.name[-50:], *(f"{k}={v}" for k, v in row.items()), flush=True)
        print(*(f"    {n}" for n in notes[:5]), sep="\n", end="\n" if notes else "", flush=True)
        for key, value in row.items():
            totals[key] = totals.get(key, 0) + value
        totals["models"] = totals.get("models", 0) + 1
        totals["whole"] = totals.get("whole", 0) + (row["unanalysed"] == 0)
    print("all", totals)


if __name__ == "__main__":
    main(*sys.argv[1:])
