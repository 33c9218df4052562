"""Inputs that contracts write for bioimage.io, and what its own library reads, in ``data/bioimage_inputs.json``.

    python tests/surveys/bioimage_inputs.py

Each row has the condition, the ranges, the inputs, the text (null where it was refused), and each input as
bioimageio.spec 0.5.14.3 reads it: of each axis the type, the id, and the sizes at the first three values of its
parameter, null for a batch of any size.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

PATH = Path(__file__).parents[1] / "data" / "bioimage_inputs.json"
CONDITIONS = (
    "H % 16 == 0 and W % 16 == 0", "H >= 9 and W >= 2", "H % 8 == 4 and W >= 1", "H == W", "H == W + 3", "H <= 200",
    "H*W >= 64", "H % 4 == 0 or W >= 3", "(H + 1)//2 >= 2 and W >= 1", "H == 2*W", "H != 50 and W >= 1",
)  # fmt: skip
SHAPES = (
    "N, 3, H, W", "N, H, W", "1, 3, H, W", "H, W", "N, 2, D, H, W", "H + 1, W", "2*H, W", "W, H", "N, T, 5", "H",
    "W + 2, 3", "N, tokens, H", "s, W", "H, H", "2*H, H",
)  # fmt: skip


def drawn(choose):
    """Return a condition, ranges and inputs."""
    names = {"x": choose.choice(SHAPES), **({"Y.1": choose.choice(SHAPES)} if choose.random() < 0.5 else {})}
    text = " ".join(names.values())
    others = [n for n in ("N", "D", "T", "tokens", "s") if any(part == n for part in text.replace(",", " ").split())]
    condition = " and ".join([f"({choose.choice(CONDITIONS)})", "H >= 0", "W >= 0", *(f"{n} >= 0" for n in others)])
    low = {n: choose.choice([1, 1, 2, 4, 9, 16]) for n in ("H", "W", *others)}
    low |= dict.fromkeys({"N"} & set(others), choose.choice([1, 1, 1, 2]))
    ranges = {n: f"{k}..{k + choose.choice([0, 8, 64])}" for n, k in low.items()}
    return condition, ranges, names


def written(condition, ranges, inputs, form):
    """Return the text of a contract and its boxes; None for each if it is refused."""
    import symbcast as sb

    try:
        contract = sb.Condition(condition).contract(ranges, form=form)
        return contract.to("bioimage-io", inputs=inputs), contract
    except sb.SymbcastError:
        return None, None


def read(text):
    """Return what bioimageio.spec reads."""
    from bioimageio.spec.model.v0_5 import InputTensorDescr, ParameterizedSize, SizeReference

    tensors = [InputTensorDescr.model_validate(t) for t in json.loads(text)]
    axes = {(t.id, a.id): a for t in tensors for a in t.axes}

    def size(axis, n):
        if isinstance(axis.size, ParameterizedSize):
            return axis.size.get_size(n)
        if isinstance(axis.size, SizeReference):
            return axis.size.get_size(axis, axes[axis.size.tensor_id, axis.size.axis_id], n)
        return axis.size

    return [[[a.type, str(a.id), [size(a, n) for n in range(3)]] for a in t.axes] for t in tensors]


def main():
    choose, rows = random.Random(3), []
    while len(rows) < 120:
        question = (*drawn(choose), choose.choice(["box", "steps", "steps", "derived"]))
        text, _ = written(*question)
        if text is not None or choose.random() < 0.2:
            names = ("condition", "ranges", "inputs", "form", "text", "read")
            rows.append(dict(zip(names, (*question, text, text and read(text)), strict=True)))
    PATH.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    main()
