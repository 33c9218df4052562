"""Sums of arrays of Dask with known and unknown chunks, and what Dask does with them, in ``data/dask.json``.

    python tests/adapters/record_dask.py

Each array has the name, the shape and the chunks that Dask gives it (null for nan), and the sizes of its blocks when it
is computed. ``built`` is the shape of the sum, ``ran`` the shape of the computed sum; null where Dask raised.
Recorded with Dask 2026.8.0 and NumPy 2.4.6.
"""

from __future__ import annotations

import json
import random
import warnings
from math import isnan
from pathlib import Path

PATH = Path(__file__).parents[1] / "data" / "dask.json"


def plain(sizes):
    return [None if isnan(size) else int(size) for size in sizes]


def array(choose, kept):
    """Return an array of one or two axes: all rows of it, those that a mask keeps, or both after each other."""
    import dask.array as da
    import numpy as np

    rank = choose.choice([1, 1, 2])
    blocks = choose.choices([1, 1, 2, 2, 3], k=choose.randint(1, 2))
    x = da.ones((sum(blocks), *[choose.choice([1, 3])] * (rank - 1)), chunks=(tuple(blocks), *[-1] * (rank - 1)))
    kind = choose.random()
    if kind < 0.3:
        return x
    mask = np.array([choose.random() < kept for _ in range(sum(blocks))])
    some = x[da.from_array(mask, chunks=(tuple(blocks),))]
    return da.concatenate([x, some]) if kind < 0.4 else some


def described(x):
    sizes = []
    for axis, chunks in enumerate(x.chunks):
        places = [tuple(n if a == axis else 0 for a in range(x.ndim)) for n in range(len(chunks))]
        sizes.append([x.blocks[place].compute().shape[axis] for place in places])
    return {"name": x.name, "shape": plain(x.shape), "chunks": [plain(c) for c in x.chunks], "blocks": sizes}


def row(arrays):
    built = ran = None
    try:
        total = sum(arrays[1:], arrays[0])
        built = plain(total.shape)
        ran = list(total.compute().shape)
    except ValueError:
        pass
    return {"arrays": [described(x) for x in arrays], "built": built, "ran": ran}


def main():
    choose = random.Random(5)
    rows = []
    for _ in range(300):
        arrays = [array(choose, choose.choice([0.3, 0.6, 1])) for _ in range(2)]
        arrays = choose.choice([arrays, arrays, arrays, [arrays[0]] * 2])
        rows.append(row(arrays))
    PATH.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
