"""Draws models of 2 to 8 operators, and holds the answers about them against LiteRT: needs ai-edge-litert.

    python tests/litert/drawn_models.py COUNT [SEED]
    python tests/litert/drawn_models.py keep COUNT [SEED]

The operators are those of `litert_nodes`, joined at random: an operator takes outputs of earlier ones, or new inputs;
shapes and other numbers are constants of the row, changed a little, or computed from sizes. An operator that fails at
the first sizes is drawn again, mostly. Each model is run at drawn sizes from 0 to 4. "keep" writes a sample with what
LiteRT did, which `test_nodes.py` reads.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from base64 import b64encode
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "litert"))

from litert_nodes import OPTIONS, ModelBuilder, rows
from litert_oracle import Oracle, outcome

DATA = Path(__file__).parents[1] / "data" / "litert" / "drawn.jsonl.gz"
RUNS = 30
MASKS = dict.fromkeys(("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask"), 0)
# What these give depends on the run, or they have a state.
LEFT_OUT = ("MULTINOMIAL", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "RFFT2D")
# Inputs, by operator, that hold sizes or positions, and so may be computed.
COMPUTED = {
    "RESHAPE": (1,), "FILL": (0,), "BROADCAST_TO": (1,), "TILE": (1,), "SLICE": (1, 2), "STRIDED_SLICE": (1, 2),
    "TRANSPOSE_CONV": (0,), "RESIZE_BILINEAR": (1,), "RESIZE_NEAREST_NEIGHBOR": (1,), "SCATTER_ND": (2,),
    "SPARSE_TO_DENSE": (1,), "ONE_HOT": (1,), "TOPK_V2": (1,), "RANGE": (0, 1), "SPLIT_V": (1,), "PAD": (1,),
    "UNSORTED_SEGMENT_SUM": (2,), "DYNAMIC_UPDATE_SLICE": (2,), "GATHER": (1,),
}  # fmt: skip
WHERE_FIRST = {"f": 1.0, "i": 1, "l": 1, "b": True, "u": 1, "8": 1}


class Drawn:
    """A model that grows: its tensors with their shapes at the first sizes."""

    def __init__(self, draw):
        self.draw = draw
        self.builder = ModelBuilder()
        self.graph = self.builder.graph()
        self.shapes, self.kinds, self.first, self.made = {}, {}, [], []

    def input(self, kind, shape):
        """Add an input; each open axis has a first size."""
        draw, number = self.draw, len(self.graph.inputs)
        left = 4 - sum(None in s for s in self.open_shapes())
        shape = [d if d is not None else (None if left > 0 and draw.random() < 0.7 else draw.choice((1, 2, 3, 4)))
                 for d in shape]  # fmt: skip
        tensor = self.builder.tensor(self.graph, kind, shape, name=f"x{number}")
        self.graph.inputs.append(tensor)
        self.shapes[tensor] = [d if d is not None else draw.choice((1, 2, 3, 4, 4)) for d in shape]
        self.kinds[tensor] = kind
        self.first.append(self.shapes[tensor])
        return tensor

    def open_shapes(self):
        """Return the shapes of inputs, with None for open axes."""
        tensors = (self.graph.tensors[n] for n in self.graph.inputs)
        return [[None if d < 0 else d for d in (t.shape if t.shapeSignature is None else t.shapeSignature)]
                for t in tensors]  # fmt: skip

    def names(self):
        return [f"x{n}_dim_{axis}" for n, s in enumerate(self.open_shapes()) for axis, d in enumerate(s) if d is None]

    def shapes_at(self, sizes):
        taken = iter(sizes)
        return {f"x{n}": [next(taken) if d is None else d for d in s] for n, s in enumerate(self.open_shapes())}

    def put(self, row, inputs, oracle):
        """Add an operator; return whether the model so far runs at the first sizes, and its outputs."""
        ranks = row.get("ranks") or [0] * len(row["outputs"])
        outputs = [self.builder.tensor(self.graph, kind, [1] * rank, name=f"v{len(self.graph.tensors)}")
                   for kind, rank in zip(row["outputs"], ranks, strict=True)]  # fmt: skip
        self.builder.operator(self.graph, row["op"], inputs, outputs, row["options"], row["attributes"], row["version"])
        for output, kind in zip(outputs, row["outputs"], strict=True):
            self.kinds[output] = kind
        self.graph.outputs = outputs
        at = {f"x{n}": s for n, s in enumerate(self.first)}
        step, shapes = oracle(self.builder.content(), at, {})
        is_empty = step == "ok" and any(0 in s for s in shapes)
        if step == "ok":
            for output, shape in zip(outputs, shapes, strict=True):
                self.shapes[output] = shape
                # As converters write them; XNNPACK leaves out operators whose shapes in the file cannot be.
                tensor, is_fixed = self.graph.tensors[output], row["op"] == "SLICE" and row["size"]
                tensor.shape = [row["size"]] * len(shape) if is_fixed else shape
                tensor.shapeSignature = None if is_fixed else [-1] * len(shape)
            self.made += outputs
        self.fails = step != "ok"
        return step == "ok" and not is_empty, outputs

    def chosen(self, kind, shape, *, is_exact=False):
        """Return a tensor for an input of a row: one of the type and rank, if there is one, or a new input."""
        fits = [t for t in self.shapes if self.kinds[t] == kind and len(self.shapes[t]) == len(shape)]
        fits = [t for t in fits if all(d in (None, s) for d, s in zip(shape, self.shapes[t], strict=True))] or (
            [] if is_exact else fits
        )
        if fits and self.draw.random() < 0.85:
            later = [t for t in fits if t in self.made]
            return self.draw.choice(later if later and self.draw.random() < 0.7 else fits)
        return self.input(kind, shape) if len(self.graph.inputs) < 3 else None

    def computed(self, shape, oracle):
        """Return integers of a shape that are computed from sizes; None if there are none."""
        draw, count = self.draw, shape[0] if shape else 1
        sources = [t for t in self.shapes if self.shapes[t]]
        if len(shape) > 1 or not sources:
            return None
        parts = []
        for _ in range(count):
            if draw.random() < 0.35:
                parts.append(self.builder.tensor(self.graph, "i", (1,), [draw.choice((-1, 1, 1, 2, 3))]))
                continue
            source = draw.choice(sources)
            (sizes,) = self.add("SHAPE", [source], "i", "ShapeOptions", {"outType": 2}, oracle)
            at = draw.randrange(len(self.shapes[source]))
            numbers = [self.builder.tensor(self.graph, "i", (1,), [n]) for n in (at, at + 1, 1)]
            (part,) = self.add("STRIDED_SLICE", [sizes, *numbers], "i", "StridedSliceOptions", MASKS, oracle)
            if draw.random() < 0.4:
                op, options = draw.choice([(op, OPTIONS[op]) for op in ("MUL", "ADD", "FLOOR_DIV", "SUB", "MAXIMUM")])
                number = self.builder.tensor(self.graph, "i", (1,), [draw.choice((1, 2, 2, 3))])
                (part,) = self.add(op, [part, number], "i", options, {}, oracle)
            parts.append(part)
        if not shape:
            target = self.builder.tensor(self.graph, "i", (0,), [])
            return self.add("RESHAPE", [parts[0], target], "i", "ReshapeOptions", {"newShape": []}, oracle)[0]
        return self.add("CONCATENATION", parts, "i", "ConcatenationOptions", {"axis": 0}, oracle)[0]

    def add(self, op, inputs, outputs, options, attributes, oracle):
        row = {"op": op, "outputs": outputs, "options": options, "attributes": attributes, "version": 1, "size": 1}
        return self.put(row, inputs, oracle)[1]

    def snapshot(self):
        graph = self.graph
        return len(graph.tensors), len(graph.operators), list(graph.inputs), list(graph.outputs), list(self.made), \
            list(self.first)  # fmt: skip

    def back_to(self, before):
        graph = self.graph
        tensors, operators, graph.inputs, graph.outputs, self.made, self.first = before
        del graph.tensors[tensors:], graph.operators[operators:]
        for known in (self.shapes, self.kinds):
            for tensor in [t for t in known if t >= tensors]:
                del known[tensor]


def is_joined(row):
    """Return whether an operator is drawn: XNNPACK steps aside, or not, in files with a size of 0."""
    constants = [i for i in row["inputs"] if i is not None and len(i) > 2]
    has_zero = any(i[0] == "i" and isinstance(i[2], list) and 0 in i[2] for i in constants)
    is_size = row["op"] in ("FILL", "TILE", "BROADCAST_TO", "RESHAPE", "TOPK_V2")
    return row["op"] not in LEFT_OUT and not any("state" in i for i in constants) and not (has_zero and is_size)


def changed(draw, op, given):
    """Return a constant of a row, or another one near to it."""
    values = given[2] if len(given) > 2 else None
    # LiteRT's own kernel takes an order that names an axis twice.
    if given[0] != "i" or not isinstance(values, list) or op == "TRANSPOSE" or draw.random() < 0.6:
        return given
    near = [v + draw.choice((-1, 0, 0, 0, 1)) for v in values]
    return [given[0], given[1], near]


def drawn_model(seed, oracle):
    """Return a model of up to 8 drawn operators, besides those that compute sizes."""
    draw = random.Random(seed)
    known = [r for r in rows() if is_joined(r)]
    by_name = {}
    for row in known:
        by_name.setdefault(row["op"], []).append(row)
    model, wanted = Drawn(draw), draw.randint(2, 8)
    model.input(draw.choice("ffffi"), [None] * draw.choice((1, 2, 3, 4, 4)))
    for _ in range(60):
        if len(model.graph.operators) >= wanted:
            break
        row = draw.choice(by_name[draw.choice(sorted(by_name))])
        before = model.snapshot()
        inputs = []
        for place, given in enumerate(row["inputs"]):
            if given is None:
                inputs.append(-1)
                continue
            tensor = None
            if len(given) > 2:
                if place in COMPUTED.get(row["op"], ()) and draw.random() < 0.4:
                    tensor = model.computed(given[1], oracle)
                if tensor is None:
                    tensor = model.builder.tensor(model.graph, *changed(draw, row["op"], given))
            else:
                shape = given[1] if len(given[1]) > 4 or row["op"] not in ("ADD", "MUL", "SUB", "RELU", "TANH") else \
                    [None] * draw.randint(1, 4)  # fmt: skip
                tensor = model.chosen(given[0], shape, is_exact=row["op"] == "DEPTHWISE_CONV_2D")
            inputs.append(tensor)
        if None in inputs:
            model.back_to(before)
            continue
        if not model.put(row, inputs, oracle)[0]:
            if draw.random() < 0.97 or len(model.graph.operators) < 2 or not model.fails:
                model.back_to(before)
                continue
            break
    graph = model.graph
    used = {n for op in graph.operators for n in op.inputs}
    last = [t for t in model.made if t not in used]
    graph.outputs = list(dict.fromkeys([*last, *graph.outputs[:1]])) or graph.outputs
    return model


def agrees(content, shapes, real, oracle):
    return oracle(content, shapes, {}, is_plain=False) == ("ok", real)


def recorded(seed, oracle):
    model = drawn_model(seed, oracle)
    content, names = model.builder.content(), model.names()
    # All values, to see whether one is empty: then XNNPACK need not work.
    outputs, model.graph.outputs = model.graph.outputs, model.made
    inside, model.graph.outputs = model.builder.content(), outputs
    draw, runs = random.Random(seed), []
    for sizes in sorted({tuple(draw.choice((0, 1, 1, 2, 2, 3, 4)) for _ in names) for _ in range(RUNS)}):
        shapes = model.shapes_at(sizes)
        step, values = oracle(inside, shapes, {})
        is_empty = step == "ok" and any(0 in s for s in (*values, *shapes.values()))
        real = outcome(content, (0,) if is_empty else sizes, shapes, {}, oracle)
        # A requirement of XNNPACK alone may be what the answer says.
        if not is_empty or real is None or agrees(inside, shapes, values, oracle):
            runs.append([list(sizes), real])
    kept = b64encode(content).decode()
    return {"op": f"{len(model.graph.operators)} operators", "model": kept, "names": names, "runs": runs}


def main(count, seed=0):
    from test_nodes import faults

    oracle, totals = Oracle(), {"models": 0, "runs": 0, "work": 0, "with faults": 0}
    for n in range(seed, seed + count):
        row = recorded(n, oracle)
        wrong = list(faults(row, may_data_fail=True))
        totals["models"] += 1
        totals["runs"] += len(row["runs"])
        totals["work"] += sum(r[1] is not None for r in row["runs"])
        totals["with faults"] += bool(wrong)
        if wrong:
            print(n, row["op"], *wrong[:3], sep="\n    ", flush=True)
    print(totals)


if __name__ == "__main__":
    if sys.argv[1] == "keep":
        oracle = Oracle()
        start = int(sys.argv[3]) if len(sys.argv) > 3 else 0
        lines = [json.dumps(recorded(n, oracle), separators=(",", ":")) for n in range(start, start + int(sys.argv[2]))]
        DATA.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
    else:
        main(*map(int, sys.argv[1:]))
