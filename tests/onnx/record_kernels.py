"""Record which kernels ONNX Runtime's CPU provider has, into the package.

    python tests/onnx/record_kernels.py

A kernel whose last version is 2147483647 implements the version that it begins with.
"""

from __future__ import annotations

import json
from pathlib import Path

from onnxruntime.capi import onnxruntime_pybind11_state as state

from symbcast.onnx.opening import kernels

DOMAINS = ("", "ai.onnx.ml")
"""Those whose schemas onnx has: a constraint is about a type parameter of the schema."""


def recorded() -> dict[str, list]:
    """Return the kernels by operator, with those put together that differ in the types of one parameter only."""
    found: dict[str, dict] = {}
    for kernel in state.get_all_opkernel_def():
        if kernel.provider != "CPUExecutionProvider" or kernel.domain not in DOMAINS:
            continue
        allowed = {p: sorted(kernels.LETTERS.get(t, t) for t in types) for p, types in kernel.type_constraints.items()}
        rows = found.setdefault(f"{kernel.domain}:{kernel.op_name}", {})
        if len(allowed) == 1:
            ((parameter, types),) = allowed.items()
            row = rows.setdefault((*kernel.version_range, parameter), {parameter: []})
            row[parameter] = sorted({*row[parameter], *types})
        else:
            rows[*kernel.version_range, json.dumps(allowed, sort_keys=True)] = allowed
    return {
        operator: [[*key[:2], _short(row)] for key, row in rows.items()] for operator, rows in sorted(found.items())
    }


def _short(row: dict[str, list[str]]) -> dict:
    return {p: "".join(types) if all(len(t) == 1 for t in types) else types for p, types in sorted(row.items())}


def main() -> None:
    """Write the file."""
    lines = [f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in recorded().items()]
    path = Path(kernels.__file__).with_name("kernels.json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(lines)} operators in {path}")


if __name__ == "__main__":
    main()
