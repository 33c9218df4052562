"""Universal functions of NumPy with drawn signatures, and the shapes that they give, in ``data/gufuncs.json``.

    python tests/operators/record_gufuncs.py

Each function is NumPy's own, made through its C API with a loop that does nothing. ``at`` lists, for each choice of
sizes of the names in alphabetical order, the shapes of the outputs, null where NumPy raised; it is null for a signature
that NumPy does not read. Recorded with NumPy 2.4.6.
"""

from __future__ import annotations

import ctypes
import json
import random
from itertools import product
from pathlib import Path

import numpy as np

PATH = Path(__file__).parents[1] / "data" / "gufuncs.json"
FROM_SIGNATURE = 31  # the place of PyUFunc_FromFuncAndDataAndSignature in the table of functions

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_nothing = _LOOP(lambda *_: None)
_kept = []  # NumPy refers to the arrays and texts that a function is made from


def gufunc(signature):
    """Return a universal function of NumPy with a signature."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(np._core._multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    kinds = [ctypes.c_void_p] * 2 + [ctypes.c_char_p] + [ctypes.c_int] * 4
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)
    inputs, outputs = (side.count("(") for side in signature.split("->"))
    loops = (ctypes.c_void_p * 1)(ctypes.cast(_nothing, ctypes.c_void_p))
    data = (ctypes.c_void_p * 1)(None)
    texts = [bytes([np.dtype(float).num] * (inputs + outputs)), signature.encode()]
    _kept.append((loops, data, texts))
    return make(table[FROM_SIGNATURE])(
        ctypes.cast(loops, ctypes.c_void_p),
        ctypes.cast(data, ctypes.c_void_p),
        texts[0], 1, inputs, outputs, -1, b"drawn", b"", 0, texts[1],
    )  # fmt: skip


def answer(function, shapes):
    try:
        out = function(*map(np.zeros, shapes))
    except ValueError:
        return None
    return [list(np.shape(o)) for o in (out if isinstance(out, tuple) else (out,))]


KNOWN = [
    "(m,n),(n,p)->(m,p)", "(m?,n),(n,p?)->(m?,p?)", "(n),(n)->()", "(3),(3)->(3)", "(m,m)->(m),(m,m)", "(),()->()",
    "(i,t),(j,t)->(i,j)", "(n?,n?,k?)->(n?)", "(3?),(k)->(k)", "(1?),(k)->(1?,k)", "(n?),(n?)->()", "(n),()->(n),(2)",
]  # fmt: skip


def drawn_signature(choose):
    optional = {name: "?" * (choose.random() < 0.3) for name in "mnk123"}
    names = choose.choices("mnnk23", k=3)

    def core(most):
        return f"({','.join(n + optional[n] for n in choose.choices(names, k=choose.randint(0, most)))})"

    text = ",".join(core(3) for _ in range(choose.randint(1, 3))) + "->"
    text += ",".join(core(2) for _ in range(choose.choice([1, 1, 2])))
    if choose.random() < 0.1:
        place = choose.randrange(len(text))
        text = text[:place] + choose.choice([" ", "?", ",", "p", "(", "0"]) + text[place + choose.randint(0, 1) :]
    return text


def drawn_shapes(choose, signature):
    shapes = []
    for core in signature.partition("->")[0].split(")")[:-1]:
        names = [n for n in core.strip(" ,(").split(",") if n.strip()]
        sizes = {"m": "M", "n": "N", "k": "K"}
        usual = [sizes.get(name.strip(" ?"), name.strip(" ?")) for name in names]
        own = [choose.choice([size, choose.choice(["M", "N", "1", "2"])]) for size in usual]
        own = own[: max(0, len(own) - choose.choice([0, 0, 0, 1]))]
        before = choose.choices(["B", "B", "1", "N"], k=choose.randint(0, 2))
        shapes.append([int(d) if d.isdecimal() else d if d in "BMNK" else "N" for d in (*before, *own)])
    return shapes


def row(choose, signature):
    shapes = drawn_shapes(choose, signature) if signature.count("->") == 1 else []
    try:
        function = gufunc(signature)
    except ValueError:
        return {"signature": signature, "shapes": shapes, "at": None}
    names = sorted({d for shape in shapes for d in shape if isinstance(d, str)})
    choices = [dict(zip(names, sizes, strict=True)) for sizes in product(range(4), repeat=len(names))]
    chosen = choices if len(choices) <= 20 else choose.sample(choices, 20)
    at = [[[*s.values()], answer(function, [[s.get(d, d) for d in shape] for shape in shapes])] for s in chosen]
    return {"signature": signature, "shapes": shapes, "at": at}


def main():
    choose = random.Random(7)
    signatures = [*KNOWN * 3, *(drawn_signature(choose) for _ in range(250))]
    lines = [json.dumps(row(choose, s), separators=(",", ":")) for s in signatures if s.count("->") == 1]
    PATH.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
