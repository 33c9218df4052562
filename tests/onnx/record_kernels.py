"""Record which kernels ONNX Runtime's CPU provider has, and the types of its own operators, into the package.

    python tests/onnx/record_kernels.py

A kernel whose last version is 2147483647 implements the version that it begins with.
"""

from __future__ import annotations

import json
from pathlib import Path

from onnxruntime.capi import onnxruntime_pybind11_state as state

from symbcast.onnx.schemas import OF_RUNTIME
from symbcast.onnx.session import kernels

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


def signatures() -> dict[str, list]:
    """Return the inputs and outputs of the operators whose schemas onnx does not have, in their newest version."""
    found: dict[str, tuple] = {}
    for schema in state.get_all_operator_schema():
        name = f"{schema.domain}:{schema.name}"
        is_known = not schema.domain and schema.name not in OF_RUNTIME
        if is_known or schema.domain not in ("", "com.microsoft", "com.microsoft.nchwc"):
            continue
        if schema.since_version >= found.get(name, (0,))[0]:
            found[name] = schema.since_version, [_slots(schema.inputs), _slots(schema.outputs)]
    return {name: slots for name, (_, slots) in sorted(found.items())}


def _slots(parameters) -> list:
    return [
        [p.typeStr, sorted(kernels.LETTERS.get(t, t) for t in p.types), int(p.isHomogeneous), _is_single(p)]
        for p in parameters
    ]


def _is_single(parameter) -> int:
    return int(parameter.option == state.schemadef.OpSchema.FormalParameterOption.Single)


def _write(name: str, found: dict[str, list]) -> None:
    lines = [f"{json.dumps(operator)}: {json.dumps(rows)}" for operator, rows in found.items()]
    path = Path(kernels.__file__).with_name(name)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(lines)} operators in {path}")


def main() -> None:
    """Write the files."""
    _write("kernels.json", recorded())
    _write("signatures.json", signatures())


if __name__ == "__main__":
    main()
