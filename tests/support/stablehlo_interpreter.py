"""Runs StableHLO modules in the reference interpreter that jaxlib ships; its own process, for it may abort.

It reads a line of JSON for each run, with the module and its arguments, and writes a line with the results.
"""

from __future__ import annotations

import json
import sys

import numpy as np


def main():
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context():
        for line in sys.stdin:
            asked = json.loads(line)
            # The interpreter writes the sizes into the module that it runs: each run has one of its own.
            module = ir.Module.parse(asked["module"])
            arguments = [ir.DenseElementsAttr.get(np.array(a, dtype=np.int32)) for a in asked["arguments"]]
            found = [np.array(out).tolist() for out in stablehlo.eval_module(module, arguments)]
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
